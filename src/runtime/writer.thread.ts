/**
 * The writer thread of the embedded engine: the one place that writes the store's file while a server runs, and, in the
 * consumer role, the consumer itself, so that records go from stream.db to weir.db without crossing a thread.
 */
import { parentPort } from 'node:worker_threads';
import type { Log } from '../ports/log.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import { openSqliteStream } from '../stream/sqlite/stream.ts';
import { startConsumerRole } from './consumer-role.ts';
import { serveCalls } from './rpc.ts';
import { beginning } from './waiting-thread.ts';
import type { WriterControl, WriterData, WriterNews } from './writer.ts';

const { dataDir, appended, streamHours, debug } = await beginning<WriterData>();
const port = parentPort!;
const store = await openSqliteStore(dataDir);
/** The consumer role with its stream, once it is started. */
let landing: ReturnType<typeof startLanding> | undefined;

function startLanding() {
  const stream = openSqliteStream(dataDir, appended);
  const tell = (news: WriterNews) => port.postMessage(news);
  const log: Log = (level, message) => tell({ log: { level, message } });
  return { stream, role: startConsumerRole({ stream, store, streamHours, log, debug, onTraced: (traced) => tell({ traced }) }) };
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
