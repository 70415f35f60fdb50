/**
 * The writer thread of the embedded engine: the one place that writes the store's file while a server runs, and, in the
 * consumer role, the consumer itself, so that records go from stream.db to weir.db without crossing a thread.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { openSqliteStore } from '../store/sqlite/store.ts';
import { openSqliteStream } from '../stream/sqlite/stream.ts';
import { startConsumerRole } from './consumer-role.ts';
import { serveCalls } from './rpc.ts';
import type { WriterControl, WriterData, WriterLogLine } from './writer.ts';

const { dataDir, streamHours } = workerData as WriterData;
const port = parentPort!;
const store = await openSqliteStore(dataDir);
/** The consumer role with its stream, once it is started. */
let landing: ReturnType<typeof startLanding> | undefined;

function startLanding() {
  const stream = openSqliteStream(dataDir);
  const log = (level: WriterLogLine['log']['level'], message: string) =>
    port.postMessage({ log: { level, message } } satisfies WriterLogLine);
  return { stream, role: startConsumerRole({ stream, store, streamHours, log }) };
}

const control: WriterControl = {
  async connect(other) {
    serveCalls(other, store);
  },
  async startConsumer() {
    landing = startLanding();
  },
  async landing() {
    return landing?.role.status() ?? { state: 'running' };
  },
  async shutdown() {
    await landing?.role.stop();
    await landing?.stream.close();
    await store.close();
    setImmediate(() => port.close());
  },
};
serveCalls(port, { ...store, ...control });
