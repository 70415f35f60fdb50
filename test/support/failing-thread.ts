/** Loaded into a weir before its code: the thread that FAILING_THREAD names throws as soon as the file FAILING_FILE is there. */
import { existsSync } from 'node:fs';
import { threadName } from 'node:worker_threads';

const { FAILING_THREAD, FAILING_FILE } = process.env;
if (FAILING_FILE !== undefined && threadName === FAILING_THREAD) {
  setInterval(() => {
    if (existsSync(FAILING_FILE)) throw new Error('a defect of a test');
  }, 20).unref();
}
