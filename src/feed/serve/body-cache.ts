import type { BodyPart } from '../formats/stamp.ts';
import { type Digest, digestOf } from './digest.ts';
import { type Gzipped, gzipBody } from './gzip.ts';

export interface Body {
  identity: Uint8Array | undefined;
  readonly parts: readonly BodyPart[] | undefined;
  /** undefined until requested. */
  gzip: Gzipped | undefined;
  /** The predecessor, until this one is compressed. */
  before: Gzipped | undefined;
  readonly digests: { [algorithm in Digest]?: Promise<string> };
  compressing: Promise<Uint8Array> | undefined;
  used: boolean;
}

/** Evicted bodies can be built again from the snapshot. */
export class BodyCache {
  readonly #limit: number;
  /** In eviction order. */
  readonly #cached = new Set<Body>();
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Cached at least until the next one. Parts shared with the predecessor are not compressed again. */
  add(identity: Uint8Array, parts?: readonly BodyPart[], predecessor?: Body): Body {
    const before = parts && (predecessor?.gzip ?? predecessor?.before);
    const body: Body = { identity, parts, gzip: undefined, before, digests: {}, compressing: undefined, used: false };
    this.#cached.add(body);
    this.#bytes += sizeOf(body);
    this.#evict(body);
    return body;
  }

  /** undefined after eviction. */
  identity(body: Body): Uint8Array | undefined {
    body.used = true;
    return body.identity;
  }

  /** Compressed on first use; undefined after eviction. */
  gzip(body: Body): Uint8Array | Promise<Uint8Array> | undefined {
    if (body.identity === undefined) return undefined;
    body.used = true;
    if (body.gzip !== undefined) return body.gzip.bytes;
    body.compressing ??= gzipBody(body.identity, body.parts, body.before)
      .then((gzip) => this.#keepGzip(body, gzip))
      .finally(() => {
        body.compressing = undefined;
      });
    return body.compressing;
  }

  /** Calculated on first use; undefined after eviction. */
  digest({ identity, digests }: Body, algorithm: Digest): Promise<string> | undefined {
    if (identity !== undefined) digests[algorithm] ??= digestOf(identity, algorithm);
    return digests[algorithm];
  }

  drop(body: Body): void {
    if (!this.#cached.delete(body)) return;
    this.#bytes -= sizeOf(body);
    body.identity = undefined;
    body.gzip = undefined;
    body.before = undefined;
  }

  #keepGzip(body: Body, gzip: Gzipped): Uint8Array {
    if (this.#cached.has(body)) {
      this.#bytes -= sizeOf(body);
      body.gzip = gzip;
      body.before = undefined;
      this.#bytes += sizeOf(body);
      this.#evict(body);
    }
    return gzip.bytes;
  }

  /**
   * Second chance (clock algorithm): a used body moves to the end, the first unused one is evicted. A use only sets a flag: reordering at
   * every poll would create garbage.
   */
  #evict(newest: Body): void {
    for (const body of this.#cached) {
      if (this.#bytes <= this.#limit) return;
      if (body === newest) continue;
      if (body.used) {
        body.used = false;
        this.#cached.delete(body);
        // The loop reaches it again at its end.
        this.#cached.add(body);
      } else this.drop(body);
    }
  }
}

const sizeOf = ({ identity, gzip, before }: Body) => (identity?.length ?? 0) + (gzip?.bytes.length ?? 0) + (before?.bytes.length ?? 0);
