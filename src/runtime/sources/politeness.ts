/**
 * When an address may be asked again (SPEC D23.12, D23.13, D43.1, D43.5). The rules outlive the sources that asked. Instants are of the monotonic
 * clock, ms, so that setting the wall clock delays nothing.
 */

import { hostOf, placeOf } from '../../source/host.ts';
import { durationText } from '../../text/duration.ts';

/** Why something has to wait, a noun phrase, and until when; `Number.POSITIVE_INFINITY`: the end is unknown. */
export interface Wait {
  readonly for: string;
  readonly until: number;
}

export interface Client {
  readonly workspaceId: string;
  /** A server may answer clients with different keys differently (`credentialKey`). */
  readonly key: string;
  /** Trials obey the host and its server, and not the intervals of this service. */
  readonly isTrial?: boolean | undefined;
}

export interface Politeness {
  /** The longest wait of an address; undefined: it may be asked. */
  wait(url: URL, client: Client, now: number): Wait | undefined;
  /** Notes a request. */
  asked(url: URL, client: Client, at: number): void;
  /** Notes that a server wants no request with the same key for `ms`. */
  backOff(url: URL, client: Client, now: number, ms: number): void;
  /** The name of an address: URLs with the same name are one address. */
  place(url: URL): string;
}

export interface PolitenessParts {
  /** The least interval of a host between two downloads of an address, ms; 0: unknown. */
  readonly least: (url: URL) => number;
  /** The least interval of an address for one workspace, ms: it bounds refreshes by hand. */
  readonly floor: number;
}

/** The least interval of any address, ms. */
const LEAST = 1000;
/** The number of remembered waits; beyond it those that are over go first, then the oldest. */
const MOST = 10_000;

export function politeness({ least, floor }: PolitenessParts): Politeness {
  const waits = new Map<string, Wait>();
  const place = (url: URL) => placeOf(url, least(url) > 0);
  /** The names of the three waits of a request: of its host, of this service, and of its server. */
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
        note(name.floor, { for: `the least time between two fetches of an address, ${durationText(floor / 1000)}`, until: at + floor }, at);
    },
    backOff(url, client, now, ms) {
      note(names(url, client).answer, { for: `the server of ${hostOf(url)}, which has asked to be left alone`, until: now + ms }, now);
    },
  };
}
