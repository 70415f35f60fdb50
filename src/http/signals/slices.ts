import { eachTurn } from './each-turn.ts';

/** How long the work of all batches together may hold up other requests in one turn of the event loop, ms. */
const TURN = 2;
/** How long one batch works before the next one gets on, ms. */
const SLICE = 1;

/** What is being worked on, in the order in which it gets on next. */
const waiting: (() => boolean)[] = [];
/** Work of this turn of the event loop so far, ms. */
let spent = 0;

/**
 * Runs a generator to its end and returns its value. Work that is done soon is done at once; else the event loop gets a turn every
 * few milliseconds, however many batches there are, so that other requests go on.
 */
export function inSlices<T>(work: Generator<undefined, T>): Promise<T> {
  return new Promise((resolve, reject) => {
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

const planTurn = eachTurn(() => {
  while (waiting.length > 0 && spent < TURN) {
    const advance = waiting.shift()!;
    if (advance()) waiting.push(advance);
  }
  spent = 0;
  return waiting.length > 0;
});
