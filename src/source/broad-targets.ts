/** Countries and ASNs in a list: few lines, many networks. */
import { geoCost, geoName } from '../feed/geo-cost.ts';
import type { GeoDatabase } from '../ports/geo.ts';
import type { GeoTarget } from '../rule.ts';
import type { PassedRow, PlacedEntry } from './readers/content.ts';
import type { ListEntry } from './readers/entry.ts';
import type { LineFault } from './readers/items.ts';

export interface BroadTargets {
  readonly countries: number;
  readonly asns: number;
  readonly networks: number;
}

export const broadTarget = ({ target, action }: Pick<ListEntry, 'target' | 'action'>): GeoTarget | undefined =>
  target.kind === 'ip' || action === 'unblock' ? undefined : target;

/** Reports them as faults and collects them in `skipped`. */
export async function* withoutBroad(
  entries: AsyncIterable<PlacedEntry | LineFault | PassedRow>,
  skipped: PlacedEntry[],
): AsyncGenerator<PlacedEntry | LineFault | PassedRow> {
  for await (const each of entries) {
    const target = 'entry' in each ? broadTarget(each.entry) : undefined;
    if (target === undefined) yield each;
    else {
      skipped.push(each as PlacedEntry);
      yield { fault: `${geoName(target)} consists of many networks and is sent only after confirmation`, place: each.place };
    }
  }
}

/** Entries per turn. */
const SLICE = 1000;

export async function broadOf(
  entries: Iterable<Pick<ListEntry, 'target' | 'action'>>,
  geo: GeoDatabase,
  pause: () => Promise<void>,
): Promise<BroadTargets | undefined> {
  const found = new Map<string, GeoTarget>();
  let seen = 0;
  for (const entry of entries) {
    seen += 1;
    if (seen % SLICE === 0) await pause();
    const target = broadTarget(entry);
    if (target !== undefined) found.set(target.kind === 'asn' ? `AS${target.asn}` : target.country, target);
  }
  if (found.size === 0) return undefined;
  let [countries, networks] = [0, 0];
  for (const target of found.values()) {
    if (target.kind === 'country') countries += 1;
    networks += geoCost(target, geo).networks;
    await pause();
  }
  return { countries, asns: found.size - countries, networks };
}

export const broadText = ({ countries, asns, networks }: BroadTargets): string =>
  [...counted(countries, 'country', 'countries'), ...counted(asns, 'ASN', 'ASNs'), ...counted(networks, 'network', 'networks')].join(', ');

const counted = (count: number, one: string, many: string): string[] =>
  count === 0 ? [] : [`${count.toLocaleString('en')} ${count === 1 ? one : many}`];
