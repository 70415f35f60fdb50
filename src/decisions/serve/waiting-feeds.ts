/** Waiting clients by workspace and feed, within limits (SPEC D50.3), and by the end of their time. */
import type { DecisionMark } from '../decisions.ts';

export interface MostWaiting {
  readonly ofKey: number;
  readonly ofWorkspace: number;
  readonly inAll: number;
}

/** Time that a feed without clients is known, ms: its clients return for the next change. */
const KEPT = 10_000;
/** Clients of the same slot are released together, ms. */
const SLOT = 100;

export interface WaitingClient {
  readonly keyId: string;
  readonly feed: WaitingFeed;
  /** ms, monotonic */
  readonly until: number;
  readonly resolve: (mayWait: boolean) => void;
}

export interface WaitingFeed {
  readonly workspaceId: string;
  readonly feedId: string | null;
  readonly clients: Set<WaitingClient>;
  /** The newest known. */
  mark: DecisionMark | undefined;
  /** `mark` contains this revision. */
  revision: number | undefined;
  /** Whole seconds. */
  nextExpiry: number;
  /** ms, monotonic */
  fetchedAt: number;
  usedAt: number;
}

export interface WaitingWorkspace {
  readonly id: string;
  readonly feeds: Map<string | null, WaitingFeed>;
  readonly ofKey: Map<string, number>;
  size: number;
  /** The last one read. */
  revision: number | undefined;
  isRefreshing: boolean;
  /** No rebuild until then; ms, monotonic. */
  notBefore: number;
}

export class WaitingFeeds {
  readonly #workspaces = new Map<string, WaitingWorkspace>();
  readonly #slots = new Map<number, Set<WaitingClient>>();
  readonly #most: MostWaiting;
  /** Last released slot. */
  #slot = 0;
  size = 0;

  constructor(most: MostWaiting) {
    this.#most = most;
  }

  get isEmpty(): boolean {
    return this.#workspaces.size === 0;
  }

  workspaces(): Iterable<WaitingWorkspace> {
    return this.#workspaces.values();
  }

  workspaceIds(): string[] {
    return [...this.#workspaces.keys()];
  }

  seen(workspaceId: string, revision: number): void {
    const workspace = this.#workspaces.get(workspaceId);
    if (workspace !== undefined) workspace.revision = revision;
  }

  /** `now`: ms, monotonic. */
  feed(workspaceId: string, feedId: string | null, now: number): WaitingFeed {
    const workspace = this.#workspaces.get(workspaceId) ?? newWorkspace(workspaceId);
    this.#workspaces.set(workspaceId, workspace);
    const feed = workspace.feeds.get(feedId) ?? newFeed(workspaceId, feedId, now);
    workspace.feeds.set(feedId, feed);
    feed.usedAt = now;
    return feed;
  }

  /** If all places are taken, the workspace with most gives one up. */
  add(client: WaitingClient): boolean {
    const { feed, keyId } = client;
    const workspace = this.#workspaces.get(feed.workspaceId)!;
    const ofKey = workspace.ofKey.get(keyId) ?? 0;
    if (ofKey >= this.#most.ofKey || workspace.size >= this.#most.ofWorkspace) return false;
    if (this.size >= this.#most.inAll) {
      const largest = this.#workspaces.values().reduce((most, each) => (each.size > most.size ? each : most));
      if (largest.size <= workspace.size) return false;
      const crowded = largest.feeds.values().reduce((most, each) => (each.clients.size > most.clients.size ? each : most));
      this.release(crowded.clients.values().next().value!, false);
    }
    workspace.ofKey.set(keyId, ofKey + 1);
    workspace.size += 1;
    this.size += 1;
    feed.clients.add(client);
    if (this.#slots.size === 0) this.#slot = Math.floor(feed.usedAt / SLOT);
    const slot = slotOf(client);
    const sameEnd = this.#slots.get(slot) ?? new Set();
    this.#slots.set(slot, sameEnd.add(client));
    return true;
  }

  release(client: WaitingClient, mayWait: boolean): void {
    const { feed, keyId } = client;
    if (!feed.clients.delete(client)) return;
    const workspace = this.#workspaces.get(feed.workspaceId)!;
    const left = workspace.ofKey.get(keyId)! - 1;
    if (left === 0) workspace.ofKey.delete(keyId);
    else workspace.ofKey.set(keyId, left);
    workspace.size -= 1;
    this.size -= 1;
    const sameEnd = this.#slots.get(slotOf(client));
    sameEnd?.delete(client);
    if (sameEnd?.size === 0) this.#slots.delete(slotOf(client));
    client.resolve(mayWait);
  }

  all(): WaitingClient[] {
    return [...this.#slots.values()].flatMap((clients) => [...clients]);
  }

  /** Also forgets unused feeds. `now`: ms, monotonic. */
  expire(now: number): WaitingClient[] {
    const slot = Math.floor(now / SLOT);
    if (slot === this.#slot) return [];
    const ended: WaitingClient[] = [];
    for (let end = this.#slot + 1; end <= slot; end += 1) ended.push(...(this.#slots.get(end) ?? []));
    this.#slot = slot;
    for (const [id, workspace] of this.#workspaces) {
      for (const [feedId, feed] of workspace.feeds) {
        if (feed.clients.size > 0) feed.usedAt = now;
        else if (now > feed.usedAt + KEPT) workspace.feeds.delete(feedId);
      }
      if (workspace.feeds.size === 0 && !workspace.isRefreshing) this.#workspaces.delete(id);
    }
    return ended;
  }
}

/** The slot begins after the client's time. */
const slotOf = ({ until }: WaitingClient): number => Math.ceil(until / SLOT);

const newWorkspace = (id: string): WaitingWorkspace => ({
  ...{ id, feeds: new Map(), ofKey: new Map(), size: 0 },
  ...{ revision: undefined, isRefreshing: false, notBefore: Number.NEGATIVE_INFINITY },
});

const newFeed = (workspaceId: string, feedId: string | null, now: number): WaitingFeed => ({
  ...{ workspaceId, feedId, clients: new Set(), mark: undefined, revision: undefined },
  ...{ nextExpiry: Number.POSITIVE_INFINITY, fetchedAt: now, usedAt: now },
});
