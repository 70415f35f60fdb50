import { gzipBody } from './gzip.ts';

/** The bytes of one representation, as far as they are in memory. */
export interface Body {
  /** undefined once it was dropped. */
  identity: Uint8Array | undefined;
  /** undefined until it is asked for. */
  gzip: Uint8Array | undefined;
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

  /** Keeps a new body, at least until the next one comes. */
  hold(identity: Uint8Array): Body {
    const body: Body = { identity, gzip: undefined, compressing: undefined, used: false };
    this.#held.add(body);
    this.#bytes += identity.length;
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
    if (body.gzip !== undefined) return body.gzip;
    body.compressing ??= gzipBody(body.identity)
      .then((gzip) => this.#keepGzip(body, gzip))
      .finally(() => {
        body.compressing = undefined;
      });
    return body.compressing;
  }

  /** Drops a body that will not be served any more. */
  drop(body: Body): void {
    if (!this.#held.delete(body)) return;
    this.#bytes -= (body.identity?.length ?? 0) + (body.gzip?.length ?? 0);
    body.identity = undefined;
    body.gzip = undefined;
  }

  #keepGzip(body: Body, gzip: Uint8Array): Uint8Array {
    if (this.#held.has(body)) {
      body.gzip = gzip;
      this.#bytes += gzip.length;
      this.#makeRoom(body);
    }
    return gzip;
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
