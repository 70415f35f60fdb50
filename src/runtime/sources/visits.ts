/** SPEC D43.3: redirects, and TAXII API roots and pages. */
import { hash } from 'node:crypto';
import { collectionOf } from '../../account/source.ts';
import type { Clocks } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { Before } from '../../fetch/exchange.ts';
import { everyItem } from '../../ports/stored/paginate.ts';
import type { SourceReads, SourceRecord } from '../../ports/stored/source-store.ts';
import { hostOf } from '../../source/host.ts';
import { LONGEST_ALONE, leftAlone } from '../../source/refresh/schedule.ts';
import { durationText } from '../../text/duration.ts';
import { type Candidate, type HostQueue, hostQueue } from './host-queue.ts';
import { type Politeness, type PolitenessParts, politeness, type Wait } from './politeness.ts';

interface Turn {
  readonly host: string;
  readonly turn: Disposable;
}

export interface Visitor extends Pick<Candidate, 'workspaceId' | 'order' | 'mayBegin'> {
  readonly isCollection: boolean;
  readonly isTrial?: boolean;
  /** Its turn at the first or a further host, reserved for `RESERVED`. */
  readonly turn?: Turn;
  onWait?(isWaiting: boolean): void;
}

/** Has the turn of one host at a time, until disposed. */
export interface Visit extends Disposable {
  readonly before: Before;
  /** Records a refusal; returns the requested pause, ms. */
  refused(status: number, retryAfter: number | undefined): number;
}

/** Cause of LIMITED for a place that is not free yet. */
export interface Postponed {
  /** s */
  readonly retryAfter: number;
  readonly wait: Wait;
  readonly url: string;
  readonly key: string;
}

export interface Visits {
  readonly politeness: Politeness;
  readonly queue: HostQueue;
  readonly floor: number;
  begin(url: string, visitor: Visitor): Visit;
}

export interface VisitsParts extends PolitenessParts {
  readonly monotonic: () => number;
}

/** Reserved before its request, ms. */
const RESERVED = 10_000;

/** Servers may answer these differently. */
export const credentialKey = (credentials: Readonly<Record<string, string>>, isCollection: boolean): string =>
  (isCollection ? 'taxii ' : '') + (Object.keys(credentials).length === 0 ? '' : hash('sha256', JSON.stringify(credentials)));

function postponed(url: URL, key: string, wait: Wait, now: number): WeirError {
  const retryAfter = Math.ceil((wait.until - now) / 1000);
  const text = `it has to wait for ${wait.for}: try again in ${durationText(Math.ceil(retryAfter / 60) * 60)}`;
  return new WeirError('LIMITED', text, { cause: { retryAfter, wait, url: url.href, key } satisfies Postponed });
}

/** From the store: another process may have sent it. */
export function recall(polite: Politeness, { source, state }: SourceRecord, key: string, { now, monotonic }: Clocks): void {
  const [url, client] = [new URL(source.url), { workspaceId: source.workspaceId, key }];
  // A future value comes from a wrong clock.
  if (state.askedAt !== null && state.askedAt <= now()) polite.asked(url, client, monotonic() - (now() - state.askedAt));
  const left = (state.until ?? 0) - now();
  if (left > 0 && left <= LONGEST_ALONE) polite.backOff(url, client, monotonic(), left);
}

/** For all sources, without answers to credentials, which only the refreshing process decrypts. */
export async function recallAll(polite: Politeness, store: Pick<SourceReads, 'allSources'>, clocks: Clocks): Promise<void> {
  for await (const each of everyItem((page) => store.allSources(page))) {
    const { id, credential, reading } = each.source;
    recall(polite, each, credential === null ? credentialKey({}, collectionOf(reading) !== undefined) : id, clocks);
  }
}

export function visits({ monotonic, ...parts }: VisitsParts): Visits {
  const [polite, queue] = [politeness(parts), hostQueue()];
  return {
    politeness: polite,
    queue,
    floor: parts.floor,
    begin(first, { isCollection, isTrial, turn, onWait, ...visitor }) {
      const { workspaceId } = visitor;
      const ending = new AbortController();
      const seen = new Set<string>();
      /** First and last request. */
      const asked: (readonly [url: URL, key: string])[] = [];
      const isFirst = turn?.host === hostOf(new URL(first));
      let [current, reserved] = isFirst ? [turn, undefined] : [undefined, turn];
      const release = (each: Turn | undefined) => each?.turn[Symbol.dispose]();
      const giveUp = () => {
        release(reserved);
        reserved = undefined;
      };
      const timer = reserved && setTimeout(giveUp, RESERVED).unref();
      /** Throws LIMITED unless this download asked there before. */
      const requireLeave = (url: URL, key: string) => {
        const wait = seen.has(polite.place(url)) ? undefined : polite.wait(url, { workspaceId, key, isTrial }, monotonic());
        if (wait !== undefined) throw postponed(url, key, wait, monotonic());
      };

      async function moveTo(host: string): Promise<void> {
        release(current);
        current = reserved?.host === host ? reserved : undefined;
        if (current !== undefined) {
          reserved = undefined;
          return;
        }
        onWait?.(true);
        current = { host, turn: await queue.enter({ ...visitor, host }, ending.signal) };
        onWait?.(false);
        if (ending.signal.aborted) release(current);
        ending.signal.throwIfAborted();
      }

      return {
        async before(url, credentials) {
          const key = credentialKey(credentials, isCollection);
          requireLeave(url, key);
          if (current?.host !== hostOf(url)) {
            await moveTo(hostOf(url));
            // Another download may have asked meanwhile.
            requireLeave(url, key);
          }
          polite.asked(url, { workspaceId, key, isTrial }, monotonic());
          seen.add(polite.place(url));
          asked.splice(1, 1, [url, key]);
        },
        refused(status, retryAfter) {
          const ms = leftAlone(status, retryAfter);
          // Includes the first place, which may redirect with another query each time.
          if (ms > 0) for (const [url, key] of asked) polite.backOff(url, { workspaceId, key }, monotonic(), ms);
          return ms;
        },
        [Symbol.dispose]() {
          ending.abort(new WeirError('LIMITED', 'the download has ended'));
          clearTimeout(timer);
          release(current);
          giveUp();
        },
      };
    },
  };
}
