import { gzipBody } from '../../feed/serve/gzip.ts';
import type { DecisionAnswer, DecisionRequest } from '../decisions.ts';

/** One answer for all bouncers at the same version. */
export interface SharedAnswer extends DecisionAnswer {
  /** Of the request: `canaryId` for canaries. */
  readonly contentId: string | null;
  /** Compressed on first use. */
  gzip(): Promise<Uint8Array>;
  /** The bytes count until the returned function is called. */
  hold(): () => void;
}

/** Too many other responses are in memory. */
export const BUSY = 'busy';

/** ms: durations count from the creation. */
const SHARED = 5_000;
/** Bytes cached, not counting the newest. */
const MOST_CACHED = 64 << 20;
/** Bytes cached or being sent, per workspace and in total. A workspace without any always gets one. */
const MOST_OF_WORKSPACE = 64 << 20;
const MOST = 192 << 20;
/** Rendered one after the other, so other workspaces get their turn. */
const MOST_WAITING = 500;

interface Cached {
  readonly answer: Promise<SharedAnswer | undefined | typeof BUSY>;
  /** ms, monotonic */
  readonly madeAt: number;
  bytes: number;
  release: () => void;
}

/** Rendered one after the other. */
interface Lane {
  waiting: number;
  last: Promise<unknown>;
}

/** A thousand bouncers cost little more than one. */
export class DecisionAnswers {
  readonly #make: (request: DecisionRequest) => Promise<DecisionAnswer | undefined>;
  readonly #monotonic: () => number;
  /** Oldest first. */
  readonly #cached = new Map<string, Cached>();
  #cachedBytes = 0;
  readonly #lanes = new Map<string, Lane>();
  /** Bytes in use per workspace, and in total. */
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;

  constructor(make: (request: DecisionRequest) => Promise<DecisionAnswer | undefined>, monotonic: () => number) {
    this.#make = make;
    this.#monotonic = monotonic;
  }

  /** `content`: the feed's current one. undefined: no build to render from. */
  find(request: DecisionRequest, content: string): Promise<SharedAnswer | undefined | typeof BUSY> {
    const now = this.#monotonic();
    const key = JSON.stringify([content, request]);
    const known = this.#cached.get(key);
    if (known !== undefined && now < known.madeAt + SHARED) return known.answer;
    this.#drop(key);
    this.#prune(now);
    const answer = isLookUp(request) ? this.#made(request) : this.#inTurn(request);
    const cached: Cached = { answer, madeAt: now, bytes: 0, release: () => {} };
    this.#cached.set(key, cached);
    cached.answer.then(
      (made) => {
        if (made === undefined || made === BUSY) this.#drop(key, cached);
        else if (this.#cached.get(key) === cached) {
          cached.bytes = made.bytes.length;
          this.#cachedBytes += cached.bytes;
          cached.release = made.hold();
        }
      },
      () => this.#drop(key, cached),
    );
    return cached.answer;
  }

  /** Waits for the workspace's earlier requests. */
  #inTurn(request: DecisionRequest): Promise<SharedAnswer | undefined | typeof BUSY> {
    const { workspaceId } = request;
    const lane = this.#lanes.get(workspaceId) ?? { waiting: 0, last: Promise.resolve() };
    if (lane.waiting >= MOST_WAITING) return Promise.resolve(BUSY);
    this.#lanes.set(workspaceId, lane);
    lane.waiting += 1;
    const made = lane.last.then(async () => {
      const inUse = this.#bytesOf.get(workspaceId) ?? 0;
      if (inUse > MOST_OF_WORKSPACE || (this.#bytes > MOST && inUse > 0)) return BUSY;
      return this.#made(request);
    });
    const done = () => {
      lane.waiting -= 1;
      if (lane.waiting === 0) this.#lanes.delete(workspaceId);
    };
    lane.last = made.then(done, done);
    return made;
  }

  async #made(request: DecisionRequest): Promise<SharedAnswer | undefined> {
    const answer = await this.#make(request);
    return answer && this.#counted(answer, request);
  }

  /** The response; its bytes count while it is in use. */
  #counted(made: DecisionAnswer, { workspaceId, feedId: contentId }: DecisionRequest): SharedAnswer {
    let zipped: Promise<Uint8Array> | undefined;
    let holds = 0;
    const change = (by: number) => {
      const before = holds;
      holds += by;
      if (before === 0 || holds === 0) this.#count(workspaceId, by * made.bytes.length);
    };
    return {
      ...made,
      contentId,
      hold() {
        change(1);
        let isInUse = true;
        return () => {
          if (isInUse) change(-1);
          isInUse = false;
        };
      },
      gzip() {
        zipped ??= gzipBody(made.bytes).then(({ bytes }) => bytes);
        return zipped;
      },
    };
  }

  #count(workspaceId: string, bytes: number): void {
    const inUse = (this.#bytesOf.get(workspaceId) ?? 0) + bytes;
    if (inUse === 0) this.#bytesOf.delete(workspaceId);
    else this.#bytesOf.set(workspaceId, inUse);
    this.#bytes += bytes;
  }

  #drop(key: string, only?: Cached): void {
    const cached = this.#cached.get(key);
    if (cached === undefined || (only !== undefined && cached !== only)) return;
    this.#cached.delete(key);
    this.#cachedBytes -= cached.bytes;
    cached.release();
  }

  #prune(now: number): void {
    for (const [key, { madeAt }] of this.#cached) {
      if (now < madeAt + SHARED && this.#cachedBytes <= MOST_CACHED) return;
      this.#drop(key);
    }
  }
}

/** Proxies send one look-up for each of their clients, which must not wait for other responses. */
const isLookUp = ({ ask }: DecisionRequest): boolean => 'network' in ask && ask.network !== null;
