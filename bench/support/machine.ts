/** What the machine itself makes a request wait, while something else runs on it. */
import { Worker } from 'node:worker_threads';

export interface MachineWatch {
  /** Ends the watch; ms of each answer. */
  end(): Promise<number[]>;
}

/**
 * Begins to ask a bare server in one thread, over and over (`pace` ms between two), from another; resolves when both are warm. On an idle
 * machine an answer takes well under a millisecond.
 */
export async function watchMachine(pace = 1): Promise<MachineWatch> {
  const thread = (url?: string) => new Worker(new URL('./machine.thread.ts', import.meta.url), { workerData: { url, pace }, argv: [] });
  const server = thread();
  const client = thread(await next<string>(server));
  await next(client);
  return {
    async end() {
      const waits = next<number[]>(client);
      client.postMessage('end');
      const all = await waits;
      await Promise.all([client.terminate(), server.terminate()]);
      return all;
    },
  };
}

const next = <T>(worker: Worker): Promise<T> =>
  new Promise((resolve, reject) => {
    worker.once('message', resolve).once('error', reject);
  });
