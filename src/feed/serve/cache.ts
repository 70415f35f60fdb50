/**
 * Entry point for document requests on the main thread. On a miss, the workspace resolves the name and the document serves the variant,
 * built on the feed thread.
 */

import type { Instant } from '../../clock.ts';
import { canaryId, isCanaryId } from '../canary.ts';
import { DECISIONS, type DocumentKind, type DocumentVariant, revisionOf } from '../document.ts';
import { type Variant, variantOf } from '../variant.ts';
import { type DocumentCacheOptions, ServeContext } from './context.ts';
import type { Digest } from './digest.ts';
import type { Representation, TooLarge } from './representation.ts';
import type { NamedFeed, Resolution } from './resolution.ts';
import { ServedWorkspace } from './workspace.ts';

export interface DocumentQuery {
  readonly workspaceId: string;
  /** UUID or name of a list or composed feed; null: the workspace's. */
  readonly list: string | null;
  /** For feeds only the requested parts; stored defaults supply the rest (spec 4.4.3). */
  readonly variant: Partial<Variant> | Exclude<DocumentVariant, Variant>;
  readonly keyId?: string | undefined;
  /** The only one readable by the caller; null: all. */
  readonly boundTo: string | null;
}

export type Found =
  | Representation
  | TooLarge
  | { readonly kind: 'unknown_list' }
  | { readonly kind: 'ambiguous'; readonly lists: readonly string[] }
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'no_workspace' };

export interface CachedFeed {
  readonly workspaceId: string;
  readonly feedId: string | null;
  /** Of the variant nearest to its cap. */
  readonly entries: number;
  readonly limit: number;
  /** Stale at the last recent request. */
  readonly isStale: boolean;
}

/** Lifetime of unused documents, and interval of their cleanup, ms. */
const KEEP = 24 * 3_600_000;
const PRUNE_EVERY = 3_600_000;

/** Serves documents from memory and requests builds (SPEC D5.13 to D5.16). */
export class DocumentCache {
  readonly #context: ServeContext;
  readonly #workspaces = new Map<string, ServedWorkspace>();
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(options: DocumentCacheOptions) {
    this.#context = new ServeContext(options);
  }

  /** Nearly every request ends here: no promise, allocation, hashing or store call. */
  hit(
    { workspaceId, list, variant, boundTo, keyId }: DocumentQuery,
    at: Instant = this.#context.now(),
  ): Representation | TooLarge | undefined {
    const workspace = this.#workspaces.get(workspaceId);
    if (workspace === undefined) return undefined;
    const named = workspace.recall(list, at.monotonic);
    if (named === undefined || (boundTo !== null && named.feedId !== boundTo)) return undefined;
    const whole = completed(variant, named.defaults);
    return workspace.ready(servedId(named, whole, keyId), whole, at);
  }

  /**
   * Reads and builds as needed. `withBody`: the identity bytes are in memory on return. Rejects with FEED_UNAVAILABLE if the store does not
   * answer and no valid content is in memory. `isUrgent`: the store is read now, regardless of FEED_REBUILD_SECONDS.
   */
  async find(query: DocumentQuery, withBody = false, isUrgent = false): Promise<Found> {
    return (await this.findNamed(query, withBody, isUrgent)).found;
  }

  /** Finds it with name and signing key, as confirmed for the request. */
  async findNamed(query: DocumentQuery, withBody: boolean, isUrgent = false): Promise<{ found: Found; named?: NamedFeed }> {
    const arrival = this.#context.moment();
    this.#prune(arrival.monotonic);
    const workspace = this.#workspace(query.workspaceId);
    const known = await workspace.resolve(query.list, arrival, isUrgent);
    if (known === undefined) return { found: { kind: 'no_workspace' } };
    const { resolution, read } = known;
    if (!isPermitted(resolution, query.boundTo)) return { found: { kind: 'forbidden' } };
    if (resolution.kind !== 'named') return { found: resolution };
    const { feedId, defaults } = resolution;
    const variant = completed(query.variant, defaults);
    const contentId = servedId(resolution, variant, query.keyId);
    const revision = revisionOf(variant.document, isCanaryId(contentId) ? { ...resolution, frozenRevision: undefined } : resolution);
    const served = await workspace
      .document(variant.document, contentId)
      .serve(variant, arrival, { ...read, revision }, { withBody, isUrgent });
    return { found: served ?? { kind: feedId === null ? 'no_workspace' : 'unknown_list' }, named: resolution };
  }

  forget(workspaceId: string, document: DocumentKind, feedId: string | null): void {
    this.#workspaces.get(workspaceId)?.document(document, feedId).forget();
  }

  /** undefined after eviction (find the document again). */
  body(representation: Representation, coding: 'identity' | 'gzip'): Uint8Array | Promise<Uint8Array> | undefined {
    const { bodies } = this.#context;
    return coding === 'gzip' ? bodies.gzip(representation.body) : bodies.identity(representation.body);
  }

  digest(representation: Representation, algorithm: Digest): Promise<string> | undefined {
    return this.#context.bodies.digest(representation.body, algorithm);
  }

  *cached(): Generator<CachedFeed> {
    const now = this.#context.monotonic();
    for (const workspace of this.#workspaces.values()) {
      for (const feed of workspace.feeds()) {
        const summary = feed.summary(now);
        if (summary === undefined) continue;
        const { entries, limit, isStale } = summary;
        yield { workspaceId: workspace.id, feedId: feed.feedId, entries, limit, isStale };
      }
    }
  }

  bodyBytes(): number {
    return this.#context.bodies.bytes;
  }

  #workspace(id: string): ServedWorkspace {
    let workspace = this.#workspaces.get(id);
    if (workspace === undefined) {
      workspace = new ServedWorkspace(id, this.#context);
      this.#workspaces.set(id, workspace);
    }
    return workspace;
  }

  /** `now` is monotonic ms. */
  #prune(now: number): void {
    if (now < this.#prunedAt + PRUNE_EVERY) return;
    this.#prunedAt = now;
    for (const workspace of this.#workspaces.values()) {
      workspace.prune(now - KEEP);
      if (workspace.isEmpty) this.#workspaces.delete(workspace.id);
    }
  }
}

const completed = (asked: DocumentQuery['variant'], defaults: Variant): DocumentVariant =>
  isOfFeed(asked) ? variantOf(asked, defaults) : asked;
/** Canaries have the current content of a feed; rules and configurations have one content. */
const servedId = ({ feedId, canaries }: NamedFeed, { document }: DocumentVariant, keyId: string | undefined): string | null =>
  (document === 'feed' || document === DECISIONS.document) && keyId !== undefined && canaries?.includes(keyId) ? canaryId(feedId) : feedId;

const isOfFeed = (asked: DocumentQuery['variant']): asked is Partial<Variant> => asked.document === undefined || asked.document === 'feed';

function isPermitted(resolved: Resolution, boundTo: string | null): boolean {
  if (boundTo === null) return true;
  if (resolved.kind === 'named') return resolved.feedId === boundTo;
  return resolved.kind === 'ambiguous' && resolved.lists.includes(boundTo);
}
