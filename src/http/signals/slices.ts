import { setImmediate as turn } from 'node:timers/promises';

/** How long work may hold up other requests, ms. */
const SLICE = 5;

/** Runs a generator to its end and returns its value. Every few milliseconds the event loop gets a turn, so that other requests go on. */
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
