/** Tests expressions off the main thread, within a bound of time and memory (SPEC D19.15). */
import { Worker } from 'node:worker_threads';
import { WeirError } from '../errors.ts';
import type { ExpressionTester, Tested } from '../manage/expression-test.ts';

/** How long one test may take, the start of its thread included, ms. */
const LIMIT = 5000;
/** What its thread may hold, MiB. */
const MEMORY = 128;

/** `schemesFile` is SCHEMES_FILE. */
export function expressionTester(schemesFile: string | undefined): ExpressionTester {
  return (input) =>
    new Promise<Tested | string>((resolve, reject) => {
      const worker = new Worker(new URL('./expression-test.thread.ts', import.meta.url), {
        workerData: { ...input, schemesFile },
        resourceLimits: { maxOldGenerationSizeMb: MEMORY },
      });
      const tooMuch = () => reject(new WeirError('REFUSED', 'the expression takes too long or too much memory on this request'));
      const timer = setTimeout(() => {
        tooMuch();
        void worker.terminate();
      }, LIMIT);
      worker.once('message', resolve);
      worker.once('error', (error: Error & { code?: string }) => (error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch() : reject(error)));
      worker.once('exit', () => {
        clearTimeout(timer);
        reject(new Error('the thread has ended'));
      });
    });
}
