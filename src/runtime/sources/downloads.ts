/** Which addresses are asked now (SPEC D23.12 to D23.14): one download for all who ask the same, one at a time of a host, few in all. */
import { hash } from 'node:crypto';
import { collectionOf } from '../../account/source.ts';
import { hasCode } from '../../errors.ts';
import type { SourceAnswer } from '../../fetch/content-file.ts';
import { knownContent, type Outcome } from '../../source/refresh/outcome.ts';
import { goesAlong, isDueAt, leftAlone, stops } from '../../source/refresh/schedule.ts';
import type { Known, KnownSources } from './known.ts';
import { politeness } from './politeness.ts';
import type { RefresherPorts } from './ports.ts';
import type { SourceSteps } from './steps.ts';

/** Downloads that are under way in all. */
const AT_ONCE = 16;
/** Of them for one workspace, whose servers may all be slow. */
const AT_ONCE_OF_ONE = 2;
/** Collections of TAXII, which are read in memory: in all, and for one workspace. */
const COLLECTIONS = 2;
const COLLECTIONS_OF_ONE = 1;

/** For whom a download is under way. */
interface Served {
  readonly workspaceId: string;
  readonly isCollection: boolean;
}

export interface DownloadPorts extends RefresherPorts {
  readonly known: KnownSources;
  readonly steps: SourceSteps;
  work(sources: readonly Known[], what: () => Promise<void>): void;
  readonly signal: AbortSignal;
}

type Credentials = Readonly<Record<string, string>>;

export function downloads(ports: DownloadPorts): { begin(): void } {
  const { apply, known, steps, work, leastInterval, monotonic, fetch, signal } = ports;
  const { now } = apply;
  const hosts = new Set<string>();
  const served = new Set<Served>();
  const hasRoom = ({ workspaceId, isCollection }: Served): boolean => {
    const own = [...served].filter((each) => each.workspaceId === workspaceId);
    const collections = (of: Iterable<Served>) => [...of].filter((each) => each.isCollection).length;
    const fits = !isCollection || (collections(served) < COLLECTIONS && collections(own) < COLLECTIONS_OF_ONE);
    return fits && own.length < AT_ONCE_OF_ONE;
  };
  const polite = politeness();

  /** What tells an address and who asks it. */
  const addressOf = ({ record }: Known): string => {
    const { url, id, reading } = record.source;
    const what = `${url} ${JSON.stringify(collectionOf(reading) ?? null)}`;
    if (record.secret === null) return what;
    return `${what} ${hash('sha256', JSON.stringify(ports.credentials(record) ?? id))}`;
  };

  const isAsked = ({ record: { asked } }: Known) => asked?.what === 'refresh';
  const mayBeFetched = ({ record: { source }, state, isBusy, heldOffUntil }: Known): boolean =>
    !isBusy && !source.isPaused && state.applying === null && heldOffUntil <= monotonic();
  const leastOf = (url: string) => leastInterval(url) * 1000;
  const isDue = (one: Known) => {
    const { record, state } = one;
    const interval = { every: record.source.every * 1000, least: leastOf(record.source.url) };
    return mayBeFetched(one) && (isAsked(one) || (state.stop === null && isDueAt(state, interval, now())));
  };

  /** How long an address may not be asked yet, ms, also where another process has asked before. What was fetched later than now was so by a clock that was wrong. */
  const waitOf = (url: string, same: readonly Known[]): number => {
    const fetched = same.map(({ state }) => state.fetchedAt ?? 0).filter((at) => at <= now());
    return Math.max(polite.earliest(url, leastOf(url)) - monotonic(), Math.max(0, ...fetched) + leastOf(url) - now());
  };

  return {
    begin() {
      const due = [...known.values()].filter(isDue).sort((a, b) => a.state.nextAt - b.state.nextAt);
      for (const one of due) {
        if (hosts.size >= AT_ONCE) return;
        const { host } = new URL(one.record.source.url);
        const { workspaceId, reading } = one.record.source;
        const serving = { workspaceId, isCollection: collectionOf(reading) !== undefined };
        if (one.isBusy || hosts.has(host) || !hasRoom(serving)) continue;
        const credentials = ports.credentials(one.record);
        if (credentials === undefined) {
          work([one], () => steps.finish(one, noSecret, steps.effort(monotonic()), one.record.asked?.at));
          continue;
        }
        const address = addressOf(one);
        const same = [...known.values()].filter((each) => each.record.source.url === one.record.source.url && addressOf(each) === address);
        const wait = waitOf(one.record.source.url, same);
        if (wait > 0) {
          one.state = { ...one.state, nextAt: Math.max(one.state.nextAt, now() + wait) };
          one.heldOffUntil = monotonic() + wait;
          continue;
        }
        const along = same.filter(
          (each) =>
            isDue(each) ||
            (mayBeFetched(each) && each.state.stop === null && goesAlong(each.state.nextAt, each.record.source.every * 1000, now())),
        );
        hosts.add(host);
        served.add(serving);
        const done = () => {
          hosts.delete(host);
          served.delete(serving);
        };
        work(along, () => download(along, credentials).finally(done));
      }
    },
  };

  async function download(sources: readonly Known[], credentials: Credentials): Promise<void> {
    const began = monotonic();
    const [{ record }] = sources as readonly [Known];
    const { url } = record.source;
    // What is asked for from here on is another refresh.
    const asked = new Map(sources.map((one) => [one, isAsked(one) ? one.record.asked!.at : undefined]));
    polite.asked(url, leastOf(url), began);
    let answer: SourceAnswer;
    try {
      answer = await fetch({
        url: record.source.url,
        credentials,
        known: validatorsOf(sources),
        taxii: collectionOf(record.source.reading),
        signal,
      });
    } catch (error) {
      if (signal.aborted || !hasCode(error, 'FETCH')) throw error;
      return await each(asked, async () => ({ kind: 'failed', text: error.message }), began, 0);
    }
    if (answer.kind === 'refused') polite.leaveAlone(url, leastOf(url), monotonic() + leftAlone(answer.status, answer.retryAfter));
    try {
      await each(asked, (one) => outcome(one, answer), began, answer.kind === 'fetched' ? answer.bytes : 0);
    } finally {
      if (answer.kind === 'fetched') await answer[Symbol.asyncDispose]();
    }
  }

  /** One after the other: what goes wrong with one is no matter of the others. */
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

  async function outcome(one: Known, answer: SourceAnswer): Promise<Outcome> {
    if (answer.kind === 'fetched') return await steps.take(one, answer);
    if (answer.kind === 'unchanged') return await steps.takeUnchanged(one);
    const text = `the server answers ${answer.status}`;
    return stops(answer.status)
      ? { kind: 'stopped', stop: 'refused', text: `${text}: it is not asked again until somebody resumes the source` }
      : { kind: 'failed', text, retryAfter: answer.retryAfter };
  }
}

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
