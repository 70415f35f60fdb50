/** Downloads of sources on their way from place to place, politely (SPEC D43.3): redirects, and pages and API roots of TAXII. */
import { hash } from 'node:crypto';
import type { Clocks } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { Before } from '../../fetch/exchange.ts';
import { durationText } from '../../manage/sources/source-settings.ts';
import { everyItem } from '../../ports/stored/every-item.ts';
import type { SourceReads, SourceRecord } from '../../ports/stored/source-store.ts';
import { hostOf } from '../../source/host.ts';
import { LONGEST_ALONE, leftAlone } from '../../source/refresh/schedule.ts';
import { type Politeness, type PolitenessParts, politeness, type Wait } from './politeness.ts';
import { type HostTurns, hostTurns, type Waiting } from './turns.ts';

/** Who is on the way. */
export interface Visitor extends Pick<Waiting, 'workspaceId' | 'order' | 'mayBegin'> {
  readonly isCollection: boolean;
  readonly isTrial?: boolean;
  /** The turn of the host of the first place, where it has come already. */
  readonly turn?: Disposable;
  /** Called before it waits for a turn, and when that has come. */
  onWait?(isWaiting: boolean): void;
}

/** One download. It has the turn of one host at a time, until it is disposed. */
export interface Visit extends Disposable {
  readonly before: Before;
  /** The place that was asked last has refused. Returns how long it wants to be left alone, ms. */
  refused(status: number, retryAfter: number | undefined): number;
}

export interface Visits {
  readonly politeness: Politeness;
  readonly turns: HostTurns;
  readonly floor: number;
  begin(url: string, visitor: Visitor): Visit;
}

export interface VisitsParts extends PolitenessParts {
  readonly monotonic: () => number;
}

/** What tells those apart whom a server may answer differently: what they show, and whether they ask for a collection. */
export const whoOf = (credentials: Readonly<Record<string, string>>, isCollection: boolean): string =>
  (isCollection ? 'taxii ' : '') + (Object.keys(credentials).length === 0 ? '' : hash('sha256', JSON.stringify(credentials)));

/** The refusal of a place that is to be left alone for now. */
function refusal(wait: Wait, now: number): WeirError {
  const retryAfter = Math.ceil((wait.until - now) / 1000);
  const text = `it has to wait for ${wait.for}: try again in ${durationText(Math.ceil(retryAfter / 60) * 60)}`;
  return new WeirError('LIMITED', text, { cause: { retryAfter, wait } });
}

/** Notes what was asked of an address, and answered, before this process knew it. */
export function recall(polite: Politeness, { source, state }: SourceRecord, who: string, { now, monotonic }: Clocks): void {
  const [url, asker] = [new URL(source.url), { workspaceId: source.workspaceId, who }];
  // Instants that lie elsewhere than they can come from a clock that was wrong.
  if (state.askedAt !== null && state.askedAt <= now()) polite.asked(url, asker, monotonic() - (now() - state.askedAt));
  const left = (state.until ?? 0) - now();
  if (left > 0 && left <= LONGEST_ALONE) polite.leaveAlone(url, asker, monotonic(), left);
}

/** The same of all sources; what their servers have answered, of those without credentials. */
export async function recallAll(polite: Politeness, store: Pick<SourceReads, 'allSources'>, clocks: Clocks): Promise<void> {
  for await (const each of everyItem((page) => store.allSources(page))) {
    const { id, credential, reading } = each.source;
    recall(polite, each, credential === null ? whoOf({}, reading.format === 'taxii') : id, clocks);
  }
}

export function visits({ monotonic, ...parts }: VisitsParts): Visits {
  const [polite, turns] = [politeness(parts), hostTurns()];
  return {
    politeness: polite,
    turns,
    floor: parts.floor,
    begin(first, { isCollection, isTrial, turn: given, onWait, ...visitor }) {
      const ending = new AbortController();
      const seen = new Set<string>();
      let has = given && { host: hostOf(new URL(first)), turn: given };
      const { workspaceId } = visitor;
      let [last, who] = [new URL(first), ''];
      /** Throws where a place is to be left alone, but for what this download has asked itself. */
      const requireLeave = (url: URL, by: string) => {
        const wait = seen.has(polite.place(url)) ? undefined : polite.wait(url, { workspaceId, who: by, isTrial }, monotonic());
        if (wait !== undefined) throw refusal(wait, monotonic());
      };
      return {
        async before(url, credentials) {
          const by = whoOf(credentials, isCollection);
          const host = hostOf(url);
          requireLeave(url, by);
          if (has?.host !== host) {
            has?.turn[Symbol.dispose]();
            has = undefined;
            onWait?.(true);
            has = { host, turn: await turns.enter({ ...visitor, host }, ending.signal) };
            onWait?.(false);
            if (ending.signal.aborted) has.turn[Symbol.dispose]();
            ending.signal.throwIfAborted();
            // Somebody else may have asked meanwhile.
            requireLeave(url, by);
          }
          polite.asked(url, { workspaceId, who: by, isTrial }, monotonic());
          seen.add(polite.place(url));
          [last, who] = [url, by];
        },
        refused(status, retryAfter) {
          const ms = leftAlone(status, retryAfter);
          if (ms > 0) polite.leaveAlone(last, { workspaceId, who }, monotonic(), ms);
          return ms;
        },
        [Symbol.dispose]() {
          ending.abort(new WeirError('LIMITED', 'it is over'));
          has?.turn[Symbol.dispose]();
        },
      };
    },
  };
}
