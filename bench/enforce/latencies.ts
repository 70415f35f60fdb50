/** Latencies of changes, shared by threads: when each was answered with 200, and how many clients had it after how many ms. */

/** The longest latency, ms: later ones count as this one. */
const LONGEST = 60_000;

export interface Counters {
  /** ms of the common clock; 0: not answered yet. */
  readonly answered: Float64Array<SharedArrayBuffer>;
  /** Clients by ms. */
  readonly after: Uint32Array;
  readonly answers: Uint32Array;
  readonly failures: Uint32Array;
}

const sharedArray = (bytes: number) => new SharedArrayBuffer(bytes);

/** For at most this many changes; `answered` may be shared with the counters of other clients. */
export const newCounters = (changes: number, answered = new Float64Array(sharedArray(8 * changes))): Counters => ({
  answered,
  after: new Uint32Array(sharedArray(4 * (LONGEST + 1))),
  answers: new Uint32Array(sharedArray(4)),
  failures: new Uint32Array(sharedArray(4)),
});

/** ms of CLOCK_MONOTONIC, the clock of all threads and programs of the machine. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6;

/** A client has a change since `at`. An answer may come before the 200 of the signal. */
export function record({ answered, after }: Counters, number: number, at: number): void {
  const since = answered[number] === 0 ? at : answered[number]!;
  Atomics.add(after, Math.min(LONGEST, Math.max(0, Math.ceil(at - since))), 1);
}

export const countOf = ({ after }: Counters): number => after.reduce((sum, count) => sum + count, 0);

/** ms within which this share of the clients had a change. */
export function latency(counters: Counters, share: number): number {
  const wanted = countOf(counters) * share;
  let seen = 0;
  return counters.after.findIndex((count) => {
    seen += count;
    return seen >= wanted && seen > 0;
  });
}

export const longest = ({ after }: Counters): number => after.findLastIndex((count) => count > 0);
