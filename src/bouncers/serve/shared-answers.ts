import { gzipBody } from '../../document/serve/gzip.ts';
import type { DecisionAnswer, DecisionRequest } from '../decisions.ts';

/** An answer for all bouncers that know the same. */
export interface SharedAnswer extends DecisionAnswer {
  /** The compressed bytes, made when first asked for. */
  gzip(): Promise<Uint8Array>;
}

/** How long an answer is shared, ms: its durations count from when it was made. */
const SHARED = 5_000;
/** Bytes of answers that are kept, but for the newest. */
const MOST_BYTES = 64 << 20;

interface Kept {
  readonly answer: Promise<SharedAnswer | undefined>;
  /** ms, monotonic */
  readonly madeAt: number;
  bytes: number;
}

/** Answers that were made a moment ago: a thousand bouncers that pull cost little more than one. */
export class DecisionAnswers {
  readonly #make: (request: DecisionRequest) => Promise<DecisionAnswer | undefined>;
  readonly #monotonic: () => number;
  /** Oldest first. */
  readonly #kept = new Map<string, Kept>();

  constructor(make: (request: DecisionRequest) => Promise<DecisionAnswer | undefined>, monotonic: () => number) {
    this.#make = make;
    this.#monotonic = monotonic;
  }

  /** The answer to a request; `content` names what the feed holds now. Undefined when there is nothing to make it from. */
  find(request: DecisionRequest, content: string): Promise<SharedAnswer | undefined> {
    const now = this.#monotonic();
    const key = JSON.stringify([content, request]);
    const known = this.#kept.get(key);
    if (known !== undefined && now < known.madeAt + SHARED) return known.answer;
    this.#kept.delete(key);
    const kept: Kept = { answer: this.#make(request).then((made) => made && shared(made)), madeAt: now, bytes: 0 };
    this.#kept.set(key, kept);
    kept.answer.then(
      (made) => {
        kept.bytes = made?.bytes.length ?? 0;
        if (made === undefined) this.#kept.delete(key);
      },
      () => this.#kept.delete(key),
    );
    this.#prune(now);
    return kept.answer;
  }

  #prune(now: number): void {
    let bytes = 0;
    for (const kept of this.#kept.values()) bytes += kept.bytes;
    for (const [key, { madeAt, bytes: its }] of this.#kept) {
      if (now < madeAt + SHARED && bytes <= MOST_BYTES) return;
      this.#kept.delete(key);
      bytes -= its;
    }
  }
}

function shared(made: DecisionAnswer): SharedAnswer {
  let zipped: Promise<Uint8Array> | undefined;
  return {
    ...made,
    gzip() {
      zipped ??= gzipBody(made.bytes).then(({ bytes }) => bytes);
      return zipped;
    },
  };
}
