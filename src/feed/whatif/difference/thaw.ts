/** Compares a frozen feed with what it serves after a thaw (SPEC D60.6). */
import { instantOf, secondOf } from '../../../clock.ts';
import { WeirError } from '../../../errors.ts';
import type { StoreReads } from '../../../ports/store.ts';
import { addressesIn } from '../../build/content.ts';
import { contentAsked } from '../../build/render-feed.ts';
import { FeedRanges } from '../../index/feed-ranges.ts';
import { readSnapshot, type Snapshot } from '../../index/snapshot.ts';
import { WorkspaceRules } from '../../index/workspace-rules.ts';
import { storedVariant, variantOf } from '../../variant.ts';
import { compared, type DifferenceOptions, type FeedDifference, type ThawAsked } from './difference.ts';

interface Options extends Omit<DifferenceOptions, 'store'> {
  readonly store: Pick<StoreReads, 'snapshot' | 'follow'>;
}

/** Rejects with NOT_FOUND for a deleted feed, and with REFUSED for one that is not frozen. */
export async function thawDifference(
  workspaceId: string,
  { thawed: feedId, limit }: ThawAsked,
  { store, geo, guard, clock }: Options,
): Promise<FeedDifference> {
  const read = await new WorkspaceRules(clock).read((now, known, sink) => store.follow(workspaceId, feedId, now.wall, known, sink), []);
  const now = instantOf(clock);
  const after = await readSnapshot(store, { workspaceId, feedId }, now);
  if (read === undefined || after === undefined) throw new WeirError('NOT_FOUND', 'the feed was deleted');
  if (read.head.frozenSince === undefined) throw new WeirError('REFUSED', 'the feed is not frozen');
  const before: Snapshot = { ...read, at: { ...read.at, sequence: 0 }, stored: new Map(), ranges: new FeedRanges() };
  const stored = storedVariant(after.head.profile);
  const { action, family } = stored;
  const at = (snapshot: Snapshot) => {
    const asked = variantOf({ format: 'plain', action, family }, stored);
    const { content, facts } = contentAsked(snapshot, asked, secondOf(now.wall), geo, guard);
    return { addresses: addressesIn(content), size: { entries: facts.entryCount, overCap: facts.entryCount > facts.entryLimit } };
  };
  return compared({ action, family }, [at(before), at(after)], limit);
}
