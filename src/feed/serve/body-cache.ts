import type { BodyPart } from '../formats/stamp.ts';
import { type Gzipped, gzipBody } from './gzip.ts';
import { md5Of } from './md5.ts';

/** The bytes of one representation, as far as they are in memory. */
export interface Body {
  /** undefined once it was dropped. */
  identity: Uint8Array | undefined;
  /** What the identity body consists of; undefined for one part. */
  readonly parts: readonly BodyPart[] | undefined;
  /** undefined until it is asked for. */
  gzip: Gzipped | undefined;
  /** What was there of the body before; undefined once this one was compressed. */
  before: Gzipped | undefined;
  /** MD5 of the identity body, lowercase hexadecimal; undefined until it is asked for. */
  md5: Promise<string> | undefined;
  /** The running compression, shared by all requests that wait for it. */
  compressing: Promise<Uint8Array> | undefined;
  /** Whether it was used since it was last spared. */
  used: boolean;
}

/** Keeps the bodies of feeds in memory, up to a number of bytes. A body that it drops can be built again from its snapshot. */
export class BodyCache {
  readonly #limit: number;
  /** In the order in which they are considered for dropping. */
  readonly #held = new Set<Body>();
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps a new body, at least until the next one comes. What it has in common with its predecessor is not compressed again. */
  hold(identity: Uint8Array, parts?: readonly BodyPart[], predecessor?: Body): Body {
    const before = parts && (predecessor?.gzip ?? predecessor?.before);
    const body: Body = { identity, parts, gzip: undefined, before, md5: undefined, compressing: undefined, used: false };
    this.#held.add(body);
    this.#bytes += sizeOf(body);
    this.#makeRoom(body);
    return body;
  }

  /** The identity bytes; undefined when they were dropped. */
  identity(body: Body): Uint8Array | undefined {
    body.used = true;
    return body.identity;
  }

  /** The compressed bytes, made when first asked for; undefined when the body was dropped. */
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

  /** The MD5 of the identity bytes, made when first asked for; undefined when it was not and the body was dropped. */
  md5(body: Body): Promise<string> | undefined {
    if (body.identity !== undefined) body.md5 ??= md5Of(body.identity);
    return body.md5;
  }

  /** Drops a body that will not be served any more. */
  drop(body: Body): void {
    if (!this.#held.delete(body)) return;
    this.#bytes -= sizeOf(body);
    body.identity = undefined;
    body.gzip = undefined;
    body.before = undefined;
  }

  #keepGzip(body: Body, gzip: Gzipped): Uint8Array {
    if (this.#held.has(body)) {
      this.#bytes -= sizeOf(body);
      body.gzip = gzip;
      body.before = undefined;
      this.#bytes += sizeOf(body);
      this.#makeRoom(body);
    }
    return gzip.bytes;
  }

  /**
   * Second chance (the clock algorithm): a body that was used since it was last considered goes behind the others; the first that was
   * not is dropped. A use only sets a flag, because keeping the set in order of use would make garbage at every poll.
   */
  #makeRoom(newest: Body): void {
    for (const body of this.#held) {
      if (this.#bytes <= this.#limit) return;
      if (body === newest) continue;
      if (body.used) {
        body.used = false;
        this.#held.delete(body);
        // This loop comes to it again at its end.
        this.#held.add(body);
      } else this.drop(body);
    }
  }
}

const sizeOf = ({ identity, gzip, before }: Body) => (identity?.length ?? 0) + (gzip?.bytes.length ?? 0) + (before?.bytes.length ?? 0);
