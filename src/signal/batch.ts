import { shown, sizeFault } from './check.ts';
import { LIMITS } from './limits.ts';
import { type Fields, isObject } from './normalize.ts';
import type { Signal } from './schema.ts';
import { eventRefusals, parseEvent } from './v1.ts';
import { type EnvelopeCheck, envelopeRefusals, parseEnvelope, refusedRuleType } from './v2.ts';
import type { FieldFault } from './validate.ts';

/** One reason why a whole batch is refused (spec 7.2, `details`). */
export interface BatchFault extends FieldFault {
  /** What the caller sent there. */
  readonly value: string | number | boolean | null;
  /** The entry, from 0; absent when the fault is the batch's own. */
  readonly index?: number;
}

/** A batch is refused whole, or each entry is taken or has an error of its own (spec 4.1, 4.2). */
type BatchResult =
  | { readonly refused: readonly BatchFault[] }
  | { readonly refused?: undefined; readonly accepted: readonly Signal[]; readonly errors: string[] };

const MAX_DETAILS = 100;

/** Validates a parsed request body: `version` is that of the path. Nothing is published or stored here. */
export function validateBatch(version: 1 | 2, body: unknown, check: EnvelopeCheck): BatchResult {
  const work = batchSteps(version, body, check);
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** The same in steps of one entry: a thousand long expressions are not judged in one go where others wait. */
export function* batchSteps(version: 1 | 2, body: unknown, check: EnvelopeCheck): Generator<undefined, BatchResult> {
  if (!Array.isArray(body)) return { refused: [{ field: 'body', message: 'must be a JSON array', value: shown(body) }] };
  if (body.length === 0 || body.length > LIMITS.batchEntries) {
    return { refused: [{ field: 'body', message: `must have 1 to ${LIMITS.batchEntries} entries`, value: body.length }] };
  }
  const refused = refusals(version, body);
  if (refused.length > 0) return { refused };

  const accepted: Signal[] = [];
  const errors: string[] = [];
  for (const [index, entry] of (body as Fields[]).entries()) {
    const result = parseEntry(version, entry, check);
    if ('version' in result) accepted.push(result);
    else errors.push(`Entry ${index}: ${describe(result)}`);
    yield;
  }
  return { accepted, errors };
}

interface EntryFaults {
  readonly faults: readonly FieldFault[];
  readonly expression?: string;
}

function parseEntry(version: 1 | 2, entry: Fields, check: EnvelopeCheck): Signal | EntryFaults {
  const tooLarge = sizeFault(entry);
  if (tooLarge !== undefined) return { faults: [{ field: 'entry', message: tooLarge }] };
  if (version === 2) return parseEnvelope(entry, check);
  const result = parseEvent(entry, check);
  return Array.isArray(result) ? { faults: result } : result;
}

function describe({ faults, expression }: EntryFaults): string {
  const lines = faults.map(({ field, message }) => `${field}: ${message}`);
  if (expression !== undefined) lines.push(`rule.expression: ${expression}`);
  return `${faults.length === 0 ? 'Expression' : 'Schema'} validation failed: ${lines.join('; ')}`;
}

function refusals(version: 1 | 2, body: unknown[]): BatchFault[] {
  const refused: BatchFault[] = [];
  for (const [index, entry] of body.entries()) {
    if (!isObject(entry)) refused.push({ index, field: 'entry', message: 'must be an object', value: shown(entry) });
    else if (version === 1) {
      for (const fault of eventRefusals(entry)) refused.push({ index, ...fault, value: shown(entry[fault.field]) });
    } else for (const fault of envelopeRefusals(entry)) refused.push({ index, ...fault, value: shown(refusedRuleType(entry)) });
    if (refused.length >= MAX_DETAILS) return refused.slice(0, MAX_DETAILS);
  }
  return refused;
}
