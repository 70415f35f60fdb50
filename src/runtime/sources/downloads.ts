/** Sources share downloads, one per host at a time (SPEC D23.12 to D23.14, D43.4). */
import { collectionOf } from '../../account/source.ts';
import { hasCode } from '../../errors.ts';
import type { SourceAnswer } from '../../fetch/content-file.ts';
import { hostOf } from '../../source/host.ts';
import { knownContent, type Outcome } from '../../source/refresh/outcome.ts';
import { goesAlong, isDueAt, stops } from '../../source/refresh/schedule.ts';
import { signedAfter } from '../../source/signed-feed.ts';
import type { Refused } from '../../source/taxii/ask.ts';
import { durationText } from '../../text/duration.ts';
import type { Candidate } from './host-queue.ts';
import { type Known, type KnownSources, noteWait } from './known.ts';
import type { Wait } from './politeness.ts';
import type { RefresherPorts } from './ports.ts';
import type { SourceSteps } from './steps.ts';
import { credentialKey, type Postponed, recall, type Visit } from './visits.ts';

/** Downloads in all. */
const AT_ONCE = 16;
/** Per workspace, whose servers may all be slow. */
const AT_ONCE_OF_ONE = 2;
/** Collections in all and per workspace: they are read in memory. */
const COLLECTIONS = 2;
const COLLECTIONS_OF_ONE = 1;
/** Retry of a postponed download, ms. */
const AGAIN = 5000;

/** A source that may start within this, ms, keeps its turn; longer than the polling interval. */
const SOON = 3000;

interface Served {
  readonly workspaceId: string;
  readonly isCollection: boolean;
  /** Waits for a further host; not counted. */
  isWaiting: boolean;
}

export interface DownloadPorts extends RefresherPorts {
  readonly known: KnownSources;
  readonly steps: SourceSteps;
  work(sources: readonly Known[], what: () => Promise<void>): void;
  readonly signal: AbortSignal;
}

type Credentials = Readonly<Record<string, string>>;

export interface Downloads {
  /** Restores from stored sources. */
  recall(sources: Iterable<Known>): void;
  /** The sources whose wait must be stored now. */
  begin(): readonly Known[];
}

export function downloads(ports: DownloadPorts): Downloads {
  const { apply, known, steps, work, leastInterval, monotonic, cache, signal, visits } = ports;
  const { politeness, queue, floor } = visits;
  const { now } = apply;
  const clocks = { now, monotonic };
  const served = new Set<Served>();
  const isFree = () => [...served].filter(({ isWaiting }) => !isWaiting).length < AT_ONCE;
  const hasCapacity = ({ workspaceId, isCollection }: Omit<Served, 'isWaiting'>): boolean => {
    const own = [...served].filter((each) => each.workspaceId === workspaceId);
    const collections = (of: Iterable<Served>) => [...of].filter((each) => each.isCollection).length;
    const isAllowed = !isCollection || (collections(served) < COLLECTIONS && collections(own) < COLLECTIONS_OF_ONE);
    return isFree() && isAllowed && own.length < AT_ONCE_OF_ONE;
  };
  /** Host, and its least interval, ms. */
  const placeOf = memoized(({ source }: Known['record']) => {
    const url = new URL(source.url);
    return { url, host: hostOf(url), least: leastInterval(source.url) * 1000 };
  });
  /** Headers (undefined: the secret is unreadable) and their key. */
  const credentialsOf = memoized((record: Known['record']) => {
    const credentials = ports.credentials(record);
    const { id, reading } = record.source;
    return { credentials, key: credentials === undefined ? id : credentialKey(credentials, collectionOf(reading) !== undefined) };
  });

  /** Sources with equal text share a download. */
  const addressOf = (one: Known): string => {
    const { url, reading } = one.record.source;
    return `${url} ${JSON.stringify([collectionOf(reading) ?? null, reading.signers])} ${credentialsOf(one.record).key}`;
  };

  const isAsked = ({ record: { asked } }: Known) => asked?.what === 'refresh';
  const mayBeFetched = ({ record: { source }, state, isBusy, delayedUntil }: Known): boolean =>
    !isBusy && !source.isPaused && state.applying === null && delayedUntil <= monotonic();
  const isDue = (one: Known) => {
    const { record, state } = one;
    const interval = { every: record.source.every * 1000, least: placeOf(record).least };
    return mayBeFetched(one) && (isAsked(one) || (state.stop === null && isDueAt(state, interval, now())));
  };

  /** undefined: a due source may start. */
  function waitOf(one: Known): Wait | undefined {
    const { url, reading, workspaceId } = one.record.source;
    const { credentials, key } = credentialsOf(one.record);
    const own = one.askedAt + floor;
    if (own > monotonic())
      return { for: `the minimum interval between two fetches of a source, ${durationText(floor / 1000)}`, until: own };
    const isThere = cache.has({ url, credentials: credentials ?? {}, taxii: collectionOf(reading) });
    if (isThere) return undefined;
    const further = one.via && politeness.wait(one.via.url, { workspaceId, key: one.via.key }, monotonic());
    return further ?? politeness.wait(placeOf(one.record).url, { workspaceId, key }, monotonic());
  }

  const servingOf = ({ record: { source } }: Known) => ({
    workspaceId: source.workspaceId,
    isCollection: collectionOf(source.reading) !== undefined,
  });

  return {
    recall(sources) {
      // Only answers need the key: avoids decrypting secrets.
      for (const { record } of sources) recall(politeness, record, record.state.until === null ? '' : credentialsOf(record).key, clocks);
    },
    begin() {
      const soon = monotonic() + SOON;
      const due = [...known.values()].filter((one) => one.politeUntil <= soon && isDue(one));
      for (const one of due)
        if (credentialsOf(one.record).credentials === undefined)
          work([one], () => steps.finish(one, noSecret, steps.effort(monotonic()), one.record.asked?.at));
      queue.offer(due.map(candidateOf));
      return due.filter((one) => {
        if (one.isBusy) return false;
        const wait = (queue.isBusy(hostFor(one)) ? undefined : waitOf(one)) ?? ITS_TURN;
        one.politeUntil = wait === ITS_TURN ? 0 : wait.until;
        return noteWait(one, wait, clocks);
      });
    },
  };

  /** Its first host, or the one that postponed it. */
  function hostFor({ record, via }: Known): string {
    return via === undefined ? placeOf(record).host : hostOf(via.url);
  }

  function candidateOf(one: Known): Candidate {
    const { workspaceId } = one.record.source;
    return {
      ...{ host: hostFor(one), workspaceId, order: one.askedAt },
      mayBegin: () => isDue(one) && hasCapacity(servingOf(one)) && waitOf(one) === undefined && !signal.aborted,
      begin: (turn) => start(one, turn),
    };
  }

  function start(one: Known, turn: Disposable): void {
    const { source } = one.record;
    const address = addressOf(one);
    const along = [...known.values()].filter(
      (each) =>
        each.record.source.url === source.url &&
        addressOf(each) === address &&
        (isDue(each) ||
          (mayBeFetched(each) && each.state.stop === null && goesAlong(each.state.nextAt, each.record.source.every * 1000, now()))),
    );
    const serving: Served = { ...servingOf(one), isWaiting: false };
    const visit = visits.begin(source.url, {
      ...serving,
      order: one.askedAt,
      turn: { host: hostFor(one), turn },
      mayBegin: isFree,
      onWait(isWaiting) {
        serving.isWaiting = isWaiting;
      },
    });
    served.add(serving);
    for (const each of along) {
      each.askedAt = monotonic();
      each.via = undefined;
      each.state = { ...each.state, askedAt: now() };
    }
    work(along, () => download(along, credentialsOf(one.record).credentials!, visit).finally(() => served.delete(serving)));
  }

  async function download(sources: readonly Known[], credentials: Credentials, visit: Visit): Promise<void> {
    const began = monotonic();
    const [{ record }] = sources as readonly [Known];
    // Later requests need another refresh.
    const asked = new Map(sources.map((one) => [one, isAsked(one) ? one.record.asked!.at : undefined]));
    let answer: SourceAnswer;
    try {
      answer = await cache.fetch({
        url: record.source.url,
        credentials,
        known: validatorsOf(sources),
        taxii: collectionOf(record.source.reading),
        signed: signedAfter(record.source.reading, Math.max(...sources.map(({ state }) => state.signedAt ?? 0))),
        before: visit.before,
        signal,
      });
    } catch (error) {
      if (signal.aborted) throw error;
      if (hasCode(error, 'LIMITED')) return await postpone(sources, error);
      if (!hasCode(error, 'FETCH')) throw error;
      const retryAfter = refusedBy(error, visit);
      return await each(asked, async () => ({ kind: 'failed', text: error.message, retryAfter }), began, 0);
    } finally {
      // Frees the host during the comparison.
      visit[Symbol.dispose]();
    }
    const alone = answer.kind === 'refused' ? visit.refused(answer.status, answer.retryAfter) : 0;
    try {
      await each(asked, (one) => outcome(one, answer, alone), began, answer.kind === 'fetched' ? answer.bytes : 0);
    } finally {
      if (answer.kind === 'fetched') await answer[Symbol.asyncDispose]();
    }
  }

  /** Waits; not a failure. */
  async function postpone(sources: readonly Known[], { cause }: Error): Promise<void> {
    const { wait = ITS_TURN, url, key = '' } = cause as Partial<Postponed>;
    for (const one of sources) {
      one.via = url === undefined ? undefined : { url: new URL(url), key };
      one.delayedUntil = monotonic() + AGAIN;
    }
    await steps.wait(sources, wait);
  }

  /** Sequential; errors stay separate. */
  async function each(
    sources: ReadonlyMap<Known, number | undefined>,
    became: (one: Known) => Promise<Outcome>,
    began: number,
    bytes: number,
  ): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    for (const [one, asked] of sources) {
      const { revision } = one.record.source;
      try {
        const outcome = await became(one).catch((error: unknown): Outcome => {
          // Unreadable content is the source's fault; other errors are ours.
          if (!hasCode(error, 'USAGE')) throw error;
          return { kind: 'failed', text: error.message };
        });
        if (one.record.source.revision === revision) await steps.finish(one, outcome, steps.effort(began, bytes), asked);
      } catch (error) {
        failure ??= { error };
      }
    }
    if (failure !== undefined) throw failure.error;
  }

  async function outcome(one: Known, answer: SourceAnswer, alone: number): Promise<Outcome> {
    if (answer.kind === 'fetched') return await steps.take(one, answer);
    if (answer.kind === 'unchanged') return await steps.takeUnchanged(one);
    const text = `the server answers ${answer.status}`;
    return stops(answer.status)
      ? {
          kind: 'stopped',
          stop: 'refused',
          text: `${text}: weir sends no more requests until somebody resumes the source`,
          retryAfter: alone,
        }
      : { kind: 'failed', text, retryAfter: alone };
  }
}

/** Of a server that made the download fail: one event of a MISP feed. */
function refusedBy({ cause }: Error, visit: Visit): number {
  const { status, retryAfter } = (cause ?? {}) as Partial<Refused>;
  return status === undefined ? 0 : visit.refused(status, retryAfter);
}

/** Once per record. */
function memoized<T>(find: (record: Known['record']) => T): (record: Known['record']) => T {
  const found = new WeakMap<Known['record'], T>();
  return (record) => {
    if (!found.has(record)) found.set(record, find(record));
    return found.get(record)!;
  };
}

/** Blocked only by other downloads. */
const ITS_TURN: Wait = {
  for: 'its turn: weir runs one download per host, and two per workspace',
  until: Number.POSITIVE_INFINITY,
};

const noSecret: Outcome = { kind: 'stopped', stop: 'secret', text: 'its secret cannot be read: set it again' };

/** Common validators, and how to use them. */
function validatorsOf(sources: readonly Known[]) {
  const [{ state }] = sources as readonly [Known];
  const { etag, lastModified, seen } = state;
  const isShared = sources.every(({ state: each }) => each.seen === seen && each.etag === etag && each.lastModified === lastModified);
  if (!isShared || seen === null || (etag === null && lastModified === null)) return undefined;
  if (!sources.every(({ state: each }) => knownContent(each, seen) !== undefined)) return undefined;
  return { ...(etag !== null && { etag }), ...(lastModified !== null && { lastModified }) };
}
