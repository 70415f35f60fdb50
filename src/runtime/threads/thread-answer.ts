/** Work that has a thread of its own, which ends with it: both ends. */
import { constants, setPriority } from 'node:os';
import { type MessagePort, parentPort, Worker } from 'node:worker_threads';
import { codeOf, WeirError } from '../../errors.ts';

/** What the thread tells in the end. */
type Told<T> = { readonly answer: T } | { readonly error: { readonly code: string | undefined; readonly message: string } };

interface ThreadWork {
  readonly name: string;
  /** What takes too long or too much, for who reads that. */
  readonly doing: string;
  /** ms */
  readonly time: number;
  /** What its heap may hold, MiB. */
  readonly memory: number;
}

/** Has a file do its work, which `answering` does there. Rejects with TOO_LARGE where it takes too long or too much, and as the work does. */
export async function threadAnswer<T>(file: URL, workerData: unknown, { name, doing, time, memory }: ThreadWork): Promise<T> {
  const worker = new Worker(file, { name, workerData, resourceLimits: { maxOldGenerationSizeMb: memory } });
  worker.unref();
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => reject(new WeirError('TOO_LARGE', `${doing} takes longer than ${time / 1000} s`)), time).unref();
  worker.on('message', (told: Told<T>) => {
    if ('answer' in told) resolve(told.answer);
    else reject(Object.assign(new Error(told.error.message), { code: told.error.code }));
  });
  worker.on('error', (error: Error & { code?: unknown }) =>
    reject(
      error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new WeirError('TOO_LARGE', `${doing} takes more than ${memory} MiB of memory`) : error,
    ),
  );
  worker.on('exit', () => reject(new Error('the thread has ended')));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

/** In the thread: does the work, behind those that answer where a thread has a priority of its own, and tells what came of it. */
export async function answering<T>(work: () => Promise<T>): Promise<void> {
  const tell = (told: Told<T>) => (parentPort as MessagePort).postMessage(told);
  if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);
  try {
    tell({ answer: await work() });
  } catch (error) {
    tell({ error: { code: codeOf(error), message: (error as Error).message } });
  }
}
