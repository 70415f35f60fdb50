/**
 * SPEC D50.1 to D50.4. After a commit of any process the workspaces' revisions are read; where one has changed, the store is read and the
 * content rebuilt once for all clients of a feed.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import { isCanaryId, plainId } from '../../feed/canary.ts';
import { DECISIONS } from '../../feed/document.ts';
import type { DocumentCache } from '../../feed/serve/cache.ts';
import type { StoreReads } from '../../ports/store.ts';
import { inChunks } from '../../schedule/chunks.ts';
import { type DecisionMark, markOf } from '../decisions.ts';
import { type MostWaiting, type WaitingClient, type WaitingFeed, WaitingFeeds, type WaitingWorkspace } from './waiting-feeds.ts';

/** Interval of the clock's work, ms. */
const TICK = 50;
/** Shortest interval between looks at the revisions, and between rebuilds of a workspace, ms. */
const SHORTEST = 100;
/** Longest interval between looks while anybody waits, ms: a commit may have been missed. */
const LONGEST = 1_000;
/** Pause of a workspace for each client answered, ms: the answers take the process's time. */
const PER_CLIENT = 0.2;
/** Clients answered in one turn of the event loop. */
const AT_ONCE = 50;
/** Time until a feed is looked at as if fetched, ms, if FEED_REBUILD_SECONDS is shorter. */
const SHORTEST_FETCH = 5_000;

export interface WaitingParts {
  readonly documents: Pick<DocumentCache, 'findNamed'>;
  readonly store: Pick<StoreReads, 'revisions' | 'watchCommits'>;
  readonly clock: Clock;
  /** ms */
  readonly interval: number;
  readonly most: MostWaiting;
}

/** An AbortSignal for each of 10,000 clients would cost a quarter of their time. */
export interface Line {
  isOpen: boolean;
  /** Called if the client disconnects. */
  onClose: () => void;
}

export interface WaitRequest {
  readonly workspaceId: string;
  /** `canaryId` for canaries. */
  readonly feedId: string | null;
  readonly keyId: string;
  /** null: its feed is over its cap. */
  readonly mark: DecisionMark | null;
  /** ms, monotonic. */
  readonly until: number;
  readonly line: Line;
}

export class Waiting {
  readonly #parts: WaitingParts;
  readonly #feeds: WaitingFeeds;
  #isDraining = false;
  #stop: (() => void) | undefined;
  /** ms, monotonic */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isLooking = false;
  #isHinted = false;

  constructor(parts: WaitingParts) {
    this.#parts = parts;
    this.#feeds = new WaitingFeeds(parts.most);
  }

  get size(): number {
    return this.#feeds.size;
  }

  /**
   * True: the feed has changed. False: the client must be answered with what is known: at the end of its time, while draining, or if it has
   * disconnected. 'newer': there is a newer version. undefined: too many wait.
   */
  wait({ workspaceId, feedId, keyId, mark, until, line }: WaitRequest): Promise<boolean> | 'newer' | undefined {
    const now = this.#parts.clock.monotonic();
    if (this.#isDraining || !line.isOpen || now >= until) return Promise.resolve(false);
    const feed = this.#feeds.feed(workspaceId, feedId, now);
    // Its feed may have changed since the last client waited.
    if (mark === null && feed.clients.size === 0) feed.mark = feed.revision = undefined;
    if (feed.mark !== undefined && (mark === null || isNewer(feed.mark, mark))) return 'newer';
    // The version of an answer made just now: the others lack it.
    if (mark !== null && !isSameMark(feed.mark, mark)) void this.#release([...feed.clients], true);
    feed.mark = mark ?? undefined;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const client: WaitingClient = { keyId, feed, until, resolve };
    if (!this.#feeds.add(client)) return undefined;
    line.onClose = () => this.#feeds.release(client, false);
    this.#start();
    // Something may have changed since this client's version was made.
    if (feed.clients.size === 1) this.#hint();
    return promise;
  }

  /** Answers all clients, and every later one immediately. */
  drain(): void {
    this.#isDraining = true;
    this.#stop?.();
    void this.#release(this.#feeds.all(), false);
  }

  /** In turns, because each answer takes its time. Returns the number of clients. */
  async #release(clients: readonly WaitingClient[], mayWait: boolean): Promise<number> {
    for (const some of inChunks(clients, AT_ONCE)) {
      for (const client of some) this.#feeds.release(client, mayWait);
      await turn();
    }
    return clients.length;
  }

  #start(): void {
    if (this.#stop !== undefined) return;
    const { store, clock } = this.#parts;
    const unwatch = store.watchCommits(() => this.#hint());
    let cancel = () => {};
    this.#stop = () => {
      this.#stop = undefined;
      cancel();
      unwatch();
    };
    const tick = () => {
      cancel = clock.after(TICK, tick);
      this.#tick();
    };
    tick();
  }

  #hint(): void {
    this.#isHinted = true;
    void this.#look(SHORTEST);
  }

  #tick(): void {
    const now = this.#parts.clock.monotonic();
    void this.#release(this.#feeds.expire(now), false);
    if (this.#feeds.isEmpty) {
      this.#stop?.();
      return;
    }
    void this.#look(this.#isHinted ? SHORTEST : LONGEST);
    this.#refreshDue();
  }

  /** Reads unless it did less than `interval` ms ago. */
  async #look(interval: number): Promise<void> {
    const { store, clock } = this.#parts;
    if (this.#isLooking || clock.monotonic() < this.#lookedAt + interval) return;
    this.#isLooking = true;
    this.#isHinted = false;
    this.#lookedAt = clock.monotonic();
    try {
      const revisions = await store.revisions(this.#feeds.workspaceIds());
      for (const [id, revision] of revisions) this.#feeds.seen(id, revision);
      this.#refreshDue();
    } catch {
      // The next look tries again; polls report a store that is down.
    } finally {
      this.#isLooking = false;
    }
  }

  #refreshDue(): void {
    const now = this.#parts.clock.monotonic();
    for (const workspace of this.#feeds.workspaces()) {
      if (workspace.isRefreshing || now < workspace.notBefore) continue;
      const due = [...workspace.feeds.values()].filter((feed) => this.#isDue(workspace, feed, now));
      if (due.length > 0) void this.#refresh(workspace, due);
    }
  }

  #isDue({ revision }: WaitingWorkspace, feed: WaitingFeed, now: number): boolean {
    if (feed.clients.size === 0) return false;
    const isChanged = revision !== undefined && feed.revision !== revision;
    return isChanged || this.#parts.clock.now() >= feed.nextExpiry * 1000 || now >= feed.fetchedAt + this.#fetchEvery;
  }

  get #fetchEvery(): number {
    return Math.max(SHORTEST_FETCH, this.#parts.interval);
  }

  /** A workspace takes one turn of the feed thread at a time, and half of the time at most. */
  async #refresh(workspace: WaitingWorkspace, due: readonly WaitingFeed[]): Promise<void> {
    const { clock } = this.#parts;
    const begun = clock.monotonic();
    let pause = 0;
    workspace.isRefreshing = true;
    for (const feed of due) pause += await this.#refreshFeed(workspace, feed);
    workspace.isRefreshing = false;
    const now = clock.monotonic();
    workspace.notBefore = Math.max(begun + SHORTEST, now + (now - begun), now + pause);
  }

  /** Returns the pause that it causes, ms. */
  async #refreshFeed(workspace: WaitingWorkspace, feed: WaitingFeed): Promise<number> {
    const { documents, clock } = this.#parts;
    const { revision } = workspace;
    const isUrgent = feed.revision !== revision;
    feed.fetchedAt = clock.monotonic();
    const [feedId, isOfCanaries] = [plainId(feed.feedId), isCanaryId(feed.feedId)];
    const [first] = feed.clients;
    const query = {
      workspaceId: workspace.id,
      list: feedId,
      variant: DECISIONS,
      boundTo: feedId,
      keyId: isOfCanaries ? first?.keyId : undefined,
    };
    try {
      const { found, named } = await documents.findNamed(query, false, isUrgent);
      feed.revision = revision;
      // A canary that has begun or ended: these have another content now.
      const moved = [...feed.clients].filter(({ keyId }) => (named?.canaries?.includes(keyId) ?? false) !== isOfCanaries);
      if (moved.length > 0) await this.#release(moved, true);
      if (found.kind !== 'document') {
        // These wait for the end of the refusal.
        if (feed.mark === undefined) return 0;
        feed.mark = undefined;
        return PER_CLIENT * (await this.#release([...feed.clients], true));
      }
      feed.nextExpiry = found.facts.nextExpiry;
      const mark = markOf(found.hash);
      if (feed.mark?.builder === mark.builder && !isNewer(mark, feed.mark)) return 0;
      feed.mark = mark;
      return PER_CLIENT * (await this.#release([...feed.clients], true));
    } catch {
      // The document cache has reported it.
      return LONGEST;
    }
  }
}

/** Of one log: the versions of another one, as after a restart, are not comparable. */
const isNewer = (mark: DecisionMark, than: DecisionMark): boolean => mark.builder === than.builder && mark.version > than.version;

export const isSameMark = (one: DecisionMark | null | undefined, other: DecisionMark): boolean =>
  one?.builder === other.builder && one.version === other.version;
