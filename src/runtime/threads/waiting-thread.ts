/** Threads that load code early and start with their data. */
import { once } from 'node:events';
import { MessageChannel, type MessagePort, type Transferable, Worker, type WorkerOptions, workerData } from 'node:worker_threads';

/** Does not keep the process alive. */
export interface WaitingThread<T> {
  /** Once. `transfers`: values to transfer. */
  begin(data: T, transfers?: readonly Transferable[]): Worker;
}

/** The file awaits `beginning`. */
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

export async function beginning<T>(): Promise<T> {
  const port = workerData as MessagePort;
  const [data] = (await once(port, 'message')) as [T];
  port.close();
  return data;
}
