/** The size of a feed, stored or proposed, and its most expensive countries and ASNs (SPEC D18.22). */
import type { BlockGuard, GuardRails } from '../../account/guard-rails.ts';
import { type Clock, instantOf, secondOf, turnOf } from '../../clock.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { SnapshotHead } from '../../ports/snapshot.ts';
import type { StoreReads } from '../../ports/store.ts';
import { fairQueue } from '../../schedule/fair-queue.ts';
import { addressRules, allRules, geoCosts } from '../build/cap-hint.ts';
import { contentAsked } from '../build/render-feed.ts';
import type { FeedCounter, FeedMeasure, FeedMeasurer, MeasureRequest } from '../builder.ts';
import { readSnapshot } from '../index/snapshot.ts';
import { storedVariant, type Variant } from '../variant.ts';

const MOST_COSTS = 10;
const LINE = { running: 1, asked: { inAll: 256, ofWorkspace: 8 }, refusal: 'too many feeds are being measured' };

interface MeasureOptions {
  readonly store: Pick<StoreReads, 'snapshot'>;
  readonly geo: () => GeoDatabase;
  readonly guard: (own: GuardRails) => BlockGuard;
  readonly shares: FeedCounter['shares'];
  readonly clock: Clock;
}

export function feedMeasurer({ store, geo, guard, shares, clock }: MeasureOptions): FeedMeasurer {
  const line = fairQueue(LINE);

  async function measure({ workspaceId, feed }: MeasureRequest): Promise<FeedMeasure | undefined> {
    await turnOf(clock);
    const now = instantOf(clock);
    const snapshot = await readSnapshot(store, { workspaceId, feedId: feed }, now);
    if (snapshot === undefined) return undefined;
    const { profile } = snapshot.head;
    const variant = storedVariant(profile);
    const asOf = secondOf(now.wall);
    const { family, action, format } = variant;
    const factsOf = (asked: Partial<Variant>) => contentAsked(snapshot, asked, asOf, geo(), guard).facts;
    const facts = factsOf({});
    const others = family === 'both' ? undefined : factsOf({ family: family === 'v4' ? 'v6' : 'v4' }).entryCount;
    const v4 = family === 'v6' ? others! : facts.v4Count;
    const direct = addressRules(snapshot, variant, asOf);
    return {
      name: profile.name,
      format,
      family,
      action,
      entries: facts.entryCount,
      v4,
      v6: family === 'v4' ? others! : facts.entryCount - facts.v4Count,
      entryLimit: facts.entryLimit,
      leftOut: facts.trimmed?.leftOut,
      addressRules: direct.v4 + direct.v6,
      rules: allRules(snapshot, variant, asOf),
      costs: geoCosts(snapshot, variant, asOf, geo()).slice(0, MOST_COSTS),
      shares: await shares({ workspaceId, feed, action, family }),
      copies: copiesOf(snapshot.head),
    };
  }

  return {
    measure: (request) => line(request.workspaceId, () => measure(request)),
  };
}

const copiesOf = ({ lists, quorum }: SnapshotHead): FeedMeasure['copies'] =>
  lists.flatMap(({ id, name }, place) => {
    const of = (quorum?.copies[place] ?? []).map((copied) => lists[copied]!.name);
    return of.length === 0 ? [] : [{ id, name, of }];
  });
