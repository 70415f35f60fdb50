/** Counts the entries of feeds by list and key (SPEC D10.21), in steps between builds, within a time budget per workspace. */
import { type Clock, secondOf, timeUntil, turnOf, within } from '../../clock.ts';
import { hasCode } from '../../errors.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { SenderCount, SenderPlace } from '../../ports/stored/rule-queries.ts';
import { oneByOne } from '../../serial.ts';
import type { FeedCounter, SharesRequest } from '../builder.ts';
import { countNetworks, geoName } from '../geo-cost.ts';
import { type FeedShares, type Share, sharesOf } from '../shares.ts';
import type { Family } from '../variant.ts';

/** Rules: a few milliseconds. */
const STEP_RULES = 5_000;
/** Limit of one count, and of its wait, ms. */
const LONGEST = 2_000;
/** Time budget of a workspace, ms, and its refill per ms. */
const ALLOWANCE = 4_000;
const REGAINED = 0.05;
const MOST_CACHED = 1_000;
const MOST_WAITING = 50;

interface CounterOptions {
  readonly store: Pick<StoreReads, 'senderStep'>;
  readonly geo: () => GeoDatabase;
  readonly clock: Clock;
}

/** One feed after the other, in the calling thread. */
export function shareCounter({ store, geo, clock }: CounterOptions): FeedCounter {
  const inTurn = oneByOne();
  const cache = new Map<string, { readonly shares: FeedShares; readonly revision: number | undefined }>();
  const spent = new Map<string, { ms: number; at: number }>();
  let waiting = 0;

  /** ms. */
  function spentBy(workspaceId: string): number {
    const { ms, at } = spent.get(workspaceId) ?? { ms: 0, at: 0 };
    return Math.max(0, ms - (clock.monotonic() - at) * REGAINED);
  }

  function spend(workspaceId: string, ms: number): void {
    const now = spentBy(workspaceId) + ms;
    for (const id of spent.keys()) if (spentBy(id) === 0) spent.delete(id);
    spent.set(workspaceId, { ms: now, at: clock.monotonic() });
  }

  async function count({ workspaceId, feed, action, family }: SharesRequest): Promise<FeedShares | undefined> {
    const begun = clock.monotonic();
    const at = secondOf(clock.now()) * 1000;
    const tally = new Tally(family, geo());
    const left = () => timeUntil(begun + LONGEST, clock.monotonic());
    let after: SenderPlace | undefined;
    let isComplete = false;
    try {
      while (!isComplete && left() > 0) {
        const step = store.senderStep(workspaceId, feed, { action, at, after, limit: STEP_RULES });
        const { counts, next } = await within(step, left(), 'the store', clock);
        for (const each of counts) tally.add(each);
        after = next ?? undefined;
        isComplete = next === null;
        await turnOf(clock);
      }
    } catch (error) {
      if (!hasCode(error as Error, 'TIMEOUT')) throw error;
      if (after === undefined) return undefined;
    } finally {
      spend(workspaceId, clock.monotonic() - begun);
    }
    return tally.shares(isComplete);
  }

  function keep(name: string, found: { readonly shares: FeedShares; readonly revision: number | undefined }): void {
    cache.delete(name);
    cache.set(name, found);
    const [oldest] = cache.keys();
    if (cache.size > MOST_CACHED && oldest !== undefined) cache.delete(oldest);
  }

  return {
    async shares(request) {
      const { workspaceId, feed, action, family, revision } = request;
      const isStored = feed === null || typeof feed === 'string';
      const name = `${workspaceId} ${isStored ? feed : ''} ${action} ${family}`;
      const last = isStored ? cache.get(name) : undefined;
      if (last !== undefined && last.revision === revision && revision !== undefined) return last.shares;
      if (waiting >= MOST_WAITING || spentBy(workspaceId) >= ALLOWANCE) return last?.shares;
      waiting += 1;
      const asked = clock.monotonic();
      const shares = await inTurn(async () => (clock.monotonic() - asked > LONGEST ? undefined : count(request))).finally(() => {
        waiting -= 1;
      });
      if (shares === undefined) return last?.shares;
      if (isStored) keep(name, { shares, revision });
      return shares;
    },
  };
}

const NO_KEY = 'no key (people, commands and other producers)';
const FORGOTTEN = 'sent more than a week ago';
const DELETED = 'a deleted key';

class Tally {
  readonly #family: Family;
  readonly #geo: GeoDatabase;
  readonly #networks = new Map<string, number>();
  readonly #lists = new Map<string, Share>();
  readonly #keys = new Map<string, Share>();
  #rules = 0;

  constructor(family: Family, geo: GeoDatabase) {
    this.#family = family;
    this.#geo = geo;
  }

  add(counted: SenderCount): void {
    const { list, sender, rules } = counted;
    this.#rules += rules;
    const entries = rules * this.#cost(counted);
    addShare(this.#lists, list.id, list.name, entries);
    // Deleted keys have no distinguishing names, hence one row.
    if (sender === undefined) addShare(this.#keys, FORGOTTEN, FORGOTTEN, entries);
    else if (sender === null) addShare(this.#keys, NO_KEY, NO_KEY, entries);
    else addShare(this.#keys, sender.name === null ? DELETED : sender.id, sender.name ?? DELETED, entries);
  }

  #cost({ family, geo: target }: SenderCount): number {
    if (target === null) return this.#family === 'both' || this.#family === `v${family}` ? 1 : 0;
    const name = geoName(target);
    const networks = this.#networks.get(name) ?? countNetworks(this.#geo.ranges(target), this.#family);
    this.#networks.set(name, networks);
    return networks;
  }

  shares(isComplete: boolean): FeedShares {
    return {
      lists: sharesOf([...this.#lists.values()]),
      keys: sharesOf([...this.#keys.values()]),
      ofRules: isComplete ? null : this.#rules,
    };
  }
}

function addShare(shares: Map<string, Share>, place: string, name: string, entries: number): void {
  shares.set(place, { name, entries: entries + (shares.get(place)?.entries ?? 0) });
}
