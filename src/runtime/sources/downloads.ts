/** Which addresses are asked now (SPEC D23.12 to D23.14, D43.4): one download for all who ask the same, one at a time of a host, few in all. */
import type { SourceReading } from '../../account/source.ts';
import { hasCode } from '../../errors.ts';
import type { SourceAnswer } from '../../fetch/content-file.ts';
import { durationText } from '../../manage/sources/source-settings.ts';
import { hostOf } from '../../source/host.ts';
import { knownContent, type Outcome } from '../../source/refresh/outcome.ts';
import { goesAlong, isDueAt, stops } from '../../source/refresh/schedule.ts';
import { type Known, type KnownSources, waitFor } from './known.ts';
import type { Wait } from './politeness.ts';
import type { RefresherPorts } from './ports.ts';
import type { SourceSteps } from './steps.ts';
import type { Waiting } from './turns.ts';
import { type Refusal, recall, type Visit, whoOf } from './visits.ts';

/** Downloads that are under way in all. */
const AT_ONCE = 16;
/** Of them for one workspace, whose servers may all be slow. */
const AT_ONCE_OF_ONE = 2;
/** Collections of TAXII, which are read in memory: in all, and for one workspace. */
const COLLECTIONS = 2;
const COLLECTIONS_OF_ONE = 1;
/** A download whose turn at a further host has not come in time begins again after so long, ms. */
const AGAIN = 5000;

/** Who may begin so soon takes its turn before others that come to its host, ms: longer than it takes until somebody looks again. */
const SOON = 3000;

/** For whom a download is under way. */
interface Served {
  readonly workspaceId: string;
  readonly isCollection: boolean;
  /** It waits for its turn at a further host, and takes nothing from others meanwhile. */
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
  /** What was asked before this process knew it, of sources that it has read now. */
  recall(sources: Iterable<Known>): void;
  /** Begins what may begin. Returns those who wait for something else than before. */
  begin(): readonly Known[];
}

export function downloads(ports: DownloadPorts): Downloads {
  const { apply, known, steps, work, leastInterval, monotonic, fetch, signal, visits } = ports;
  const { politeness, turns, floor } = visits;
  const { now } = apply;
  const clocks = { now, monotonic };
  const served = new Set<Served>();
  const isFree = () => [...served].filter(({ isWaiting }) => !isWaiting).length < AT_ONCE;
  const hasRoom = ({ workspaceId, isCollection }: Omit<Served, 'isWaiting'>): boolean => {
    const own = [...served].filter((each) => each.workspaceId === workspaceId);
    const collections = (of: Iterable<Served>) => [...of].filter((each) => each.isCollection).length;
    const fits = !isCollection || (collections(served) < COLLECTIONS && collections(own) < COLLECTIONS_OF_ONE);
    return isFree() && fits && own.length < AT_ONCE_OF_ONE;
  };
  /** Where a source leads, and its least interval, ms. */
  const placeOf = once(({ source }: Known['record']) => {
    const url = new URL(source.url);
    return { url, host: hostOf(url), least: leastInterval(source.url) * 1000 };
  });
  /** What a source shows to its server; `who` tells it from what others show. */
  const shownBy = once((record: Known['record']) => {
    const credentials = ports.credentials(record);
    const { id, reading } = record.source;
    return { credentials, who: credentials === undefined ? id : whoOf(credentials, taxiiOf(reading) !== undefined) };
  });

  /** What tells an address and who asks it. */
  const addressOf = (one: Known): string => {
    const { url, reading } = one.record.source;
    return `${url} ${JSON.stringify(taxiiOf(reading) ?? null)} ${shownBy(one.record).who}`;
  };

  const isAsked = ({ record: { asked } }: Known) => asked?.what === 'refresh';
  const mayBeFetched = ({ record: { source }, state, isBusy, heldOffUntil }: Known): boolean =>
    !isBusy && !source.isPaused && state.applying === null && heldOffUntil <= monotonic();
  const isDue = (one: Known) => {
    const { record, state } = one;
    const interval = { every: record.source.every * 1000, least: placeOf(record).least };
    return mayBeFetched(one) && (isAsked(one) || (state.stop === null && isDueAt(state, interval, now())));
  };

  /** What the host of a source, or its server, lets nobody do yet; also that one source is fetched again and again, wherever it leads. */
  function waitOf(one: Known): Wait | undefined {
    const { url, reading, workspaceId } = one.record.source;
    const { credentials, who } = shownBy(one.record);
    const own = one.askedAt + floor;
    if (own > monotonic()) return { for: `the least time between two fetches of a source, ${durationText(floor / 1000)}`, until: own };
    const isThere = fetch.has({ url, credentials: credentials ?? {}, taxii: taxiiOf(reading) });
    if (isThere) return undefined;
    const further = one.via && politeness.wait(one.via.url, { workspaceId, who: one.via.who }, monotonic());
    return further ?? politeness.wait(placeOf(one.record).url, { workspaceId, who }, monotonic());
  }

  const servingOf = ({ record: { source } }: Known) => ({
    workspaceId: source.workspaceId,
    isCollection: taxiiOf(source.reading) !== undefined,
  });

  return {
    recall(sources) {
      for (const one of sources) recall(politeness, one.record, shownBy(one.record).who, clocks);
    },
    begin() {
      const soon = monotonic() + SOON;
      const due = [...known.values()].filter((one) => one.politeUntil <= soon && isDue(one));
      for (const one of due)
        if (shownBy(one.record).credentials === undefined)
          work([one], () => steps.finish(one, noSecret, steps.effort(monotonic()), one.record.asked?.at));
      turns.offer(due.map(waitingOf));
      return due.filter((one) => {
        if (one.isBusy) return false;
        const wait = (turns.isBusy(waitingAt(one)) ? undefined : waitOf(one)) ?? ITS_TURN;
        one.politeUntil = wait === ITS_TURN ? 0 : wait.until;
        return waitFor(one, wait, clocks);
      });
    },
  };

  /** The host whose turn a source waits for: that of its address, or the one further on that has sent it away. */
  function waitingAt({ record, via }: Known): string {
    return via === undefined ? placeOf(record).host : hostOf(via.url);
  }

  function waitingOf(one: Known): Waiting {
    const { workspaceId } = one.record.source;
    return {
      ...{ host: waitingAt(one), workspaceId, order: one.askedAt },
      mayBegin: () => isDue(one) && hasRoom(servingOf(one)) && waitOf(one) === undefined && !signal.aborted,
      begin: (turn) => start(one, turn),
    };
  }

  /** Begins the download of a source, and of those that ask the same. */
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
      turn: { host: waitingAt(one), turn },
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
    work(along, () => download(along, shownBy(one.record).credentials!, visit).finally(() => served.delete(serving)));
  }

  async function download(sources: readonly Known[], credentials: Credentials, visit: Visit): Promise<void> {
    const began = monotonic();
    const [{ record }] = sources as readonly [Known];
    let answer: SourceAnswer;
    try {
      answer = await fetch.fetch({
        url: record.source.url,
        credentials,
        known: validatorsOf(sources),
        taxii: taxiiOf(record.source.reading),
        before: visit.before,
        signal,
      });
    } catch (error) {
      if (signal.aborted) throw error;
      if (hasCode(error, 'LIMITED')) return await leave(sources, error);
      if (!hasCode(error, 'FETCH')) throw error;
      return await each(sources, async () => ({ kind: 'failed', text: error.message }), began, 0);
    } finally {
      // Its host is free while what has come is compared.
      visit[Symbol.dispose]();
    }
    const alone = answer.kind === 'refused' ? visit.refused(answer.status, answer.retryAfter) : 0;
    try {
      await each(sources, (one) => outcome(one, answer, alone), began, answer.kind === 'fetched' ? answer.bytes : 0);
    } finally {
      if (answer.kind === 'fetched') await answer[Symbol.asyncDispose]();
    }
  }

  /** Where a place further on is to be left alone for now nothing has failed. */
  async function leave(sources: readonly Known[], { cause }: Error): Promise<void> {
    const { wait = ITS_TURN, url, who = '' } = cause as Partial<Refusal>;
    for (const one of sources) {
      one.via = url === undefined ? undefined : { url: new URL(url), who };
      one.heldOffUntil = monotonic() + AGAIN;
    }
    await steps.wait(sources, wait);
  }

  /** One after the other: what goes wrong with one is no matter of the others. */
  async function each(sources: readonly Known[], became: (one: Known) => Promise<Outcome>, began: number, bytes: number): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    for (const one of sources) {
      const { revision } = one.record.source;
      const asked = isAsked(one) ? one.record.asked!.at : undefined;
      try {
        const outcome = await became(one).catch((error: unknown): Outcome => {
          // What cannot be read is the content's fault; everything else is ours.
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
      ? { kind: 'stopped', stop: 'refused', text: `${text}: it is not asked again until somebody resumes the source`, retryAfter: alone }
      : { kind: 'failed', text, retryAfter: alone };
  }
}

/** What is known of a record is found out once. */
function once<T>(find: (record: Known['record']) => T): (record: Known['record']) => T {
  const found = new WeakMap<Known['record'], T>();
  return (record) => {
    if (!found.has(record)) found.set(record, find(record));
    return found.get(record)!;
  };
}

/** What one waits for whom nobody has to leave alone. */
const ITS_TURN: Wait = {
  for: 'its turn: a host is asked by one download at a time, and two of a workspace are under way',
  until: Number.POSITIVE_INFINITY,
};

/** Which collection of TAXII is asked for; undefined where it is none. */
export const taxiiOf = ({ format, collection }: SourceReading) =>
  format === 'taxii' ? { collection: collection ?? undefined } : undefined;

const noSecret: Outcome = { kind: 'stopped', stop: 'secret', text: 'its secret cannot be read: set it again' };

/** What the server said of its last answer, where all know the same, and what to do about it. */
function validatorsOf(sources: readonly Known[]) {
  const [{ state }] = sources as readonly [Known];
  const { etag, lastModified, seen } = state;
  const isShared = sources.every(({ state: each }) => each.seen === seen && each.etag === etag && each.lastModified === lastModified);
  if (!isShared || seen === null || (etag === null && lastModified === null)) return undefined;
  if (!sources.every(({ state: each }) => knownContent(each, seen) !== undefined)) return undefined;
  return { ...(etag !== null && { etag }), ...(lastModified !== null && { lastModified }) };
}
