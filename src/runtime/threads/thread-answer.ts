/** A task with its own thread: both ends. */
import { constants, setPriority } from 'node:os';
import { type MessagePort, parentPort, type Transferable, Worker } from 'node:worker_threads';
import { WeirError } from '../../errors.ts';
import { remoteCalls, serveCalls } from './rpc.ts';

interface ThreadWork {
  readonly name: string;
  /** For the error message. */
  readonly doing: string;
  /** ms */
  readonly time: number;
  /** Heap, MiB. */
  readonly memory: number;
}

interface ThreadMethods<T> {
  answer(): Promise<T>;
}

/** Runs a file that calls `answering`. `transferList`: ports in its data. Rejects with TOO_LARGE above the limits, and like the task. */
export async function threadAnswer<T>(
  file: URL,
  workerData: unknown,
  { name, doing, time, memory }: ThreadWork,
  transferList: Transferable[] = [],
): Promise<T> {
  const resourceLimits = { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: memory };
  const worker = new Worker(file, { name, workerData, transferList, resourceLimits });
  worker.unref();
  try {
    return await inBounds(remoteCalls<ThreadMethods<T>>(worker).answer(), time, (what) => {
      const bound = what === 'time' ? `longer than ${time / 1000} s` : `more than ${memory} MiB of memory`;
      return new WeirError('TOO_LARGE', `${doing} takes ${bound}`);
    });
  } finally {
    await worker.terminate();
  }
}

/** Applies limits to an answer; above them rejects with `tooMuch`. */
export async function inBounds<T>(answer: Promise<T>, time: number, tooMuch: (what: 'time' | 'memory') => Error): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(tooMuch('time')), time).unref();
  try {
    return await Promise.race([answer, late]);
  } catch (error) {
    throw (error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch('memory') : error;
  } finally {
    clearTimeout(timer);
  }
}

/** In the thread, at low priority where threads have one. */
export function answering<T>(answer: () => Promise<T>): void {
  if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);
  serveCalls(parentPort as MessagePort, { answer } satisfies ThreadMethods<T>);
}
