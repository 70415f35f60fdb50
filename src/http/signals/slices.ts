import { coalesced } from '../../schedule/coalesced.ts';

/** Runs a generator to its end and returns its value. */
type RunSlices = <T>(work: Generator<undefined, T>) => Promise<T>;

/** How long the work of all batches together may hold up other requests in one turn, ms. */
const TURN = 2;
/** How long one batch works before the next one gets on, ms. */
const SLICE = 1;

/** Work that is done soon is done at once; else others get on after each turn, however many batches there are. `plan` plans a turn. */
function slices(plan: (turn: () => void) => unknown): RunSlices {
  /** What is being worked on, in the order in which it gets on next. */
  const waiting: (() => boolean)[] = [];
  /** Work of this turn so far, ms. */
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
      /** Works for at most `ms`; whether there is more to do. */
      function advance(ms: number): boolean {
        const begun = performance.now();
        try {
          for (;;) {
            const { done, value } = work.next();
            const taken = performance.now() - begun;
            if (done) resolve(value);
            if (done || taken >= ms) {
              spent += taken;
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

/** For the batches that are usual: a turn is one of the event loop. */
export const inSlices: RunSlices = slices(setImmediate);

/**
 * For batches of many megabytes: a turn of 2 ms comes every 4 to 5. A thread that works all the time waits longer for its core than one
 * that rests, and so does every other request.
 */
export const inRestingSlices: RunSlices = slices((turn) => setTimeout(turn, 2));
