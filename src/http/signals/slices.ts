import { coalesced } from '../../schedule/debounce.ts';

type RunSlices = <T>(work: Generator<undefined, T>) => Promise<T>;

/** Delay of other requests by all batches, ms. */
const TURN = 2;
/** Time of one batch before the next, ms. */
const SLICE = 1;

/** Short work runs at once; the rest alternates with other batches and requests. */
function slices(plan: (turn: () => void) => unknown): RunSlices {
  const waiting: (() => boolean)[] = [];
  /** In this turn, ms. */
  let spent = 0;
  const planTurn = coalesced(() => {
    while (waiting.length > 0 && spent < TURN) {
      const advance = waiting.shift()!;
      if (advance()) waiting.push(advance);
    }
    spent = 0;
    return waiting.length > 0;
  }, plan);

  return <T>(work: Generator<undefined, T>) =>
    new Promise<T>((resolve, reject) => {
      function advance(ms: number): boolean {
        const begun = performance.now();
        try {
          for (;;) {
            const { done, value } = work.next();
            const elapsed = performance.now() - begun;
            if (done) resolve(value);
            if (done || elapsed >= ms) {
              spent += elapsed;
              return !done;
            }
          }
        } catch (error) {
          spent += performance.now() - begun;
          reject(error);
          return false;
        }
      }
      const first = waiting.length === 0 ? TURN - spent : 0;
      if (first <= 0 || advance(first)) waiting.push(() => advance(SLICE));
      planTurn();
    });
}

/** For usual batches: a turn of the event loop. */
export const inSlices: RunSlices = slices(setImmediate);

/** For batches of many megabytes: 2 ms of work every 4 to 5 ms. The scheduler delays a thread that never rests. */
export const inRestingSlices: RunSlices = slices((turn) => setTimeout(turn, 2));
