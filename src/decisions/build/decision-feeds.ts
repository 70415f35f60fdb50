/** Feeds in memory, least recently used first, within limits that workspaces share (SPEC D14.16). */

/** In networks: published now, published recently, and unpublished recently. */
export interface NetworkBounds {
  readonly ofWorkspace: number;
  readonly inAll: number;
}

/** About 70 bytes each. */
export const MOST_NETWORKS: NetworkBounds = { ofWorkspace: 2_000_000, inAll: 8_000_000 };

/** null: the workspace's own feed. */
export interface FeedName {
  readonly workspaceId: string;
  readonly feedId: string | null;
}

/** `size` is in networks. */
export class DecisionFeeds<T extends { readonly size: number }> {
  readonly #bounds: NetworkBounds;
  /** By workspace, the least recently used first. */
  readonly #workspaces = new Map<string, Map<string | null, T>>();

  constructor(bounds: NetworkBounds) {
    this.#bounds = bounds;
  }

  /** Marks it as used now. */
  use({ workspaceId, feedId }: FeedName): T | undefined {
    const feeds = this.#workspaces.get(workspaceId);
    const found = feeds?.get(feedId);
    if (feeds === undefined || found === undefined) return undefined;
    feeds.delete(feedId);
    feeds.set(feedId, found);
    return found;
  }

  add({ workspaceId, feedId }: FeedName, feed: T): void {
    const feeds = this.#workspaces.get(workspaceId) ?? new Map<string | null, T>();
    this.#workspaces.set(workspaceId, feeds.set(feedId, feed));
  }

  delete({ workspaceId, feedId }: FeedName): void {
    const feeds = this.#workspaces.get(workspaceId);
    feeds?.delete(feedId);
    if (feeds?.size === 0) this.#workspaces.delete(workspaceId);
  }

  /**
   * The least recently used ones beyond the limits: first of this workspace, then of the largest ones. A workspace keeps at least one.
   * Returns the evicted feeds.
   */
  trim(workspaceId: string): FeedName[] {
    const dropped: FeedName[] = [];
    const sizes = new Map(this.#workspaces.entries().map(([id, feeds]) => [id, sizeOf(feeds)]));
    let all = sizes.values().reduce((sum, size) => sum + size, 0);
    const dropFrom = (id: string) => {
      const feeds = this.#workspaces.get(id)!;
      const [feedId, feed] = feeds.entries().next().value!;
      feeds.delete(feedId);
      dropped.push({ workspaceId: id, feedId });
      sizes.set(id, sizes.get(id)! - feed.size);
      all -= feed.size;
    };
    const has = (id: string) => (this.#workspaces.get(id)?.size ?? 0) > 1;
    while ((sizes.get(workspaceId) ?? 0) > this.#bounds.ofWorkspace && has(workspaceId)) dropFrom(workspaceId);
    while (all > this.#bounds.inAll) {
      const [most] = [...sizes].filter(([id]) => has(id)).sort(([, a], [, b]) => b - a);
      if (most === undefined) break;
      dropFrom(most[0]);
    }
    return dropped;
  }
}

const sizeOf = (feeds: ReadonlyMap<string | null, { readonly size: number }>): number =>
  feeds.values().reduce((sum, { size }) => sum + size, 0);
