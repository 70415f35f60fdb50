import { gzipBody } from './gzip.ts';

/** The bytes of one representation, as far as they are still held. */
export interface Body {
  identity: Uint8Array | undefined;
  gzip: Uint8Array | undefined;
  /** The compression that runs, for all who wait for it. */
  compressing: Promise<Uint8Array> | undefined;
  /** Higher, the later it was used. */
  used: number;
}

/** Keeps the bodies that were used last, up to a number of bytes. What it drops can be built again. */
export class Bodies {
  readonly #limit: number;
  readonly #held = new Set<Body>();
  #bytes = 0;
  #uses = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes in a new body. It is held at least until the next one comes. */
  hold(identity: Uint8Array): Body {
    const body: Body = { identity, gzip: undefined, compressing: undefined, used: 0 };
    this.#use(body);
    this.#held.add(body);
    this.#bytes += identity.length;
    this.#shrink();
    return body;
  }

  /** The identity bytes; undefined when they were dropped. */
  identity(body: Body): Uint8Array | undefined {
    if (body.identity !== undefined) this.#use(body);
    return body.identity;
  }

  /** The compressed bytes, made when first asked for; undefined when the body was dropped. */
  gzip(body: Body): Uint8Array | Promise<Uint8Array> | undefined {
    if (body.identity === undefined) return undefined;
    this.#use(body);
    if (body.gzip !== undefined) return body.gzip;
    body.compressing ??= gzipBody(body.identity)
      .then((gzip) => this.#keepGzip(body, gzip))
      .finally(() => {
        body.compressing = undefined;
      });
    return body.compressing;
  }

  /** Lets a body go that will not be served any more. */
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
      this.#shrink();
    }
    return gzip;
  }

  /** Only a number moves: a set kept in the order of use leaves garbage that outlives the young generation, at every poll. */
  #use(body: Body): void {
    this.#uses += 1;
    body.used = this.#uses;
  }

  #shrink(): void {
    while (this.#bytes > this.#limit && this.#held.size > 1) {
      let oldest: Body | undefined;
      for (const body of this.#held) if (oldest === undefined || body.used < oldest.used) oldest = body;
      this.drop(oldest!);
    }
  }
}
