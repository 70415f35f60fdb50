/** SPEC D23.12, D23.13, D43.1, D43.5. Survives the sources. Monotonic ms, so clock changes delay nothing. */

import { hostOf, placeOf } from '../../source/host.ts';
import { durationText } from '../../text/duration.ts';

/** A reason (noun phrase) and its end; Infinity: unknown. */
export interface Wait {
  readonly for: string;
  readonly until: number;
}

export interface Client {
  readonly workspaceId: string;
  /** Servers may answer different keys differently (`credentialKey`). */
  readonly key: string;
  /** Trials obey hosts and servers, but not own intervals. */
  readonly isTrial?: boolean | undefined;
}

export interface Politeness {
  /** The longest wait; undefined: none. */
  wait(url: URL, client: Client, now: number): Wait | undefined;
  asked(url: URL, client: Client, at: number): void;
  /** No requests with this key for `ms`. */
  backOff(url: URL, client: Client, now: number, ms: number): void;
  /** Equal names are one place. */
  place(url: URL): string;
}

export interface PolitenessParts {
  /** ms between downloads of one URL; 0: unknown. */
  readonly least: (url: URL) => number;
  /** ms per URL and workspace; limits manual refreshes. */
  readonly floor: number;
}

/** Of any URL, ms. */
const LEAST = 1000;
/** Remembered waits; ended ones go first, then the oldest. */
const MOST = 10_000;

export function politeness({ least, floor }: PolitenessParts): Politeness {
  const waits = new Map<string, Wait>();
  const place = (url: URL) => placeOf(url, least(url) > 0);
  /** The three waits of a request: host, own, server. */
  const names = (url: URL, { workspaceId, key }: Client) => ({
    host: place(url),
    floor: `${place(url)} of ${workspaceId}`,
    answer: `${placeOf(url, false)} as ${key}`,
  });
  const note = (name: string, wait: Wait, now: number) => {
    if ((waits.get(name)?.until ?? 0) >= wait.until) return;
    waits.delete(name);
    waits.set(name, wait);
    if (waits.size > MOST) for (const [each, { until }] of waits) if (until <= now) waits.delete(each);
    if (waits.size > MOST) waits.delete(waits.keys().next().value!);
  };
  return {
    place,
    wait(url, client, now) {
      const name = names(url, client);
      const own = [name.host, name.floor];
      const found = [name.answer, ...(client.isTrial ? own.slice(0, least(url) > 0 ? 1 : 0) : own)].map((each) => waits.get(each));
      const last = found.reduce((a, b) => ((b?.until ?? 0) > (a?.until ?? 0) ? b : a));
      return last !== undefined && last.until > now ? last : undefined;
    },
    asked(url, client, at) {
      const name = names(url, client);
      const interval = Math.max(least(url), client.isTrial ? 0 : LEAST);
      const text = `the least interval of ${hostOf(url)}: ${durationText(interval / 1000)} for an address`;
      if (interval > 0) note(name.host, { for: text, until: at + interval }, at);
      if (floor > interval && !client.isTrial)
        note(
          name.floor,
          { for: `the minimum interval between two fetches of an address, ${durationText(floor / 1000)}`, until: at + floor },
          at,
        );
    },
    backOff(url, client, now, ms) {
      note(names(url, client).answer, { for: `the server of ${hostOf(url)}, which requested a pause`, until: now + ms }, now);
    },
  };
}
