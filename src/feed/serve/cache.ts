/**
 * Where requests for documents come in, on the main thread. A request is a hit; or its workspace resolves the name (`workspace.ts`), and
 * the document serves the variant (`served-document.ts`), which the feed thread builds (`../builder.ts`). Whether the answer is a 304 is decided in
 * `http/feeds/conditional.ts`, from the ETag and Last-Modified of the `Representation` that is found here.
 */

import type { Instant } from '../../clock.ts';
import { type DocumentKind, type DocumentVariant, revisionOf } from '../document.ts';
import { type Variant, variantOf } from '../variant.ts';
import { type DocumentCacheOptions, ServeContext } from './context.ts';
import type { Representation, TooLarge } from './representation.ts';
import type { Resolution } from './resolution.ts';
import { ServedWorkspace } from './workspace.ts';

/** Which document a request asks for, and of what its caller may read. */
export interface DocumentQuery {
  readonly workspaceId: string;
  /** The UUID or name of a list or a composed feed; null is the workspace's feed. */
  readonly list: string | null;
  /** Of a feed what the request itself says; the stored defaults of the list or feed supply the rest (spec 4.4.3). */
  readonly variant: Partial<Variant> | Exclude<DocumentVariant, Variant>;
  /** The only list or composed feed that the caller may read, or null. */
  readonly boundTo: string | null;
}

/** What is found for a query: a document, one that exceeds its cap, or why there is none. */
export type Found =
  | Representation
  | TooLarge
  | { readonly kind: 'unknown_list' }
  /** The UUIDs of the lists that have the name. */
  | { readonly kind: 'ambiguous'; readonly lists: readonly string[] }
  /** Not the one that the caller is bound to. */
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'no_workspace' };

/** A feed in memory. */
export interface CachedFeed {
  readonly workspaceId: string;
  /** null: the workspace's feed. */
  readonly feedId: string | null;
  /** Of the variant that is nearest to its cap. */
  readonly entries: number;
  readonly limit: number;
  /** Whether it was served stale when it was last asked for, not long ago. */
  readonly isStale: boolean;
}

/** How long documents that nobody asks for are remembered, and how often they are looked for, ms. */
const KEEP = 24 * 3_600_000;
const PRUNE_EVERY = 3_600_000;

/** Serves documents from memory, and has them built when they are due (SPEC D5.13 to D5.16). */
export class DocumentCache {
  readonly #context: ServeContext;
  readonly #workspaces = new Map<string, ServedWorkspace>();
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(options: DocumentCacheOptions) {
    this.#context = new ServeContext(options);
  }

  /** What can be served at once, or undefined. Almost every request ends here: no promise, no allocation, no hashing, no store. */
  hit({ workspaceId, list, variant, boundTo }: DocumentQuery, at: Instant = this.#context.now()): Representation | TooLarge | undefined {
    const workspace = this.#workspaces.get(workspaceId);
    if (workspace === undefined) return undefined;
    const named = workspace.recall(list, at.monotonic);
    if (named === undefined || (boundTo !== null && named.feedId !== boundTo)) return undefined;
    return workspace.ready(named.feedId, whole(variant, named.defaults), at);
  }

  /**
   * The document, read and built as far as needed. With `withBody` its identity bytes are in memory when it resolves.
   * Rejects with FEED_UNAVAILABLE when the store does not answer and nothing good is in memory.
   */
  async find(query: DocumentQuery, withBody = false): Promise<Found> {
    const arrival = this.#context.moment();
    this.#prune(arrival.monotonic);
    const workspace = this.#workspace(query.workspaceId);
    const known = await workspace.resolve(query.list, arrival);
    if (known === undefined) return { kind: 'no_workspace' };
    const { resolution, read } = known;
    if (!isPermitted(resolution, query.boundTo)) return { kind: 'forbidden' };
    if (resolution.kind !== 'named') return resolution;
    const { feedId, defaults } = resolution;
    const variant = whole(query.variant, defaults);
    const revision = revisionOf(variant.document, resolution);
    const served = await workspace.document(variant.document, feedId).serve(variant, arrival, { ...read, revision }, withBody);
    return served ?? { kind: feedId === null ? 'no_workspace' : 'unknown_list' };
  }

  /** Forgets what is built of a document: the next request has it built anew. */
  forget(workspaceId: string, document: DocumentKind, feedId: string | null): void {
    this.#workspaces.get(workspaceId)?.document(document, feedId).forget();
  }

  /** The bytes to send of a representation; undefined when they were dropped and the document has to be found again. */
  body(representation: Representation, coding: 'identity' | 'gzip'): Uint8Array | Promise<Uint8Array> | undefined {
    const { bodies } = this.#context;
    return coding === 'gzip' ? bodies.gzip(representation.body) : bodies.identity(representation.body);
  }

  /** The MD5 of a representation's identity bytes, lowercase hexadecimal; undefined as with `body`. */
  md5(representation: Representation): Promise<string> | undefined {
    return this.#context.bodies.md5(representation.body);
  }

  /** The feeds in memory, each with what is served of it now. */
  *held(): Generator<CachedFeed> {
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

  /** Bytes of bodies in memory. */
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

  /** Forgets what nobody has asked for in a day; `now` is ms, monotonic. */
  #prune(now: number): void {
    if (now < this.#prunedAt + PRUNE_EVERY) return;
    this.#prunedAt = now;
    for (const workspace of this.#workspaces.values()) {
      workspace.prune(now - KEEP);
      if (workspace.isEmpty) this.#workspaces.delete(workspace.id);
    }
  }
}

/** The variant that is asked for; of a feed, with the defaults for what is not said. */
const whole = (asked: DocumentQuery['variant'], defaults: Variant): DocumentVariant =>
  isOfFeed(asked) ? variantOf(asked, defaults) : asked;
const isOfFeed = (asked: DocumentQuery['variant']): asked is Partial<Variant> => asked.document === undefined || asked.document === 'feed';

function isPermitted(resolved: Resolution, boundTo: string | null): boolean {
  if (boundTo === null) return true;
  if (resolved.kind === 'named') return resolved.feedId === boundTo;
  return resolved.kind === 'ambiguous' && resolved.lists.includes(boundTo);
}
