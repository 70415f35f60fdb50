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
  /** The turn that has come already: of the host of the first place, or of a further one, which is kept for it for a while. */
  readonly turn?: Turn;
  /** Called before it waits for a turn, and when that has come. */
  onWait?(isWaiting: boolean): void;
}

/** One download. It has the turn of one host at a time, until it is disposed. */
export interface Visit extends Disposable {
  readonly before: Before;
  /** The place that was asked last has refused, at the end of the way from the first. Returns how long it wants to be left alone, ms. */
  refused(status: number, retryAfter: number | undefined): number;
}

interface Turn {
  readonly host: string;
  readonly turn: Disposable;
}

/** How long the turn of a further host is kept for a download that is on its way there, ms. */
const KEPT = 10_000;

/** Where a download was told to wait. */
export interface Refusal {
  /** s */
  readonly retryAfter: number;
  readonly wait: Wait;
  readonly url: string;
  readonly who: string;
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

/** The error of a place that is to be left alone for now; its cause is a `Refusal`. */
function refusal(url: URL, who: string, wait: Wait, now: number): WeirError {
  const retryAfter = Math.ceil((wait.until - now) / 1000);
  const text = `it has to wait for ${wait.for}: try again in ${durationText(Math.ceil(retryAfter / 60) * 60)}`;
  return new WeirError('LIMITED', text, { cause: { retryAfter, wait, url: url.href, who } satisfies Refusal });
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
      const isFirst = given?.host === hostOf(new URL(first));
      let [has, kept] = isFirst ? [given, undefined] : [undefined, given];
      const release = (turn: Turn | undefined) => turn?.turn[Symbol.dispose]();
      const giveUp = () => {
        release(kept);
        kept = undefined;
      };
      const timer = kept && setTimeout(giveUp, KEPT).unref();
      const { workspaceId } = visitor;
      const asked: (readonly [url: URL, who: string])[] = [];
      /** Throws where a place is to be left alone, but for what this download has asked itself. */
      const requireLeave = (url: URL, by: string) => {
        const wait = seen.has(polite.place(url)) ? undefined : polite.wait(url, { workspaceId, who: by, isTrial }, monotonic());
        if (wait !== undefined) throw refusal(url, by, wait, monotonic());
      };
      return {
        async before(url, credentials) {
          const by = whoOf(credentials, isCollection);
          const host = hostOf(url);
          requireLeave(url, by);
          if (has?.host !== host) {
            release(has);
            has = kept?.host === host ? kept : undefined;
            if (has !== undefined) kept = undefined;
            else {
              onWait?.(true);
              has = { host, turn: await turns.enter({ ...visitor, host }, ending.signal) };
              onWait?.(false);
            }
            if (ending.signal.aborted) release(has);
            ending.signal.throwIfAborted();
            // Somebody else may have asked meanwhile.
            requireLeave(url, by);
          }
          polite.asked(url, { workspaceId, who: by, isTrial }, monotonic());
          seen.add(polite.place(url));
          asked.splice(1, 1, [url, by]);
        },
        refused(status, retryAfter) {
          const ms = leftAlone(status, retryAfter);
          // The first place leads there, also where what it leads to has another query each time.
          for (const [url, who] of asked) if (ms > 0) polite.leaveAlone(url, { workspaceId, who }, monotonic(), ms);
          return ms;
        },
        [Symbol.dispose]() {
          ending.abort(new WeirError('LIMITED', 'it is over'));
          clearTimeout(timer);
          release(has);
          giveUp();
        },
      };
    },
  };
}
