/** Loaded into a weir before its code: the wall clock of all its threads is off by the ms in the file that CLOCK_FILE names. */
import { readFileSync } from 'node:fs';

const file = process.env.CLOCK_FILE;
const { now } = Date;
/** How long what the file said counts, ms: code that asks all the time is not to be measured by its file reads. */
const COUNTS = 5;

if (file !== undefined) {
  let [readAt, off] = [Number.NEGATIVE_INFINITY, 0];
  Date.now = () => {
    const at = performance.now();
    if (at - readAt >= COUNTS) [readAt, off] = [at, Number(readFileSync(file, 'utf8'))];
    return now() + off;
  };
}
