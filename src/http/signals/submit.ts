import type { Caller } from '../../account/caller.ts';
import type { AccessList } from '../../account/list.ts';
import type { FeedForecast } from '../../feed/serve/forecast.ts';
import type { ActivityCounter } from '../../ports/activity.ts';
import type { EntryKind, EntryOutcome, HttpCounts } from '../../ports/http-counts.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { Message, Stream } from '../../ports/stream.ts';
import { type BatchFault, batchSteps, type ScannedBatch, scanSteps, schemaSteps } from '../../signal/batch.ts';
import { LIMITS } from '../../signal/limits.ts';
import { encodeMessage } from '../../signal/message.ts';
import { warningsOf } from '../../signal/rate-limit.ts';
import type { AccessRuleEnvelope, Signal } from '../../signal/schema.ts';
import { newBatchId, signalId } from '../../signal/signal-id.ts';
import type { EnvelopeCheck } from '../../signal/v2.ts';
import type { RateLimiter } from '../auth/rate-limit.ts';
import { countEntries, countListEntries, newHttpCounts } from '../counts.ts';
import type { HttpFault } from '../errors.ts';
import { isNearMiss } from '../near-miss.ts';
import { dryRunFields } from './dry-run.ts';
import type { RuleQuota } from './rule-quota.ts';
import type { SignalSummary } from './schema.ts';
import { inRestingSlices, inSlices } from './slices.ts';

/** What signal submission needs. */
export interface SignalParts {
  readonly store: Pick<StoreReads, 'defaultList' | 'findNamed'>;
  readonly stream: Pick<Stream, 'draft'>;
  /** Entries a minute of each key. */
  readonly entryLimit: RateLimiter;
  readonly ruleQuota: RuleQuota;
  /** What entries of a caller are checked against. Called for every batch, because geo data may have been reloaded. */
  readonly check: (caller: Caller) => Omit<EnvelopeCheck, 'listBound'>;
  /** Tells what a batch changes of feeds; absent where this process builds none. */
  readonly forecast?: FeedForecast | undefined;
  readonly now: () => number;
  /** ms of the monotonic clock. */
  readonly monotonic: () => number;
  /** Where entries are counted. */
  readonly counts?: Pick<HttpCounts, 'entries' | 'listEntries' | 'limited'>;
  /** Is told how many entries of a workspace were accepted and failed. */
  readonly noteEntries?: ActivityCounter['entries'] | undefined;
  /** Logs why the store or the stream failed, or a defect of ours; the client sees none of it. */
  readonly logFailure: (error: unknown, what: string) => void;
}

/** An authenticated batch. */
export interface SignalRequest {
  readonly version: 1 | 2;
  readonly caller: Caller;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
  /** The step of a trace that it belongs to. */
  readonly traceparent?: string | undefined;
}

/** The answer to a batch that was taken, wholly or in part. */
export interface SignalAnswer {
  readonly status: 200 | 206;
  readonly body: SignalSummary;
  /** What the accepted entries are known by from now on (D9.1); null when none is on the stream. */
  readonly batchId: string | null;
}

/** Takes one batch: checks each entry, and answers once the stream holds the good ones durably (spec 4.1, 4.2). */
export type SubmitSignals = (request: SignalRequest) => Promise<SignalAnswer | HttpFault>;

/** A batch whose entries are to be judged. */
interface TakenBatch {
  readonly version: 1 | 2;
  readonly batch: ScannedBatch;
  readonly caller: Caller;
  /** Where its access rules land; undefined: the consumer decides. */
  readonly list: string | undefined;
  readonly dryRun: boolean;
  readonly traceparent: string | undefined;
}

/** Larger bodies than this are judged and published one after the other: on its way one takes several times its size in memory, bytes. */
const LARGE = 2 * 1024 * 1024;

const slicesFor = ({ length }: Buffer) => (length > LARGE ? inRestingSlices : inSlices);

/** Whether a forecast needs to know of a signal: in a dry run of every access rule, else of those that block a country or an ASN. */
function concernsForecast(signal: Signal, dryRun: boolean): boolean {
  if (signal.version === 1) return dryRun || (signal.event.action === 'block' && Boolean(signal.event.asn || signal.event.country));
  const { kind, op, rule } = signal.envelope;
  if (kind !== 'access_rule') return false;
  const { target } = (rule ?? {}) as Partial<NonNullable<AccessRuleEnvelope['rule']>>;
  return dryRun || (op === 'upsert' && target !== undefined && target.ip === undefined);
}

/** Begins each piece of work when the one before has ended. */
function queue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}

/** Signal submission with what it needs. */
export function signalSubmission(parts: SignalParts): SubmitSignals {
  const {
    store,
    stream,
    entryLimit,
    ruleQuota,
    check,
    forecast,
    now,
    monotonic,
    counts = newHttpCounts(),
    noteEntries,
    logFailure,
  } = parts;
  const defaultLists = new Map<string, string>();
  const oneByOne = queue();
  void inSlices(schemaSteps());

  return async ({ version, caller, query, body, traceparent }) => {
    const options = readOptions(query);
    if ('status' in options) return options;
    const list = await landingList(caller, options.list);
    if (typeof list === 'object') return list;
    const batch = await slicesFor(body)(scanSteps(body));
    if (batch.refused !== undefined) return badRequest(batch.refused);
    const wait = entryLimit.take(caller.keyId, monotonic(), batch.entries.length);
    if (wait > 0) {
      counts.limited.entries += 1;
      return { ...TOO_MANY_ENTRIES, headers: { 'Retry-After': String(wait) } };
    }

    const foreseen = { workspaceId: caller.workspaceId, listId: list, messages: [] as Message[], listOnly: caller.listId !== null };
    const work = () => take({ version, batch, caller, list, dryRun: options.dryRun, traceparent }, foreseen.messages);
    const answer = await (body.length > LARGE ? oneByOne(work) : work());
    if (!('body' in answer)) return answer;
    if (options.dryRun) return { ...answer, body: { ...answer.body, ...(await dryRunFields(caller, () => forecast?.dryRun(foreseen))) } };
    if (foreseen.messages.length > 0) forecast?.accepted({ ...foreseen, listOnly: false });
    return answer;
  };

  /** Judges the entries of a batch, and publishes the good ones; `foreseen` gets those that a forecast needs to know of. */
  async function take(
    { version, batch, caller, list, dryRun, traceparent }: TakenBatch,
    foreseen: Message[],
  ): Promise<SignalAnswer | HttpFault> {
    const receivedAt = now();
    const { workspaceId, organizationId, keyId } = caller;
    const batchId = newBatchId(receivedAt);
    const noMoreRules = await ruleQuota(workspaceId);
    const messages = stream.draft();
    const warnings: string[] = [];
    const judged = tally();
    let taken = 0;
    try {
      const result = await slicesFor(batch.bytes)(
        batchSteps(version, batch, {
          ...check(caller),
          listBound: caller.listId !== null,
          noMoreRules,
          // Written out and handed on at once: a thousand parsed entries may take ten times the memory of their text.
          accept(signal) {
            taken += 1;
            if (dryRun) warnings.push(...warningsOf(signal));
            judged.accept(signal.version === 1 ? 'access_rule' : signal.envelope.kind);
            const id = signalId(batchId, taken);
            const message = encodeMessage(signal, {
              workspaceId,
              organizationId,
              listId: list,
              receivedAt,
              signalId: id,
              keyId,
              traceparent,
            });
            if (forecast !== undefined && concernsForecast(signal, dryRun)) foreseen.push(message);
            if (!dryRun) messages.push(message);
          },
          fail: (kind) => judged.fail(kind ?? 'unknown'),
          report: (error) => logFailure(error, 'an entry could not be judged'),
        }),
      );
      if (result.refused !== undefined) {
        countEntries(counts, version === 1 ? 'access_rule' : 'unknown', 'refused', batch.entries.length);
        return badRequest(result.refused);
      }
      const { accepted, errors } = result;
      if (!dryRun && accepted > 0) {
        const failure = await messages.publish().then(() => undefined, failed);
        if (failure !== undefined) {
          judged.count(counts, 'not_published', 'failed');
          noteEntries?.(workspaceId, 0, batch.entries.length);
          return failure;
        }
        if (list !== undefined) countListEntries(counts, list, judged.accepted.get('access_rule') ?? 0);
      }
      judged.count(counts, dryRun ? 'dry_run' : 'accepted', dryRun ? 'dry_run' : 'failed');
      if (!dryRun) noteEntries?.(workspaceId, accepted, errors.length);
      const { status, body } = summary(version, accepted, errors);
      return { status, body: { ...body, ...(warnings.length > 0 && { warnings }) }, batchId: dryRun || accepted === 0 ? null : batchId };
    } finally {
      messages.discard();
    }
  }

  function failed(error: unknown): HttpFault {
    logFailure(error, 'the stream did not take a batch');
    return { status: 500 };
  }

  /** The list where access rules land: the key's, else the one asked for, else the default; undefined leaves that to the consumer. */
  async function landingList({ workspaceId, listId }: Caller, asked: string | undefined): Promise<string | undefined | HttpFault> {
    if (asked === undefined && listId !== null) return listId;
    const known = defaultLists.get(workspaceId);
    if (asked === undefined && known !== undefined) return known;
    try {
      if (asked !== undefined) return namedList((await store.findNamed(workspaceId, asked))?.lists ?? [], listId);
      // The mark of the default list never moves, and that list cannot be deleted.
      const defaultList = await store.defaultList(workspaceId);
      if (defaultList !== undefined) defaultLists.set(workspaceId, defaultList);
      return defaultList;
    } catch (error) {
      logFailure(error, 'the lists of a workspace could not be read');
      return asked === undefined ? undefined : { status: 500 };
    }
  }
}

/** How many entries of a batch were accepted and how many failed, by kind. */
function tally() {
  const [accepted, failed] = [new Map<EntryKind, number>(), new Map<EntryKind, number>()];
  const add = (to: Map<EntryKind, number>) => (kind: EntryKind) => void to.set(kind, (to.get(kind) ?? 0) + 1);
  return {
    accepted,
    accept: add(accepted),
    fail: add(failed),
    count(counts: Pick<HttpCounts, 'entries'>, ofAccepted: EntryOutcome, ofFailed: EntryOutcome): void {
      for (const [kind, count] of accepted) countEntries(counts, kind, ofAccepted, count);
      for (const [kind, count] of failed) countEntries(counts, kind, ofFailed, count);
    },
  };
}

/** The one list of those with the id or name that was asked for; `bound` is the only one that the key may use, or null. */
function namedList(found: readonly AccessList[], bound: string | null): string | HttpFault {
  if (bound !== null && !found.some(({ id }) => id === bound)) {
    return { status: 403, message: 'The API key is bound to another access-rules list' };
  }
  if (found.length === 1) return found[0]!.id;
  return found.length === 0
    ? { status: 404, message: 'No such access-rules list' }
    : {
        status: 409,
        message: `The name matches more than one access-rules list; use one of the ids ${idsOf(found)}`,
      };
}

/** Ids that the fault of an ambiguous name shows. */
const SHOWN_IDS = 20;

function idsOf(lists: readonly AccessList[]): string {
  const ids = lists.slice(0, SHOWN_IDS).map(({ id }) => id);
  const rest = lists.length - ids.length;
  return ids.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

interface Options {
  readonly list: string | undefined;
  readonly dryRun: boolean;
}
const DRY_RUN: Record<string, boolean> = { '1': true, true: true, '0': false, false: false };

/** The parameters of a batch. */
const OPTIONS = ['list', 'dry_run'];

function readOptions(query: Readonly<Record<string, unknown>>): Options | HttpFault {
  const { list, dry_run: dryRun = '0' } = query;
  const faults = almostOptions(query);
  if (list !== undefined && (typeof list !== 'string' || list === '')) {
    faults.push({ field: 'list', message: 'must be the id or the name of one access-rules list', value: null });
  }
  if (typeof dryRun !== 'string' || !Object.hasOwn(DRY_RUN, dryRun)) {
    faults.push({ field: 'dry_run', message: `must be one of: ${Object.keys(DRY_RUN).join(', ')}`, value: null });
  }
  return faults.length > 0 ? badRequest(faults) : { list: list as string | undefined, dryRun: DRY_RUN[dryRun as string]! };
}

/** Faults of unknown parameters that are probably meant to be known ones: with `?dryrun=1` rules would change. */
function almostOptions(query: Readonly<Record<string, unknown>>): BatchFault[] {
  return Object.keys(query).flatMap((field) => {
    const meant = OPTIONS.includes(field) ? undefined : OPTIONS.find((known) => isNearMiss(field, known));
    return meant === undefined ? [] : [{ field, message: `is no parameter; did you mean ${meant}?`, value: null }];
  });
}

/** 400 for a whole batch; the message names the first fault (spec 7.2). */
export function badRequest(details: readonly BatchFault[]): HttpFault {
  const [{ index, field, message }] = details as [BatchFault];
  const entry = index === undefined ? '' : `Entry ${index}: `;
  return { status: 400, message: `${entry}${message.startsWith(field) ? '' : `${field} `}${message}`, details };
}

/** The fault of a body over the limit, which is not read to its end. */
export const BODY_TOO_LARGE = badRequest([{ field: 'body', message: `must be at most ${LIMITS.batchBytes} bytes`, value: null }]);

/** The fault of a key that has sent its entries of this minute. */
export const TOO_MANY_ENTRIES: HttpFault = { status: 429, message: 'Too many entries' };

/** The fault of a request that is not proper HTTP. */
export const MALFORMED = badRequest([{ field: 'request', message: 'is malformed', value: null }]);

/** The answer to a batch that was taken (spec 2.5). */
export function summary(version: 1 | 2, processed: number, errors: string[]): Omit<SignalAnswer, 'batchId'> {
  const message = `Processed ${processed} entries, ${errors.length} failed`;
  if (errors.length > 0) return { status: 206, body: { success: false, message, errors } };
  return { status: 200, body: version === 1 ? { success: true, message } : { success: true, message, errors } };
}
