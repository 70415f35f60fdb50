/** What it costs to cut never-block rules out of a block feed (SPEC D7.9). */
import { instantOf, secondOf } from '../../clock.ts';
import { contentOfFeed, entriesWithoutSubtraction } from '../../feed/build/render-feed.ts';
import { readSnapshot } from '../../feed/index/snapshot.ts';
import { DEFAULT_VARIANT } from '../../feed/variant.ts';
import type { StoreReads } from '../../ports/store.ts';
import { plural } from '../../text/count.ts';
import type { Context } from '../context.ts';
import { servedParts } from '../feed-parts.ts';

/** Entries of a block feed of both families, with what is cut out of it now and without. */
export interface SubtractionCost {
  readonly entries: number;
  readonly entries_without_subtraction: number;
}

/** Finds the cost for the feed of a list, a composed one, or the workspace's (null), as rules and settings are then; undefined when it is gone. */
export type FindCost = (
  store: Pick<StoreReads, 'snapshot'>,
  workspaceId: string,
  feedId: string | null,
) => Promise<SubtractionCost | undefined>;

/** Loads the geo data first, so that a file that cannot be used stops a command before it changes anything. */
export async function subtractionCosts(context: Context): Promise<FindCost> {
  const { geo, guard, clock } = await servedParts(context);
  return async (store, workspaceId, feedId) => {
    const now = instantOf(clock);
    const snapshot = await readSnapshot(store, { workspaceId, feedId }, now);
    if (snapshot === undefined) return undefined;
    const { protected: guarded } = guard(snapshot.head.guardRails);
    const of = [snapshot, DEFAULT_VARIANT, secondOf(now.wall), geo, guarded] as const;
    return { entries: contentOfFeed(...of).facts.entryCount, entries_without_subtraction: entriesWithoutSubtraction(...of) };
  };
}

/** The cost in a sentence; empty without one. */
export function costSentence(cost: SubtractionCost | undefined): string {
  if (cost === undefined) return '';
  const more = cost.entries - cost.entries_without_subtraction;
  const change = more === 0 ? 'as many as' : `${Math.abs(more)} ${more > 0 ? 'more' : 'fewer'} than`;
  return `; its block feed has ${plural(cost.entries, 'entry', 'entries')} now, ${change} with never-block rules left in`;
}
