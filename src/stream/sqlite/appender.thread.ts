/**
 * Batches that arrive during a sync share the next one. In: { id, batch, more } (rows of one id follow until `more` is false), { id,
 * discard } to abandon them, or { id, batch: undefined } for a probe. Out: { ids } when durable, { ids, error } otherwise.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { type EncodedBatch, logAppender, openLog } from './log.ts';

export interface AppenderData {
  readonly file: string;
  /** Each append increments it and wakes waiting readers. */
  readonly appended: SharedArrayBuffer;
}
export interface AppendRequest {
  readonly id: number;
  /** undefined: probe whether the file is writable. */
  readonly batch: EncodedBatch | undefined;
  /** All rows of an id become durable together. */
  readonly more: boolean;
}
export interface DiscardRequest {
  readonly id: number;
  readonly discard: true;
}
export interface AppendReply {
  readonly ids: number[];
  readonly error?: string;
}

/** No sync waits for an unbounded write. */
const MOST = 256;

const { file, appended } = workerData as AppenderData;
const port = parentPort!;
const log = logAppender(openLog(file));
const appends = new Int32Array(appended);

/** Rows of incomplete requests. */
const begun = new Map<number, EncodedBatch[]>();

interface Complete {
  readonly id: number;
  readonly batches: readonly EncodedBatch[];
}

/** With all of its rows, once this is the last one. */
function complete(request: AppendRequest | DiscardRequest): Complete[] {
  if ('discard' in request) {
    begun.delete(request.id);
    return [];
  }
  const { id, batch, more } = request;
  const batches = begun.get(id) ?? [];
  if (batch !== undefined) batches.push(batch);
  if (more) {
    begun.set(id, batches);
    return [];
  }
  begun.delete(id);
  return [{ id, batches }];
}

type Request = AppendRequest | DiscardRequest | 'close';

port.on('message', (first: Request) => {
  const requests: Complete[] = [];
  let closing = first === 'close';
  if (first !== 'close') requests.push(...complete(first));
  while (!closing && requests.length < MOST) {
    const next = receiveMessageOnPort(port) as { message: Request } | undefined;
    if (next === undefined) break;
    if (next.message === 'close') closing = true;
    else requests.push(...complete(next.message));
  }
  if (requests.length > 0) port.postMessage(commit(requests));
  if (closing) port.close();
});

/** At once: the garbage collector hardly counts memory outside of its heap. */
function free(batches: readonly EncodedBatch[]): void {
  for (const { text } of batches) if (typeof text !== 'string') text.buffer.transfer(0);
}

function commit(requests: readonly Complete[]): AppendReply {
  const ids = requests.map((request) => request.id);
  const batches = requests.flatMap(({ batches }) => batches);
  try {
    if (batches.length === 0) log.probe();
    else {
      log.append(batches, Date.now());
      Atomics.add(appends, 0, 1);
      Atomics.notify(appends, 0);
    }
    return { ids };
  } catch (error) {
    return { ids, error: (error as Error).message };
  } finally {
    free(batches);
  }
}
