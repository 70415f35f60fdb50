import { setImmediate as turn } from 'node:timers/promises';

/** How long work may keep other requests waiting, ms. */
const SLICE = 5;

/** Does stepwise work to its end, with a turn of the event loop for everybody else every few milliseconds. */
export async function inSlices<T>(work: Generator<undefined, T>): Promise<T> {
  let begun = performance.now();
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (performance.now() - begun < SLICE) continue;
    await turn();
    begun = performance.now();
  }
}
