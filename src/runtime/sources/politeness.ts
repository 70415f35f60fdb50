/**
 * From when on an address may be asked again, whoever wants that (SPEC D23.12, D23.13, D43.1): it outlives the sources that have asked. Instants
 * are of the monotonic clock, ms: setting the other one changes nothing.
 */
import { durationText } from '../../manage/sources/source-settings.ts';
import { hostOf, placeOf } from '../../source/host.ts';

/** What is waited for, and until when; `Number.POSITIVE_INFINITY`: nobody knows. */
export interface Wait {
  readonly for: string;
  readonly until: number;
}

/** Who asks. */
export interface Asker {
  readonly workspaceId: string;
  /** What tells those apart whom a server may answer differently (`whoOf`). */
  readonly who: string;
  /** A trial, for which only the host and its server set times. */
  readonly isTrial?: boolean | undefined;
}

export interface Politeness {
  /** Why an address may not be asked; undefined: it may. */
  wait(url: URL, asker: Asker, now: number): Wait | undefined;
  /** It was asked at an instant. */
  asked(url: URL, asker: Asker, at: number): void;
  /** Its server wants to be left alone for so long, ms, by those who show the same. */
  leaveAlone(url: URL, asker: Asker, now: number, ms: number): void;
  /** Whether two URLs are one address: the second is no other download. */
  place(url: URL): string;
}

export interface PolitenessParts {
  /** Between two downloads of an address of that host, ms; 0: not known. */
  readonly least: (url: URL) => number;
  /** The same of any address for one workspace, ms, so that nobody who refreshes by hand asks all the time. */
  readonly floor: number;
}

/** Between two downloads of any address, ms. */
const LEAST = 1000;
/** Instants that are remembered; beyond it what is over goes, and then the oldest. */
const MOST = 10_000;

export function politeness({ least, floor }: PolitenessParts): Politeness {
  const waits = new Map<string, Wait>();
  const place = (url: URL) => placeOf(url, least(url) > 0);
  /** By what is remembered what the host, this service and the server want. */
  const names = (url: URL, { workspaceId, who }: Asker) => ({
    host: place(url),
    floor: `${place(url)} of ${workspaceId}`,
    answer: `${placeOf(url, false)} as ${who}`,
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
    wait(url, asker, now) {
      const { host, answer, floor: own } = names(url, asker);
      const isFree = asker.isTrial === true;
      const found = [answer, ...(isFree && least(url) === 0 ? [] : [host]), ...(isFree ? [] : [own])].map((name) => waits.get(name));
      const last = found.reduce((a, b) => ((b?.until ?? 0) > (a?.until ?? 0) ? b : a));
      return last !== undefined && last.until > now ? last : undefined;
    },
    asked(url, asker, at) {
      const { host, floor: own } = names(url, asker);
      const interval = Math.max(least(url), asker.isTrial ? 0 : LEAST);
      const text = `the least interval of ${hostOf(url)}: ${durationText(interval / 1000)} for an address`;
      if (interval > 0) note(host, { for: text, until: at + interval }, at);
      if (floor > interval && !asker.isTrial)
        note(own, { for: `the least time between two fetches of an address, ${durationText(floor / 1000)}`, until: at + floor }, at);
    },
    leaveAlone(url, asker, now, ms) {
      note(names(url, asker).answer, { for: `the server of ${hostOf(url)}, which has asked to be left alone`, until: now + ms }, now);
    },
  };
}
