/** How large the block feeds of this process have become, for the history of feeds (SPEC D16.13). */
import type { FamilySize, FeedSizeOfDay } from '../../ports/history.ts';
import type { Family } from '../variant.ts';

/** The feed of a list, a composed feed or a workspace. */
interface Feed {
  readonly workspaceId: string;
  /** null: the workspace's. */
  readonly feedId: string | null;
}

interface SizeState extends Feed {
  v4: FamilySize | null;
  v6: FamilySize | null;
  /** The day of which these were taken last; undefined when they have changed since. */
  takenFor: number | undefined;
}

/** The last and the largest sizes of each feed since they were last taken. */
export class FeedSizes {
  readonly #feeds = new Map<string, SizeState>();

  /** Notes that a feed was built with so many networks; of one family alone the others are not known. */
  note(feed: Feed, family: Family, v4: number, v6: number): void {
    const key = keyOf(feed);
    const known = this.#feeds.get(key) ?? { ...feed, v4: null, v6: null, takenFor: undefined };
    this.#feeds.set(key, known);
    if (family !== 'v6') known.v4 = grown(known.v4, v4);
    if (family !== 'v4') known.v6 = grown(known.v6, v6);
    known.takenFor = undefined;
  }

  /** A feed that is gone, or that nobody asks for any more. */
  forget(feed: Feed): void {
    this.#feeds.delete(keyOf(feed));
  }

  /** The sizes that have changed since the last call, or that are those of a new day; `day` counts from 1970. */
  take(day: number): FeedSizeOfDay[] {
    const taken: FeedSizeOfDay[] = [];
    for (const state of this.#feeds.values()) {
      if (state.takenFor === day) continue;
      const { workspaceId, feedId, v4, v6 } = state;
      taken.push({ workspaceId, feedId, day, v4, v6 });
      [state.v4, state.v6, state.takenFor] = [settled(v4), settled(v6), day];
    }
    return taken;
  }
}

const keyOf = ({ workspaceId, feedId }: Feed) => `${workspaceId}/${feedId ?? ''}`;
const grown = (size: FamilySize | null, last: number): FamilySize => ({ last, most: Math.max(last, size?.most ?? 0) });
/** What is left of a size once its largest was taken. */
const settled = (size: FamilySize | null) => size && { last: size.last, most: size.last };
