/** Accepts batches (spec 4.1, 4.2): judges each entry and publishes the good ones on the stream. */
import { type Author, authorOf, type Caller, senderOf } from '../account/caller.ts';
import { hasCode } from '../errors.ts';
import type { EntryKind } from '../ports/http-counts.ts';
import type { Message, Stream } from '../ports/stream.ts';
import { fewAtOnce, inTurns } from '../serial.ts';
import { batchSteps, type ScannedBatch, scanSteps, schemaSteps } from './batch.ts';
import type { EntryFault } from './faults.ts';
import type { LandingList } from './landing-list.ts';
import { feedValue, messageEncoder, wireValue } from './message/encode.ts';
import { newBatchId, signalId } from './message/signal-id.ts';
import { warningsOf } from './rate-limit.ts';
import { type Refusal, refusedFor } from './refusal.ts';
import type { RuleQuota } from './rule-quota.ts';
import type { AccessRuleEnvelope, Signal } from './schema.ts';
import { nameOf, type SampleTrial, type Trials } from './trial.ts';
import type { EnvelopeCheck } from './v2.ts';
import type { FieldFault } from './validate.ts';

export interface Batch {
  readonly version: 1 | 2;
  readonly caller: Caller;
  /** UUID or name of the list for access rules; undefined: the key's list, or the default list. */
  readonly list: string | undefined;
  /** The bytes of a JSON array, or parsed entries. */
  readonly entries: Buffer | readonly object[];
  readonly dryRun: boolean;
  /** The dry run will be published later: build complete messages. */
  readonly isPlan?: boolean;
  /** Entries over the limit of approvals wait (SPEC D67.2); operations check the whole change before. */
  readonly isSignal?: boolean;
  /** W3C trace context. */
  readonly traceparent?: string | undefined;
}

export interface Foreseen {
  readonly workspaceId: string;
  /** The list for entries naming none; undefined if the store did not answer. */
  readonly listId: string | undefined;
  /** In stream form; without texts and labels unless planned. Dry runs: all access rules; otherwise blocks of countries and ASNs. */
  readonly messages: readonly Message[];
}

export interface AcceptedBatch {
  readonly refused?: undefined;
  /** Identifies the accepted entries (D9.1); null if nothing was published. */
  readonly batchId: string | null;
  /** Numbers of entries. */
  readonly accepted: number;
  readonly failed: number;
  readonly faults: readonly EntryFault[];
  /** Probable mistakes; dry runs also report rules ignored by agents and effects on the sample. v1: dry runs only. */
  readonly warnings: readonly string[];
  readonly foreseen: Foreseen;
}

/** Nothing was accepted. */
export interface Refused extends Partial<Record<Exclude<keyof AcceptedBatch, 'refused'>, undefined>> {
  readonly refused: Refusal;
}

/** Resolves after the stream has stored the accepted entries durably. */
export type Accept = (batch: Batch) => Promise<AcceptedBatch | Refused>;

interface Tally {
  readonly accepted: ReadonlyMap<EntryKind, number>;
  readonly failed: ReadonlyMap<EntryKind, number>;
}

export interface Outcome extends Tally {
  /** `limited`: the key is over its limit per minute. `refused`: the batch is faulty. `not_published`: the stream failed. */
  readonly became: 'accepted' | 'dry_run' | 'limited' | 'refused' | 'not_published';
  readonly version: 1 | 2;
  readonly workspaceId: string;
  readonly listId: string | undefined;
  readonly entries: number;
}

/** Sorts the entries of one request (SPEC D67.2). */
export interface Meter {
  /** The fault of an entry that has to wait; undefined: it may be published. */
  faultOf(message: Message): string | undefined;
  /** Stores the waiting entries; returns the final text of a fault. Rejects with REFUSED at the limits, and if unblocks wait. */
  request(): Promise<(text: string) => string>;
}

export type RunSlices = <T>(work: Generator<undefined, T>) => Promise<T>;

export interface AcceptParts {
  readonly landingList: LandingList;
  readonly stream: Pick<Stream, 'draft'>;
  /** Counts entries against the key's limit per minute. 0 admits them; otherwise seconds to wait. */
  readonly takeEntries: (keyId: string, entries: number) => number;
  readonly ruleQuota: RuleQuota;
  /** undefined: signals of this caller never wait for approval. */
  readonly meter?: (caller: Caller, by: Author, listId: string | undefined) => Promise<Meter | undefined>;
  /** Called per batch, because geo data can be reloaded. */
  readonly check: (caller: Caller) => Omit<EnvelopeCheck, 'listBound'>;
  readonly run: { readonly usual: RunSlices; readonly large: RunSlices };
  /** Tries rules on the workspace's sample (SPEC D21). Rejects if busy. */
  readonly trials: Trials;
  /** Checks published signals against feed caps; undefined if the process builds no feeds. */
  readonly foresee: ((signals: Foreseen) => void) | undefined;
  readonly count: (outcome: Outcome) => void;
  readonly now: () => number;
  /** Logs failures of store and stream, and defects; callers do not see them. */
  readonly logFailure: (error: unknown, what: string) => void;
}

/**
 * Bodies above this are judged and published sequentially, alternating between workspaces: each needs several times its size in memory,
 * bytes.
 */
const LARGE = 2 * 1024 * 1024;

/** Above this size, bytes, concurrent batches per workspace are limited: all messages of a batch wait for its last entry. */
const SMALL = 16 * 1024;
const AT_ONCE = 8;

export const TOO_MANY_ENTRIES = 'Too many entries';
const CANNOT_TAKE: Refusal = { code: 'STREAM_UNAVAILABLE', message: 'The service cannot take signals now' };
const NOTHING: Tally = { accepted: new Map(), failed: new Map() };

/** One per process: limits and queues are global. */
export function acceptance(parts: AcceptParts): Accept {
  const { landingList, takeEntries, run, count } = parts;
  const [inTurn, few] = [inTurns(1), fewAtOnce(AT_ONCE)];
  void run.usual(schemaSteps());

  async function scanAndAccept(batch: Batch, listId: string | undefined, bytes: Buffer): Promise<AcceptedBatch | Refused> {
    const { version, caller } = batch;
    const isLarge = bytes.length > LARGE;
    const runSlices = isLarge ? run.large : run.usual;
    const scanned = await runSlices(scanSteps(bytes));
    if (scanned.refused !== undefined) return { refused: refusedFor(scanned.refused) };
    const common = { version, workspaceId: caller.workspaceId, listId, entries: scanned.entries.length };
    const retryAfter = takeEntries(caller.keyId, common.entries);
    if (retryAfter > 0) {
      count({ ...NOTHING, ...common, became: 'limited' });
      return { refused: { code: 'LIMITED', message: TOO_MANY_ENTRIES, retryAfter } };
    }
    const work = () => judgeAndPublish(parts, runSlices, batch, scanned, (outcome) => count({ ...outcome, ...common }), listId);
    return isLarge ? inTurn(work, caller.workspaceId) : work();
  }

  return async (batch) => {
    const { caller, entries } = batch;
    const listId = await landingList(caller, batch.list);
    if (typeof listId === 'object') return { refused: listId };
    const bytes = Buffer.isBuffer(entries) ? entries : Buffer.from(JSON.stringify(entries));
    const work = () => scanAndAccept(batch, listId, bytes);
    return bytes.length > SMALL && bytes.length <= LARGE ? few(work, caller.workspaceId) : work();
  };
}

async function judgeAndPublish(
  { stream, ruleQuota, meter, check, trials, foresee, now, logFailure }: AcceptParts,
  run: RunSlices,
  { version, caller, dryRun, isPlan = false, isSignal = false, traceparent }: Batch,
  scanned: ScannedBatch,
  count: (outcome: Tally & Pick<Outcome, 'became'>) => void,
  listId: string | undefined,
): ReturnType<Accept> {
  const receivedAt = now();
  const { workspaceId, organizationId, sourceId } = caller;
  const batchId = newBatchId(receivedAt);
  let trial: SampleTrial | undefined;
  try {
    trial = await trials(caller, dryRun, (accept) =>
      run(
        batchSteps(version, scanned, {
          ...check(caller),
          receivedAt,
          listBound: caller.listId !== null,
          accept: (signal) => void accept(signal),
          report() {},
        }),
      ),
    );
  } catch (error) {
    logFailure(error, 'rules could not be tried on the sample');
    count({ ...NOTHING, became: 'not_published' });
    return { refused: CANNOT_TAKE };
  }
  const noMoreRules = await ruleQuota(workspaceId);
  const approvals = isSignal && !dryRun ? await meter?.(caller, authorOf(caller, caller.actor ?? null), listId) : undefined;
  const encode = messageEncoder(version, { workspaceId, organizationId, listId, receivedAt, ...senderOf(caller), sourceId, traceparent });
  const messages = stream.draft();
  const warnings: string[] = [];
  const foreseen: Message[] = [];
  const tally = { accepted: new Map<EntryKind, number>(), failed: new Map<EntryKind, number>() };
  let ordinal = 0;
  try {
    const judged = await run(
      batchSteps(version, scanned, {
        ...check(caller),
        receivedAt,
        listBound: caller.listId !== null,
        noMoreRules,
        tried: trial?.faultOf,
        // Serialized immediately: parsed entries can take ten times the memory of their text.
        accept(signal, texts): FieldFault | undefined {
          const message = dryRun ? undefined : encode(wireValue(signal), signalId(batchId, ordinal + 1), signal.hasEnd);
          const fault = message && approvals?.faultOf(message);
          if (fault !== undefined) return { field: 'entry', message: fault };
          ordinal += 1;
          if (dryRun || version === 2) for (const text of texts) warnings.push(`${nameOf(signal)}: ${text}`);
          if (dryRun) warnings.push(...warningsOf(signal), ...(trial?.warningsOf(signal) ?? []));
          add(tally.accepted, signal.version === 1 ? 'access_rule' : signal.envelope.kind);
          const id = signalId(batchId, ordinal);
          // Texts and labels do not affect networks.
          if (isPlan || ((dryRun || foresee !== undefined) && concernsFeeds(signal, dryRun)))
            foreseen.push(encode(isPlan ? wireValue(signal) : feedValue(signal), id));
          if (message !== undefined) messages.push(message);
          return undefined;
        },
        fail: (kind) => add(tally.failed, kind ?? 'unknown'),
        report: (error) => logFailure(error, 'an entry could not be judged'),
      }),
    );
    if (judged.refused !== undefined) {
      count({ ...NOTHING, became: 'refused' });
      return { refused: refusedFor(judged.refused) };
    }
    const { accepted } = judged;
    const textOf = await approvals?.request().catch((error: unknown) => {
      if (hasCode(error, 'REFUSED')) return { code: 'REFUSED', message: error.message } as const;
      logFailure(error, 'a request for approval could not be stored');
      return { ...CANNOT_TAKE, code: 'STORE_UNAVAILABLE' } as const;
    });
    if (typeof textOf === 'object') {
      count({ ...NOTHING, became: 'refused' });
      return { refused: textOf };
    }
    const faults = textOf === undefined ? judged.faults : judged.faults.map((each) => ({ ...each, message: textOf(each.message) }));
    if (!dryRun && accepted > 0) {
      try {
        await messages.publish();
      } catch (error) {
        logFailure(error, 'the stream did not take a batch');
        count({ ...tally, became: 'not_published' });
        return { refused: CANNOT_TAKE };
      }
    }
    count({ ...tally, became: dryRun ? 'dry_run' : 'accepted' });
    const signals = { workspaceId, listId, messages: foreseen };
    if (!dryRun && foreseen.length > 0) foresee?.(signals);
    return { ...judged, faults, batchId: dryRun || accepted === 0 ? null : batchId, warnings, foreseen: signals };
  } finally {
    messages.discard();
  }
}

const add = (to: Map<EntryKind, number>, kind: EntryKind) => void to.set(kind, (to.get(kind) ?? 0) + 1);

/** Dry runs: every access rule. Otherwise: blocks of countries and ASNs. */
function concernsFeeds(signal: Signal, dryRun: boolean): boolean {
  if (signal.version === 1) return dryRun || (signal.event.action === 'block' && Boolean(signal.event.asn || signal.event.country));
  const { kind, op, rule } = signal.envelope;
  if (kind !== 'access_rule') return false;
  const { target } = (rule ?? {}) as Partial<NonNullable<AccessRuleEnvelope['rule']>>;
  return dryRun || (op === 'upsert' && target !== undefined && target.ip === undefined);
}
