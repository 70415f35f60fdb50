import type { Kind } from '../rule.ts';
import { MOST_QUOTED, quoted } from './check.ts';
import { type BatchFault, type EntryFault, errorTexts, MOST_DETAILS } from './faults.ts';
import { withDuration } from './instant.ts';
import { LIMITS } from './limits.ts';
import type { Fields } from './normalize.ts';
import { EntryScanner, type EntrySpan } from './scan/scan.ts';
import type { Signal } from './schema.ts';
import { eventFaults, eventRefusals, parseEvent } from './v1.ts';
import { type EnvelopeCheck, type EnvelopeFaults, envelopeFaults, envelopeRefusals, kindOf, parseEnvelope, refusedRuleType } from './v2.ts';
import type { FieldFault } from './validate.ts';

interface Refused {
  readonly refused: readonly BatchFault[];
}

export interface ScannedBatch {
  readonly refused?: undefined;
  readonly bytes: Buffer;
  readonly entries: readonly EntrySpan[];
}

/** Refused, or accepted with faults per entry (spec 4.1, 4.2). */
export type BatchResult =
  | Refused
  | { readonly refused?: undefined; readonly accepted: number; readonly failed: number; readonly faults: readonly EntryFault[] };

export interface BatchCheck extends EnvelopeCheck {
  /** Time of acceptance, ms since 1970: base of expiries given as instants. */
  readonly receivedAt: number;
  readonly noMoreRules?: string | undefined;
  readonly tried?: ((signal: Signal) => FieldFault | undefined) | undefined;
  /** Receives accepted entries with warnings, and may refuse them. Void if the batch is refused later. */
  readonly accept: (signal: Signal, warnings: readonly string[]) => FieldFault | undefined;
  /** Receives the kind of each faulty entry, if known. */
  readonly fail?: ((kind: Kind | undefined) => void) | undefined;
  /** Receives a defect thrown while judging, once per batch. */
  readonly report: (error: unknown) => void;
}

const PIECE = 4 * 1024;
/** Oversized batches are counted only up to here, bytes. */
const COUNTED = 256 * 1024;

/** Scans the body in steps of 4 KiB before parsing: a refusal, or the entries' positions. Has no side effects. */
export function* scanSteps(bytes: Buffer): Generator<undefined, ScannedBatch | Refused> {
  const scanner = new EntryScanner(LIMITS.batchEntries);
  const entries: EntrySpan[] = [];
  for (let at = 0; at < bytes.length && scanner.fault === undefined; at += PIECE) {
    entries.push(...scanner.push(bytes.subarray(at, at + PIECE)));
    if (at >= COUNTED && scanner.count > LIMITS.batchEntries) return wrongCount(scanner.count);
    yield;
  }
  entries.push(...scanner.end());
  const { fault, isArray, count } = scanner;
  if (fault !== undefined) return { refused: [{ field: 'body', message: fault, value: null }] };
  if (!isArray) return { refused: [{ field: 'body', message: 'must be a JSON array', value: quotedEntry(bytes, entries[0]!) }] };
  return count === 0 || count > LIMITS.batchEntries ? wrongCount(count) : { bytes, entries };
}

const wrongCount = (count: number): Refused => ({
  refused: [{ field: 'body', message: `must have 1 to ${LIMITS.batchEntries} entries`, value: count }],
});

/** Compiles one entry schema per step, ahead of the first entries: compiling blocks the thread. */
export function* schemaSteps(): Generator<undefined, void> {
  for (const faultsOf of [eventFaults, ...Object.values(envelopeFaults)]) {
    faultsOf({});
    yield;
  }
}

/** Judges a body synchronously. Throws defects. */
export function validateBatch(
  version: 1 | 2,
  json: string,
  { receivedAt = 0, ...check }: EnvelopeCheck & { readonly receivedAt?: number },
): Refused | { readonly refused?: undefined; readonly accepted: readonly Signal[]; readonly errors: string[] } {
  const scanned = inOneGo(scanSteps(Buffer.from(json)));
  if (scanned.refused !== undefined) return scanned;
  const accepted: Signal[] = [];
  const report = (error: unknown) => {
    throw error;
  };
  const result = inOneGo(batchSteps(version, scanned, { ...check, receivedAt, accept: (signal) => void accepted.push(signal), report }));
  return result.refused === undefined ? { accepted, errors: errorTexts(result.faults) } : result;
}

export function inOneGo<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Judges an entry per step, parsing one at a time; `version` is that of the path. */
export function* batchSteps(version: 1 | 2, { bytes, entries }: ScannedBatch, check: BatchCheck): Generator<undefined, BatchResult> {
  const refused: BatchFault[] = [];
  const faults: EntryFault[] = [];
  let accepted = 0;
  let failed = 0;
  let defects = 0;
  const reporting = {
    ...check,
    report(error: unknown) {
      defects += 1;
      if (defects === 1) check.report(error);
    },
  };
  for (const [index, span] of entries.entries()) {
    if (span.isObject) {
      const judged = judge(version, bytes, span, reporting, refused.length > 0);
      if (judged === undefined) accepted += 1;
      else if (Array.isArray(judged)) for (const fault of judged) refused.push({ index, ...fault });
      else {
        failed += 1;
        for (const fault of judged.faults) faults.push({ entry: index, ...fault });
        if (judged.expression !== undefined)
          faults.push({ entry: index, field: 'rule.expression', message: judged.expression, isExpression: true });
      }
    } else refused.push({ index, field: 'entry', message: 'must be an object', value: quotedEntry(bytes, span) });
    if (refused.length >= MOST_DETAILS) break;
    yield;
  }
  return refused.length > 0 ? { refused: refused.slice(0, MOST_DETAILS) } : { accepted, failed, faults };
}

function judge(
  version: 1 | 2,
  bytes: Buffer,
  span: EntrySpan,
  check: BatchCheck,
  refusedAlready: boolean,
): EnvelopeFaults | BatchFault[] | undefined {
  let kind: Kind | undefined = version === 1 ? 'access_rule' : undefined;
  const fail = (faults: EnvelopeFaults): EnvelopeFaults => {
    check.fail?.(kind);
    return faults;
  };
  const unfit = sizeFault(span);
  if (unfit !== undefined) return fail({ faults: [{ field: 'entry', message: unfit }] });
  try {
    const entry = parse(bytes, span) as Fields;
    if (version === 2) kind = kindOf(entry);
    const refusals = refusalsOf(version, entry);
    if (refusals.length > 0) return refusals;
    if (refusedAlready) return undefined;
    const dated = 'expires_at' in entry ? withDuration(version, entry, check.receivedAt) : entry;
    if (typeof dated === 'string') return fail({ faults: [{ field: 'expires_at', message: dated }] });
    const warnings: string[] = [];
    const result = parseEntry(version, dated, check, warnings);
    if (!('version' in result)) return fail(result);
    if (check.noMoreRules !== undefined && addsRule(result)) return fail({ faults: [{ field: 'entry', message: check.noMoreRules }] });
    const fault = check.tried?.(result);
    if (fault !== undefined) return fail({ faults: [fault] });
    const hasEnd = dated !== entry && entry.expires_at !== null;
    const refused = check.accept(hasEnd ? { ...result, hasEnd } : result, warnings);
    return refused === undefined ? undefined : fail({ faults: [refused] });
  } catch (error) {
    check.report(error);
    return fail({ faults: [{ field: 'entry', message: 'could not be judged, because of a defect of this service' }] });
  }
}

const addsRule = (signal: Signal) => (signal.version === 1 ? signal.event.action === 'block' : signal.envelope.op === 'upsert');

function sizeFault({ start, end, size, depth }: EntrySpan): string | undefined {
  if (depth > LIMITS.entryDepth) return 'is nested too deeply';
  if (end - start > LIMITS.entryRawBytes) return `must be at most ${LIMITS.entryRawBytes} bytes with its white space and escapes`;
  return size > LIMITS.entryBytes ? `must be at most ${LIMITS.entryBytes} bytes as JSON` : undefined;
}

/** Missing in TypeScript's types: the third argument of a reviver. */
type Reviver = (key: string, value: unknown) => unknown;

/** Minimum digits of an integer inexact as a double. */
const LONG_NUMBER = /\d{16}/;

function parse(bytes: Buffer, { start, end }: EntrySpan): unknown {
  const text = bytes.toString('utf8', start, end);
  return LONG_NUMBER.test(text) ? JSON.parse(text, exactly as Reviver) : JSON.parse(text);
}

/** NaN for integers a double cannot represent (SPEC D3.23). */
const exactly = (_key: string, value: unknown, { source = '' }: { source?: string }): unknown =>
  typeof value === 'number' && /^-?\d+$/.test(source) && !Number.isSafeInteger(value) ? Number.NaN : value;

/** For the response; an unparsed entry by the beginning of its text. */
function quotedEntry(bytes: Buffer, span: EntrySpan): BatchFault['value'] {
  if (sizeFault(span) === undefined) return quoted(parse(bytes, span));
  return `${bytes.toString('utf8', span.start, span.start + MOST_QUOTED * 4).slice(0, MOST_QUOTED)}…`;
}

function parseEntry(version: 1 | 2, entry: Fields, check: EnvelopeCheck, warnings: string[]): Signal | EnvelopeFaults {
  if (version === 2) return parseEnvelope(entry, check, warnings);
  const result = parseEvent(entry, check, warnings);
  return Array.isArray(result) ? { faults: result } : result;
}

function refusalsOf(version: 1 | 2, entry: Fields): BatchFault[] {
  if (version === 1) return eventRefusals(entry).map((fault) => ({ ...fault, value: quoted(entry[fault.field]) }));
  return envelopeRefusals(entry).map((fault) => ({ ...fault, value: quoted(refusedRuleType(entry)) }));
}
