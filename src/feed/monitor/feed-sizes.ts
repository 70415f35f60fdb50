/** Sizes of this process's block feeds, for the history of feeds (SPEC D16.13). */
import type { FamilySize, FeedSizeOfDay } from '../../ports/history.ts';
import type { Family } from '../variant.ts';

interface Feed {
  readonly workspaceId: string;
  readonly feedId: string | null;
}

interface SizeState extends Feed {
  v4: FamilySize | null;
  v6: FamilySize | null;
  /** undefined after a change. */
  exportedFor: number | undefined;
}

export class FeedSizes {
  readonly #feeds = new Map<string, SizeState>();

  /** Builds of one family leave the other unknown. */
  note(feed: Feed, family: Family, v4: number, v6: number): void {
    const key = keyOf(feed);
    const known = this.#feeds.get(key) ?? { ...feed, v4: null, v6: null, exportedFor: undefined };
    this.#feeds.set(key, known);
    if (family !== 'v6') known.v4 = grown(known.v4, v4);
    if (family !== 'v4') known.v6 = grown(known.v6, v6);
    known.exportedFor = undefined;
  }

  forget(feed: Feed): void {
    this.#feeds.delete(keyOf(feed));
  }

  /** Sizes changed since the last call or of a new day; `day` counts from 1970. */
  take(day: number): FeedSizeOfDay[] {
    const exported: FeedSizeOfDay[] = [];
    for (const state of this.#feeds.values()) {
      if (state.exportedFor === day) continue;
      const { workspaceId, feedId, v4, v6 } = state;
      exported.push({ workspaceId, feedId, day, v4, v6 });
      [state.v4, state.v6, state.exportedFor] = [settled(v4), settled(v6), day];
    }
    return exported;
  }
}

const keyOf = ({ workspaceId, feedId }: Feed) => `${workspaceId}/${feedId ?? ''}`;
const grown = (size: FamilySize | null, last: number): FamilySize => ({ last, most: Math.max(last, size?.most ?? 0) });
const settled = (size: FamilySize | null) => size && { last: size.last, most: size.last };
