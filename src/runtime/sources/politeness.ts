/** From when on an address may be asked again, whoever wants that: it outlives the sources that have asked (SPEC D23.12, D23.13). All times in ms of the monotonic clock: setting the other one changes nothing. */

/** Between two downloads of any address. */
const LEAST = 1000;
/** Addresses that are remembered; the one that was asked longest ago is forgotten first. */
const MOST = 10_000;

/** `least`: what must lie between two downloads from the host of an address, 0: not known. */
export function politeness() {
  const known = new Map<string, { readonly at: number; readonly until: number }>();
  // Where the host is known for its rules another query is no other address.
  const nameOf = (url: string, least: number): string => {
    const { origin, pathname } = new URL(url);
    return least > 0 ? origin + pathname : url;
  };
  const set = (url: string, least: number, change: { readonly at?: number; readonly until?: number }) => {
    const name = nameOf(url, least);
    const before = known.get(name) ?? { at: 0, until: 0 };
    known.delete(name);
    known.set(name, { ...before, ...change });
    if (known.size > MOST) known.delete(known.keys().next().value!);
  };
  return {
    /** When an address may be asked next. */
    earliest(url: string, least: number): number {
      const one = known.get(nameOf(url, least));
      return one === undefined ? 0 : Math.max(one.at + Math.max(least, LEAST), one.until);
    },
    /** It is asked now. */
    asked: (url: string, least: number, now: number): void => set(url, least, { at: now }),
    /** Its server wants to be left alone until then. */
    leaveAlone: (url: string, least: number, until: number): void => set(url, least, { until }),
  };
}
