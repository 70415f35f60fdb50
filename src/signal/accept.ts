/** A batch is taken here, whoever brings it (spec 4.1, 4.2): judged entry by entry; what is good is put on the stream. */
import { type Caller, senderOf } from '../account/caller.ts';
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

/** Entries that somebody wants to be taken. */
export interface Batch {
  readonly version: 1 | 2;
  readonly caller: Caller;
  /** Where access rules land, by UUID or name; undefined: the list of the key, or the default list. */
  readonly list: string | undefined;
  /** The bytes of a JSON array, or the entries as values. */
  readonly entries: Buffer | readonly object[];
  /** Whether it is judged only, and nothing of it is put on the stream. */
  readonly dryRun: boolean;
  /** Whether what a dry run foresees is published later: then its messages are whole. */
  readonly isPlan?: boolean;
  /** The step of a trace that it belongs to. */
  readonly traceparent?: string | undefined;
}

/** Signals by which feeds may change. */
export interface Foreseen {
  readonly workspaceId: string;
  /** The list where those land that name none; undefined: the store did not say. */
  readonly listId: string | undefined;
  /** As the stream would hold them, without texts and labels where that is no plan: of a dry run all access rules, else those that block a country or an ASN. */
  readonly messages: readonly Message[];
}

/** What became of a batch that was taken, wholly or in part. */
export interface Taken {
  readonly refused?: undefined;
  /** What the accepted entries are known by from now on (D9.1); null when none is on the stream. */
  readonly batchId: string | null;
  /** Entries that were accepted, and that were not. */
  readonly accepted: number;
  readonly failed: number;
  /** What is wrong with those that were not. */
  readonly faults: readonly EntryFault[];
  /** What senders probably did not mean; of dry runs also what agents would silently ignore, and what a sample would feel. Of v1 dry runs only. */
  readonly warnings: readonly string[];
  readonly foreseen: Foreseen;
}

/** What became of a batch of which nothing was taken. */
export interface Refused extends Partial<Record<Exclude<keyof Taken, 'refused'>, undefined>> {
  readonly refused: Refusal;
}

/** Takes one batch; resolves once the stream holds durably what was accepted. */
export type Accept = (batch: Batch) => Promise<Taken | Refused>;

/** How many entries of each kind were accepted, and how many failed. */
interface Tally {
  readonly accepted: ReadonlyMap<EntryKind, number>;
  readonly failed: ReadonlyMap<EntryKind, number>;
}

/** What became of the entries of a batch, for whoever counts. */
export interface Outcome extends Tally {
  /** `limited`: the key has sent its entries of this minute. `refused`: the batch is at fault. `not_published`: the stream is. */
  readonly became: 'accepted' | 'dry_run' | 'limited' | 'refused' | 'not_published';
  readonly version: 1 | 2;
  readonly workspaceId: string;
  readonly listId: string | undefined;
  /** Entries of the batch. */
  readonly entries: number;
}

/** Runs a generator to its end, giving others their turn in between, and returns its value. */
export type RunSlices = <T>(work: Generator<undefined, T>) => Promise<T>;

/** What batches are taken with. */
export interface AcceptParts {
  readonly landingList: LandingList;
  readonly stream: Pick<Stream, 'draft'>;
  /** Takes entries from what a key may send this minute. 0 admits them; else the seconds to wait. */
  readonly takeEntries: (keyId: string, entries: number) => number;
  readonly ruleQuota: RuleQuota;
  /** What entries of a caller are checked against. Called for every batch, because geo data may have been reloaded. */
  readonly check: (caller: Caller) => Omit<EnvelopeCheck, 'listBound'>;
  /** How batches are judged: those of a usual size, and large ones. */
  readonly run: { readonly usual: RunSlices; readonly large: RunSlices };
  /** Tries rules on the workspace's sample; what is wrong with each (SPEC D21). Rejects where they cannot be tried now. */
  readonly trials: Trials;
  /** Told of what was published that may take a feed over its cap; undefined where no feeds are built. */
  readonly foresee: ((signals: Foreseen) => void) | undefined;
  readonly count: (outcome: Outcome) => void;
  readonly now: () => number;
  /** Logs why the store or the stream failed, or a defect of ours; the caller sees none of it. */
  readonly logFailure: (error: unknown, what: string) => void;
}

/** Larger bodies than this are judged and published one after the other, workspaces in turn: on its way one takes several times its size in memory, bytes. */
const LARGE = 2 * 1024 * 1024;

/** Of batches above this size, bytes, so many of one workspace are judged and published at a time: of each all messages wait for the last entry. */
const SMALL = 16 * 1024;
const AT_ONCE = 8;

export const TOO_MANY_ENTRIES = 'Too many entries';
const CANNOT_TAKE: Refusal = { code: 'STREAM_UNAVAILABLE', message: 'The service cannot take signals now' };
const NOTHING: Tally = { accepted: new Map(), failed: new Map() };

/** Makes what takes batches. One of them for a process: limits, and the order of large batches, are of all who send. */
export function acceptance(parts: AcceptParts): Accept {
  const { landingList, takeEntries, run, count } = parts;
  const [inTurn, few] = [inTurns(1), fewAtOnce(AT_ONCE)];
  void run.usual(schemaSteps());

  async function taken(batch: Batch, listId: string | undefined, bytes: Buffer): Promise<Taken | Refused> {
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
    const work = () => taken(batch, listId, bytes);
    return bytes.length > SMALL && bytes.length <= LARGE ? few(work, caller.workspaceId) : work();
  };
}

/** Judges the entries of a batch, and publishes the good ones unless it is a dry run. */
async function judgeAndPublish(
  { stream, ruleQuota, check, trials, foresee, now, logFailure }: AcceptParts,
  run: RunSlices,
  { version, caller, dryRun, isPlan = false, traceparent }: Batch,
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
      run(batchSteps(version, scanned, { ...check(caller), receivedAt, listBound: caller.listId !== null, accept, report() {} })),
    );
  } catch (error) {
    logFailure(error, 'rules could not be tried on the sample');
    count({ ...NOTHING, became: 'not_published' });
    return { refused: CANNOT_TAKE };
  }
  const noMoreRules = await ruleQuota(workspaceId);
  const encode = messageEncoder(version, { workspaceId, organizationId, listId, receivedAt, ...senderOf(caller), sourceId, traceparent });
  const messages = stream.draft();
  const warnings: string[] = [];
  const foreseen: Message[] = [];
  const tally = { accepted: new Map<EntryKind, number>(), failed: new Map<EntryKind, number>() };
  let taken = 0;
  try {
    const judged = await run(
      batchSteps(version, scanned, {
        ...check(caller),
        receivedAt,
        listBound: caller.listId !== null,
        noMoreRules,
        tried: trial?.faultOf,
        // Written out and handed on at once: a thousand parsed entries may take ten times the memory of their text.
        accept(signal, unmeant) {
          taken += 1;
          if (dryRun || version === 2) for (const text of unmeant) warnings.push(`${nameOf(signal)}: ${text}`);
          if (dryRun) warnings.push(...warningsOf(signal), ...(trial?.warningsOf(signal) ?? []));
          add(tally.accepted, signal.version === 1 ? 'access_rule' : signal.envelope.kind);
          const id = signalId(batchId, taken);
          // A thousand texts of 2,048 characters are nothing to a count of networks.
          if ((dryRun || foresee !== undefined) && concernsFeeds(signal, dryRun))
            foreseen.push(encode(isPlan ? wireValue(signal) : feedValue(signal), id));
          if (!dryRun) messages.push(encode(wireValue(signal), id));
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
    return { ...judged, batchId: dryRun || accepted === 0 ? null : batchId, warnings, foreseen: signals };
  } finally {
    messages.discard();
  }
}

const add = (to: Map<EntryKind, number>, kind: EntryKind) => void to.set(kind, (to.get(kind) ?? 0) + 1);

/** Whether feeds may change by a signal so that somebody is to know: in a dry run by every access rule, else by those that block a country or an ASN. */
function concernsFeeds(signal: Signal, dryRun: boolean): boolean {
  if (signal.version === 1) return dryRun || (signal.event.action === 'block' && Boolean(signal.event.asn || signal.event.country));
  const { kind, op, rule } = signal.envelope;
  if (kind !== 'access_rule') return false;
  const { target } = (rule ?? {}) as Partial<NonNullable<AccessRuleEnvelope['rule']>>;
  return dryRun || (op === 'upsert' && target !== undefined && target.ip === undefined);
}
