import { gzipBody } from '../../feed/serve/gzip.ts';
import type { DecisionAnswer, DecisionRequest } from '../decisions.ts';

/** An answer for all bouncers that know the same. */
export interface SharedAnswer extends DecisionAnswer {
  /** The compressed bytes, made when first asked for. */
  gzip(): Promise<Uint8Array>;
  /** Says that it is being sent. Its bytes count until the function that is returned is called. */
  hold(): () => void;
}

/** There are too many other answers in memory. */
export const BUSY = 'busy';

/** How long an answer is shared, ms: its durations count from when it was made. */
const SHARED = 5_000;
/** Bytes of answers that are kept for others, but for the newest. */
const MOST_KEPT = 64 << 20;
/** Bytes of the answers of one workspace that are kept or being sent, and of all; a workspace that has none gets one in any case. */
const MOST_OF_WORKSPACE = 64 << 20;
const MOST = 192 << 20;
/** Answers of one workspace that wait to be made: they are made one after the other, so that others get their turn. */
const MOST_WAITING = 500;

interface Kept {
  readonly answer: Promise<SharedAnswer | undefined | typeof BUSY>;
  /** ms, monotonic */
  readonly madeAt: number;
  bytes: number;
  /** The cache's own hold. */
  release: () => void;
}

/** The answers of one workspace that are made, one after the other. */
interface Lane {
  waiting: number;
  last: Promise<unknown>;
}

/** Answers that were made a moment ago: a thousand bouncers that pull cost little more than one. */
export class DecisionAnswers {
  readonly #make: (request: DecisionRequest) => Promise<DecisionAnswer | undefined>;
  readonly #monotonic: () => number;
  /** Oldest first. */
  readonly #kept = new Map<string, Kept>();
  /** Bytes of these. */
  #keptBytes = 0;
  readonly #lanes = new Map<string, Lane>();
  /** Bytes that are held, of each workspace that has some, and in all. */
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;

  constructor(make: (request: DecisionRequest) => Promise<DecisionAnswer | undefined>, monotonic: () => number) {
    this.#make = make;
    this.#monotonic = monotonic;
  }

  /** The answer to a request; `content` names what the feed holds now. Undefined when there is nothing to make it from. */
  find(request: DecisionRequest, content: string): Promise<SharedAnswer | undefined | typeof BUSY> {
    const now = this.#monotonic();
    const key = JSON.stringify([content, request]);
    const known = this.#kept.get(key);
    if (known !== undefined && now < known.madeAt + SHARED) return known.answer;
    this.#drop(key);
    this.#prune(now);
    const answer = isLookUp(request) ? this.#made(request) : this.#inTurn(request);
    const kept: Kept = { answer, madeAt: now, bytes: 0, release: () => {} };
    this.#kept.set(key, kept);
    kept.answer.then(
      (made) => {
        if (made === undefined || made === BUSY) this.#drop(key, kept);
        else if (this.#kept.get(key) === kept) {
          kept.bytes = made.bytes.length;
          this.#keptBytes += kept.bytes;
          kept.release = made.hold();
        }
      },
      () => this.#drop(key, kept),
    );
    return kept.answer;
  }

  /** Makes an answer when those of its workspace that were asked for before are made. */
  #inTurn(request: DecisionRequest): Promise<SharedAnswer | undefined | typeof BUSY> {
    const { workspaceId } = request;
    const lane = this.#lanes.get(workspaceId) ?? { waiting: 0, last: Promise.resolve() };
    if (lane.waiting >= MOST_WAITING) return Promise.resolve(BUSY);
    this.#lanes.set(workspaceId, lane);
    lane.waiting += 1;
    const made = lane.last.then(async () => {
      const held = this.#bytesOf.get(workspaceId) ?? 0;
      if (held > MOST_OF_WORKSPACE || (this.#bytes > MOST && held > 0)) return BUSY;
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
    return answer && this.#counted(answer, request.workspaceId);
  }

  /** The answer, whose bytes count while somebody holds it. */
  #counted(made: DecisionAnswer, workspaceId: string): SharedAnswer {
    let zipped: Promise<Uint8Array> | undefined;
    let holds = 0;
    const change = (by: number) => {
      const before = holds;
      holds += by;
      if (before === 0 || holds === 0) this.#count(workspaceId, by * made.bytes.length);
    };
    return {
      ...made,
      hold() {
        change(1);
        let isHeld = true;
        return () => {
          if (isHeld) change(-1);
          isHeld = false;
        };
      },
      gzip() {
        zipped ??= gzipBody(made.bytes).then(({ bytes }) => bytes);
        return zipped;
      },
    };
  }

  #count(workspaceId: string, bytes: number): void {
    const held = (this.#bytesOf.get(workspaceId) ?? 0) + bytes;
    if (held === 0) this.#bytesOf.delete(workspaceId);
    else this.#bytesOf.set(workspaceId, held);
    this.#bytes += bytes;
  }

  #drop(key: string, only?: Kept): void {
    const kept = this.#kept.get(key);
    if (kept === undefined || (only !== undefined && kept !== only)) return;
    this.#kept.delete(key);
    this.#keptBytes -= kept.bytes;
    kept.release();
  }

  #prune(now: number): void {
    for (const [key, { madeAt }] of this.#kept) {
      if (now < madeAt + SHARED && this.#keptBytes <= MOST_KEPT) return;
      this.#drop(key);
    }
  }
}

/** Whether it asks for one network: a proxy asks so for each of its clients, and must not wait for the answers of others. */
const isLookUp = ({ ask }: DecisionRequest): boolean => 'network' in ask && ask.network !== null;
