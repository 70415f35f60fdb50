import type { StoreReads, StoreWrites } from '../ports.ts';
import { Bodies } from './bodies.ts';
import type { BuildResult, FeedBuilder } from './build.ts';
import { type Clock, secondOf, within } from './clock.ts';
import { Directory, type Resolution } from './directory.ts';
import { type View, viewOf } from './names.ts';
import { type Representation, representationOf, type TooLarge } from './representation.ts';
import { type Moment, SharedWork } from './shared-work.ts';
import { ViewState } from './view-state.ts';

export interface FeedCacheOptions {
  readonly store: Pick<StoreReads, 'directory'> & Pick<StoreWrites, 'recordFeed'>;
  readonly builder: FeedBuilder;
  readonly clock: Clock;
  /** How old a read of the store may be that a feed is served from; 0: every request reads. */
  readonly rebuildSeconds: number;
  /** How many bytes of bodies are kept. */
  readonly bodyBytes: number;
  /** The version of the geo data in use now. */
  readonly geoVersion: () => string;
  /** Names the compressor's version and machine: part of the tags of compressed bodies. */
  readonly zlib: string;
  /** Resolves when landing has reached the end that the stream has now; undefined where this process does not land. */
  readonly caughtUp: (() => Promise<void>) | undefined;
  /** Told what went wrong when a feed is served from memory or not at all. */
  readonly report: (error: Error) => void;
}

/** Which feed a request asks for, and by which right. */
export interface FeedQuery {
  readonly workspaceId: string;
  /** A list's UUID or name; null is the workspace's feed. */
  readonly list: string | null;
  /** What the request itself says; the list's stored defaults supply the rest (spec 4.4.3). */
  readonly view: Partial<View>;
  /** The only list that the caller may read, or null. */
  readonly boundTo: string | null;
}

export type Found =
  | Representation
  | TooLarge
  | { readonly kind: 'unknown_list' }
  /** The UUIDs of the lists that have the name. */
  | { readonly kind: 'ambiguous'; readonly lists: readonly string[] }
  /** Not the list that the caller is bound to. */
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'no_workspace' };

/** The store does not answer and memory holds nothing good enough. */
export class FeedUnavailable extends Error {
  override readonly name = 'FeedUnavailable';
}

/** How long a request waits for the store, ms: at first, and while it is known not to answer. */
const PATIENCE = 10_000;
const SHORT_PATIENCE = 1_000;
/** How long the store is left alone after it has failed, at most, ms. */
const PAUSE = 1_000;
const CAUGHT_UP_LIMIT = 2_000;
const RECORD_LIMIT = 2_000;
/** How long the last good snapshot is served, and unused feeds are remembered, ms. */
const KEEP = 24 * 3_600_000;
const PRUNE_EVERY = 3_600_000;
/** How often a build is repeated because a rule lapsed while it ran. */
const ROUNDS = 3;

interface Workspace {
  readonly id: string;
  directory: Directory | undefined;
  /** Places the directory's read in the order of things. */
  readBegan: Moment;
  /** ms: when the store was asked for it. */
  readAt: number;
  /** ms: until then the directory counts as current. */
  freshUntil: number;
  /** Whether the last read of the directory failed. */
  failed: boolean;
  readonly reading: SharedWork<void>;
  readonly feeds: Map<string | null, Feed>;
}

interface Feed {
  readonly workspace: Workspace;
  readonly listId: string | null;
  /** Of the snapshot in the builder; -1 before there is one. */
  generation: number;
  revision: number;
  /** When the snapshot was read, ms. */
  readAt: number;
  /** The store's clock when the snapshot was read or its revision last found unmoved, ms. */
  takenAt: number;
  /** When the snapshot was last known to be current, ms. */
  goodAt: number;
  /** ms: until then the snapshot counts as current. */
  validUntil: number;
  /** ms: until then the store is left alone, because a build has failed; 0 when the last one has not. */
  retryAt: number;
  usedAt: number;
  readonly views: Map<View, ViewState>;
}

/**
 * Serves feeds from memory and has them built when they are due (decisions 5: snapshot, lapse, Last-Modified, failure).
 * `hit` is the path of almost every request: no promise, no store, no hashing.
 */
export class FeedCache {
  readonly #options: FeedCacheOptions;
  /** How old a read may be, and how long a store that fails is left alone, ms. */
  readonly #interval: number;
  readonly #pause: number;
  readonly #workspaces = new Map<string, Workspace>();
  readonly #bodies: Bodies;
  #tick = 0;
  #prunedAt = 0;

  constructor(options: FeedCacheOptions) {
    this.#options = options;
    this.#interval = options.rebuildSeconds * 1000;
    this.#pause = Math.min(this.#interval, PAUSE);
    this.#bodies = new Bodies(options.bodyBytes);
  }

  /** What can be served at once, or undefined. */
  hit({ workspaceId, list, view, boundTo }: FeedQuery): Representation | TooLarge | undefined {
    const now = this.#options.clock.now();
    const workspace = this.#workspaces.get(workspaceId);
    if (workspace?.directory === undefined || now >= workspace.freshUntil) return undefined;
    const named = workspace.directory.resolve(list);
    if (named.kind !== 'named' || (boundTo !== null && named.listId !== boundTo)) return undefined;
    return workspace.feeds.get(named.listId)?.views.get(viewOf(view, named.defaults))?.served(now);
  }

  /**
   * The feed, read and built as far as needed; rejects with FeedUnavailable. With `withBody` the bytes of its identity body are
   * held when it resolves.
   */
  async find(query: FeedQuery, withBody = false): Promise<Found> {
    const arrival = this.#moment();
    const workspace = this.#workspace(query.workspaceId);
    let directory = await this.#directory(workspace, arrival, arrival.at < workspace.freshUntil);
    let resolved = directory?.resolve(query.list);
    if (resolved?.kind !== 'named' && workspace.readBegan.tick < arrival.tick && !workspace.failed) {
      // What was read for others is no ground for turning somebody away.
      directory = await this.#directory(workspace, arrival, false);
      resolved = directory?.resolve(query.list);
    }
    if (directory === undefined || resolved === undefined) return { kind: 'no_workspace' };
    if (!isPermitted(resolved, query.boundTo)) return { kind: 'forbidden' };
    if (resolved.kind === 'unknown_list' && workspace.failed)
      throw new FeedUnavailable('the list is not known and the store does not answer');
    if (resolved.kind !== 'named') return resolved;
    return this.#serve(this.#feed(workspace, resolved.listId), viewOf(query.view, resolved.defaults), arrival, withBody);
  }

  /** The bytes to send of a representation; undefined when they were dropped and the feed has to be found again. */
  body(representation: Representation, coding: 'identity' | 'gzip'): Uint8Array | Promise<Uint8Array> | undefined {
    return coding === 'gzip' ? this.#bodies.gzip(representation.body) : this.#bodies.identity(representation.body);
  }

  /** The workspace's directory: the one held where `held` says so, else one whose read began after the arrival or is young enough. */
  async #directory(workspace: Workspace, arrival: Moment, held: boolean): Promise<Directory | undefined> {
    if (held && workspace.directory !== undefined) return workspace.directory;
    const patience = workspace.failed ? SHORT_PATIENCE : PATIENCE;
    try {
      await workspace.reading.join(arrival, (began) => this.#limited(this.#readDirectory(workspace, began), patience));
    } catch (cause) {
      workspace.failed = true;
      workspace.freshUntil = this.#options.clock.now() + this.#pause;
      if (workspace.directory === undefined) throw new FeedUnavailable('the store does not answer', { cause });
    }
    return workspace.directory;
  }

  async #readDirectory(workspace: Workspace, began: Moment): Promise<void> {
    const { store, clock, caughtUp } = this.#options;
    if (caughtUp !== undefined) await within(caughtUp(), CAUGHT_UP_LIMIT, clock, 'landing').catch(() => undefined);
    const readAt = clock.now();
    const read = await store.directory(workspace.id);
    // A read that was given up and answers late must not undo a later one.
    if (began.tick < workspace.readBegan.tick) return;
    workspace.readBegan = began;
    workspace.readAt = readAt;
    workspace.freshUntil = readAt + this.#interval;
    workspace.failed = false;
    workspace.directory = read === undefined ? undefined : new Directory(read);
    for (const feed of workspace.feeds.values()) {
      if (workspace.directory?.feed(feed.listId) === undefined) this.#forget(feed);
    }
    this.#prune(readAt);
  }

  async #serve(feed: Feed, view: View, arrival: Moment, withBody: boolean): Promise<Found> {
    const { clock } = this.#options;
    const state = this.#state(feed, view);
    feed.usedAt = arrival.at;
    state.promote(arrival.at);
    const ready = state.served(arrival.at);
    if (ready !== undefined && (!withBody || state.hasBody())) return ready;
    if (feed.workspace.failed || arrival.at < feed.retryAt) return this.#rescue(feed, state, arrival, withBody, undefined);
    const deadline = arrival.at + PATIENCE;
    try {
      for (let round = 1, asked = arrival; ; round++, asked = this.#moment()) {
        const patience = feed.retryAt > 0 ? SHORT_PATIENCE : Math.max(SHORT_PATIENCE, deadline - clock.now());
        await state.building.join(asked, () => this.#limited(this.#renew(feed, state, withBody), patience));
        if (state.current === undefined) return feed.listId === null ? { kind: 'no_workspace' } : { kind: 'unknown_list' };
        // A rule may have lapsed while it was built.
        if (state.lasts(clock.now()) || round === ROUNDS) return state.current.outcome;
      }
    } catch (error) {
      feed.retryAt = clock.now() + this.#pause;
      return this.#rescue(feed, state, arrival, withBody, error);
    }
  }

  /** Makes the current content of a view good for now: by finding that nothing has moved, or by a build. */
  async #renew(feed: Feed, state: ViewState, withBody: boolean): Promise<void> {
    const { clock, builder } = this.#options;
    const { workspace } = feed;
    const named = workspace.directory?.feed(feed.listId);
    if (named === undefined) return state.clear();
    const now = clock.now();
    const isNewer = workspace.readBegan.tick > feed.generation;
    const moved = isNewer && named.revision !== feed.revision;
    if (isNewer && !moved) confirm(feed);
    const mustRead = feed.generation < 0 || (moved && now >= feed.readAt + this.#interval);
    if (mustRead || (withBody && !state.hasBody()) || !(await this.#stands(feed, state, now))) {
      const generation = mustRead ? workspace.readBegan.tick : 0;
      const result = await builder.build({ ...this.#request(feed, state), generation, offline: false });
      this.#accept(feed, state, result, undefined);
    }
    feed.retryAt = 0;
  }

  /** Whether the current content may stay, because it is of the snapshot that is valid and the store's record says the same of it. */
  async #stands(feed: Feed, state: ViewState, now: number): Promise<boolean> {
    const { store, geoVersion, clock } = this.#options;
    const standing = state.current;
    if (standing?.generation !== feed.generation || standing.geoVersion !== geoVersion() || !state.lasts(now)) return false;
    const outcome = { ...standing.outcome, staleSince: undefined };
    const recordedAt = feed.workspace.readBegan.tick;
    if (outcome.kind === 'feed' && standing.recordedAt < recordedAt) {
      const { hash, lastModified } = outcome;
      const seen = { hash, snapshotAt: feed.takenAt, second: secondOf(now) };
      const record = store.recordFeed(feed.workspace.id, { listId: feed.listId, ...state.view }, seen);
      const row = await within(record, RECORD_LIMIT, clock, 'the store').catch(() => undefined);
      // Another replica may have set another beginning; while the store cannot be written it lives in memory.
      if (row !== undefined && (row.hash !== hash || row.since > lastModified)) return false;
      if (state.current !== standing) return false;
    }
    state.extend({ outcome, recordedAt, validUntil: feed.validUntil });
    return true;
  }

  /** The last good snapshot, without the rules that have lapsed since, while the store does not answer. */
  async #rescue(feed: Feed, state: ViewState, arrival: Moment, withBody: boolean, cause: unknown): Promise<Found> {
    const { clock, builder } = this.#options;
    const now = clock.now();
    if (feed.generation < 0 || now - feed.goodAt > KEEP) throw new FeedUnavailable('there is no good snapshot', { cause });
    const staleSince = secondOf(feed.goodAt);
    const standing = state.current;
    if (standing?.generation === feed.generation && state.lasts(now) && (!withBody || state.hasBody())) {
      state.extend({ outcome: { ...standing.outcome, staleSince }, validUntil: now + this.#pause });
    } else {
      const build = async () => {
        const result = await builder.build({ ...this.#request(feed, state), generation: 0, offline: true });
        this.#accept(feed, state, result, staleSince);
      };
      await state.rescue.join(arrival, () => this.#limited(build(), PATIENCE));
    }
    return state.current!.outcome;
  }

  #request(feed: Feed, state: ViewState) {
    const { workspace, listId, takenAt } = feed;
    return { workspaceId: workspace.id, listId, view: state.view, confirmedAt: takenAt, shown: state.shown(this.#options.clock.now()) };
  }

  /** Takes in a build; `staleSince` (seconds) when it was made without the store. */
  #accept(feed: Feed, state: ViewState, result: BuildResult, staleSince: number | undefined): void {
    const { clock, zlib } = this.#options;
    if (result.kind === 'no_snapshot') throw new FeedUnavailable('there is no snapshot in memory');
    if (result.kind === 'gone') {
      this.#forget(feed);
      return;
    }
    const { generation, geoVersion, until, entryCount, entryLimit } = result;
    // A build that was given up and answers late must not undo a later one.
    if (result.readAt < feed.readAt) return;
    if (generation !== feed.generation || result.readAt !== feed.readAt) {
      feed.generation = generation;
      feed.revision = result.revision;
      feed.takenAt = result.takenAt;
      feed.readAt = feed.goodAt = result.readAt;
      feed.validUntil = result.readAt + this.#interval;
    }
    const now = clock.now();
    const validUntil = staleSince === undefined ? feed.validUntil : now + this.#pause;
    const basis = { generation, geoVersion, until, validUntil, recordedAt: feed.workspace.readBegan.tick };
    if (result.kind === 'too_large') {
      const outcome: TooLarge = { kind: 'too_large', entryCount, entryLimit, hint: result.hint, staleSince };
      state.accept({ ...basis, outcome, provisional: false }, 0, now);
    } else {
      const outcome = { ...representationOf(result, state.view, this.#bodies.hold(result.bytes), zlib), staleSince };
      state.accept({ ...basis, outcome, provisional: result.provisional }, result.begins, now);
    }
  }

  /** Work that must not keep requests waiting; what goes wrong with it is reported once. */
  #limited(work: Promise<void>, patience: number): Promise<void> {
    const { clock, report } = this.#options;
    return within(work, patience, clock, 'the store').catch((error: Error) => {
      report(error);
      throw error;
    });
  }

  #moment(): Moment {
    this.#tick += 1;
    return { at: this.#options.clock.now(), tick: this.#tick };
  }

  #shared(): SharedWork<void> {
    return new SharedWork(() => this.#moment(), this.#interval);
  }

  #workspace(id: string): Workspace {
    let workspace = this.#workspaces.get(id);
    if (workspace === undefined) {
      const never = { at: Number.NEGATIVE_INFINITY, tick: -1 };
      const unread = { directory: undefined, readBegan: never, readAt: never.at, freshUntil: never.at, failed: false };
      workspace = { id, ...unread, reading: this.#shared(), feeds: new Map() };
      this.#workspaces.set(id, workspace);
    }
    return workspace;
  }

  #feed(workspace: Workspace, listId: string | null): Feed {
    let feed = workspace.feeds.get(listId);
    if (feed === undefined) {
      const never = Number.NEGATIVE_INFINITY;
      const unread = {
        generation: -1,
        revision: -1,
        readAt: never,
        takenAt: 0,
        goodAt: never,
        validUntil: never,
        retryAt: 0,
        usedAt: never,
      };
      feed = { workspace, listId, ...unread, views: new Map() };
      workspace.feeds.set(listId, feed);
    }
    return feed;
  }

  #state(feed: Feed, view: View): ViewState {
    let state = feed.views.get(view);
    if (state === undefined) {
      state = new ViewState(view, this.#bodies, this.#shared(), this.#shared());
      feed.views.set(view, state);
    }
    return state;
  }

  #forget(feed: Feed): void {
    for (const state of feed.views.values()) state.clear();
    feed.workspace.feeds.delete(feed.listId);
    this.#options.builder.forget(feed.workspace.id, feed.listId).catch(this.#options.report);
  }

  /** Forgets what nobody has asked for in a day. */
  #prune(now: number): void {
    if (now < this.#prunedAt + PRUNE_EVERY) return;
    this.#prunedAt = now;
    for (const workspace of this.#workspaces.values()) {
      for (const feed of workspace.feeds.values()) if (feed.usedAt < now - KEEP) this.#forget(feed);
      if (workspace.feeds.size === 0 && workspace.readAt < now - KEEP) this.#workspaces.delete(workspace.id);
    }
  }
}

/** The snapshot's revision has not moved: it is as good as read with the directory. */
function confirm(feed: Feed): void {
  const { workspace } = feed;
  feed.takenAt = workspace.directory!.takenAt;
  feed.goodAt = Math.max(feed.goodAt, workspace.readAt);
  feed.validUntil = Math.max(feed.validUntil, workspace.freshUntil);
}

function isPermitted(resolved: Resolution, boundTo: string | null): boolean {
  if (boundTo === null) return true;
  if (resolved.kind === 'named') return resolved.listId === boundTo;
  return resolved.kind === 'ambiguous' && resolved.lists.includes(boundTo);
}
