/** Threads that load what they need while a start goes on elsewhere, and begin when they are told what they work with. */
import { once } from 'node:events';
import { MessageChannel, type MessagePort, type Transferable, Worker, type WorkerOptions, workerData } from 'node:worker_threads';

/** A thread that has not begun. It does not keep the process alive. */
export interface WaitingThread<T> {
  /** Lets it begin, once. What `transfers` names of the data is handed over. */
  begin(data: T, transfers?: readonly Transferable[]): Worker;
}

/** Starts a thread whose file awaits `beginning`. */
export function startWaiting<T>(file: URL, options: WorkerOptions): WaitingThread<T> {
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(file, { ...options, workerData: port2, transferList: [port2] });
  worker.unref();
  return {
    begin(data, transfers = []) {
      port1.postMessage(data, transfers);
      worker.ref();
      return worker;
    },
  };
}

/** In such a thread: resolves with what it works with. */
export async function beginning<T>(): Promise<T> {
  const port = workerData as MessagePort;
  const [data] = (await once(port, 'message')) as [T];
  port.close();
  return data;
}
