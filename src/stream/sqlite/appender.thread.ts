/**
 * The appender thread of the embedded stream. Batches that arrive while one sync runs share the next.
 * In: { id, batch }, without batch for a probe · out: { ids } when durable, { ids, error } when not.
 */
import { BroadcastChannel, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { type EncodedBatch, logAppender, openLog } from './log.ts';

export interface AppendRequest {
  readonly id: number;
  /** undefined probes whether the file can be written. */
  readonly batch: EncodedBatch | undefined;
}
export interface AppendReply {
  readonly ids: number[];
  readonly error?: string;
}

/** Batches that a transaction holds at most, so that no sync waits for an unbounded write. */
const MOST = 256;

const { file } = workerData as { file: string };
const port = parentPort!;
const log = logAppender(openLog(file));
const wake = new BroadcastChannel(`appended ${file}`);

port.on('message', (first: AppendRequest | 'close') => {
  const requests: AppendRequest[] = [];
  let closing = first === 'close';
  if (first !== 'close') requests.push(first);
  while (!closing && requests.length < MOST) {
    const next = receiveMessageOnPort(port) as { message: AppendRequest | 'close' } | undefined;
    if (next === undefined) break;
    if (next.message === 'close') closing = true;
    else requests.push(next.message);
  }
  if (requests.length > 0) port.postMessage(commit(requests));
  if (closing) {
    wake.close();
    port.close();
  }
});

function commit(requests: readonly AppendRequest[]): AppendReply {
  const ids = requests.map((request) => request.id);
  try {
    const batches = requests.flatMap(({ batch = [] }) => batch);
    if (batches.length === 0) log.probe();
    else {
      log.append(batches, Date.now());
      wake.postMessage(null);
    }
    return { ids };
  } catch (error) {
    return { ids, error: (error as Error).message };
  }
}
