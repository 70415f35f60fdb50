/**
 * The writer thread of the embedded engine: the one place that writes the store's file while a server runs, and, in the
 * consumer role, the consumer itself, so that records go from stream.db to weir.db without crossing a thread.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { openSqliteStore } from '../store/sqlite/store.ts';
import { type Consumer, startConsumer } from '../stream/consumer.ts';
import { startHousekeeping, sweepSlice } from '../stream/housekeeping.ts';
import { openSqliteStream } from '../stream/sqlite/stream.ts';
import { serveCalls } from './rpc.ts';
import type { WriterControl, WriterData } from './writer.ts';

const { dataDir, streamHours } = workerData as WriterData;
const port = parentPort!;
const store = await openSqliteStore(dataDir);
let consumer: Consumer | undefined;
let stopHousekeeping: (() => void) | undefined;
let closeStream: (() => Promise<void>) | undefined;

const log = (level: 'info' | 'warn' | 'error', message: string) => port.postMessage({ log: { level, message } });

const control: WriterControl = {
  async connect(other) {
    serveCalls(other, store);
  },
  async startConsumer() {
    const stream = openSqliteStream(dataDir);
    closeStream = () => stream.close();
    consumer = startConsumer({ stream, store, now: Date.now, log });
    stopHousekeeping = startHousekeeping(
      () => sweepSlice(stream, store, { streamHours }, Date.now()),
      (error) => log('warn', `housekeeping will be tried again: ${error.message}`),
    );
  },
  async landing() {
    return consumer?.status() ?? { state: 'running' };
  },
  async shutdown() {
    stopHousekeeping?.();
    await consumer?.close();
    await closeStream?.();
    await store.close();
    setImmediate(() => port.close());
  },
};
serveCalls(port, { ...store, ...control });
