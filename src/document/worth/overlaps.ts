/** What lists have in common, each with each, and what only one of them has (SPEC D30.2). */
import { addressCount, addressSet, intersection, united } from '@weir/network/address-set.ts';
import type { Listed, Share } from './listed.ts';

/** What one of several lists has. */
export interface Standing extends Share {
  /** What no other has: entries none of whose addresses is in another list, and addresses. */
  readonly unique: Share;
  /** What each of the others has of it, by their place; null at its own. */
  readonly overlaps: readonly (Share | null)[];
}

/** Each list beside all others. `pause` is called now and then, and may end it by rejecting. */
export async function overlapsOf(lists: readonly Listed[], pause: () => Promise<void>): Promise<Standing[]> {
  // What two lists have at least: each list is taken into what was seen before it.
  let [seen, shared] = [addressSet([]), addressSet([])];
  for (const { addresses } of lists) {
    shared = united(shared, intersection(addresses, seen));
    seen = united(seen, addresses);
    await pause();
  }
  const standings: Standing[] = [];
  for (const list of lists) {
    const { entries, addresses } = list;
    const all = addressCount(addresses);
    const common = list.shareIn(shared);
    const unique = { entries: entries - common.entries, v4: all.v4 - common.v4, v6: all.v6 - common.v6 };
    const overlaps = lists.map((other) => (other === list ? null : list.shareIn(other.addresses)));
    standings.push({ entries, ...all, unique, overlaps });
    await pause();
  }
  return standings;
}
