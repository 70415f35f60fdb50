/** Tests expressions within limits of time and memory (SPEC D19.15). */
import { Worker } from 'node:worker_threads';
import { WeirError } from '../../errors.ts';
import type { ExpressionTester, Tested, TestInput } from '../../manage/expressions/expression-test.ts';
import { oneByOne } from '../../serial.ts';
import { remoteCalls } from './rpc.ts';
import { inBounds } from './thread-answer.ts';

export interface ExpressionTestMethods {
  test(input: TestInput): Promise<Tested | string>;
}

/** Timeout including the thread's start, ms. */
const LIMIT = 5000;
/** Heap, MiB. */
const MEMORY = 128;
/** ms */
const IDLE = 60_000;

/** `schemesFile`: SCHEMES_FILE. One shared thread, started on demand and after a termination. */
export function expressionTester(schemesFile: string | undefined): ExpressionTester {
  const inTurn = oneByOne();
  let running: { readonly worker: Worker; readonly calls: ExpressionTestMethods } | undefined;
  let idle: NodeJS.Timeout | undefined;

  function start() {
    const worker = new Worker(new URL('./expression-test.thread.ts', import.meta.url), {
      name: 'expression test',
      workerData: { schemesFile },
      resourceLimits: { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: MEMORY },
    });
    worker.once('exit', () => {
      if (running?.worker === worker) running = undefined;
    });
    return { worker, calls: remoteCalls<ExpressionTestMethods>(worker) };
  }

  async function test(input: TestInput): Promise<Tested | string> {
    clearTimeout(idle);
    running ??= start();
    const { worker, calls } = running;
    worker.ref();
    try {
      return await inBounds(calls.test(input), LIMIT, tooMuch);
    } catch (error) {
      await worker.terminate();
      throw error;
    } finally {
      worker.unref();
      idle = setTimeout(() => void worker.terminate(), IDLE).unref();
    }
  }

  return (input) => inTurn(() => test(input));
}

const tooMuch = () => new WeirError('REFUSED', 'the expression takes too long or too much memory on this request');
