import { WeirError } from '../../errors.ts';
import { type Variant, variantOf } from '../variant.ts';
import { type FeedCacheOptions, ServeContext } from './context.ts';
import type { Resolution } from './directory.ts';
import type { Representation, TooLarge } from './representation.ts';
import { ServedWorkspace } from './workspace.ts';

/** Which feed a request asks for, and by which right. */
interface FeedQuery {
  readonly workspaceId: string;
  /** A list's UUID or name; null is the workspace's feed. */
  readonly list: string | null;
  /** What the request itself says; the list's stored defaults supply the rest (spec 4.4.3). */
  readonly variant: Partial<Variant>;
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

/** How long feeds that nobody asks for are remembered, and how often they are looked for, ms. */
const KEEP = 24 * 3_600_000;
const PRUNE_EVERY = 3_600_000;

/**
 * Serves feeds from memory and has them built when they are due (decisions 5: snapshot, lapse, Last-Modified, failure).
 * `hit` is the path of almost every request: no promise, no store, no hashing.
 */
export class FeedCache {
  readonly #context: ServeContext;
  readonly #workspaces = new Map<string, ServedWorkspace>();
  #prunedAt = 0;

  constructor(options: FeedCacheOptions) {
    this.#context = new ServeContext(options);
  }

  /** What can be served at once, or undefined. */
  hit({ workspaceId, list, variant, boundTo }: FeedQuery): Representation | TooLarge | undefined {
    const now = this.#context.now();
    const workspace = this.#workspaces.get(workspaceId);
    if (workspace?.directory === undefined || now >= workspace.freshUntil) return undefined;
    const named = workspace.directory.resolve(list);
    if (named.kind !== 'named' || (boundTo !== null && named.listId !== boundTo)) return undefined;
    return workspace.feeds.get(named.listId)?.ready(variantOf(variant, named.defaults), now);
  }

  /** The feed, read and built as far as needed; rejects with FeedUnavailable. With `withBody` its identity bytes are held when it resolves. */
  async find(query: FeedQuery, withBody = false): Promise<Found> {
    const arrival = this.#context.moment();
    this.#prune(arrival.at);
    const workspace = this.#workspace(query.workspaceId);
    if (workspace.directory === undefined || arrival.at >= workspace.freshUntil) await workspace.read(arrival);
    if (workspace.directory?.resolve(query.list).kind !== 'named' && workspace.readBegan.sequence < arrival.sequence && !workspace.failed) {
      // What was read for others is no ground for turning somebody away.
      await workspace.read({ at: Number.POSITIVE_INFINITY, sequence: arrival.sequence });
    }
    const resolved = workspace.directory?.resolve(query.list);
    if (resolved === undefined) return { kind: 'no_workspace' };
    if (!isPermitted(resolved, query.boundTo)) return { kind: 'forbidden' };
    if (resolved.kind === 'unknown_list' && workspace.failed)
      throw new WeirError('FEED_UNAVAILABLE', 'no such list is known and the store does not answer');
    if (resolved.kind !== 'named') return resolved;
    const served = await workspace.feed(resolved.listId).serve(variantOf(query.variant, resolved.defaults), arrival, withBody);
    return served ?? { kind: resolved.listId === null ? 'no_workspace' : 'unknown_list' };
  }

  /** The bytes to send of a representation; undefined when they were dropped and the feed has to be found again. */
  body(representation: Representation, coding: 'identity' | 'gzip'): Uint8Array | Promise<Uint8Array> | undefined {
    const { bodies } = this.#context;
    return coding === 'gzip' ? bodies.gzip(representation.body) : bodies.identity(representation.body);
  }

  #workspace(id: string): ServedWorkspace {
    let workspace = this.#workspaces.get(id);
    if (workspace === undefined) {
      workspace = new ServedWorkspace(id, this.#context);
      this.#workspaces.set(id, workspace);
    }
    return workspace;
  }

  /** Forgets what nobody has asked for in a day. */
  #prune(now: number): void {
    if (now < this.#prunedAt + PRUNE_EVERY) return;
    this.#prunedAt = now;
    for (const workspace of this.#workspaces.values()) {
      for (const feed of workspace.feeds.values()) if (feed.usedAt < now - KEEP) feed.forget();
      if (workspace.feeds.size === 0) this.#workspaces.delete(workspace.id);
    }
  }
}

function isPermitted(resolved: Resolution, boundTo: string | null): boolean {
  if (boundTo === null) return true;
  if (resolved.kind === 'named') return resolved.listId === boundTo;
  return resolved.kind === 'ambiguous' && resolved.lists.includes(boundTo);
}
