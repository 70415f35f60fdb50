/** The only writer of the embedded store, and the consumer for all engines: messages go from stream to store within one thread. */
import { parentPort } from 'node:worker_threads';
import type { Log } from '../../ports/log.ts';
import { startConsumerRole } from '../consumer-role.ts';
import { openStore, openStream } from '../engines.ts';
import { serveCalls, shutdownBy } from './rpc.ts';
import { beginning } from './waiting-thread.ts';
import type { WriterControl, WriterData, WriterNews } from './writer.ts';

const { config, appended } = await beginning<WriterData>();
const MEBIBYTE = 1024 * 1024;
const port = parentPort!;
const push = (news: WriterNews) => port.postMessage(news);
const log: Log = (level, message) => push({ log: { level, message } });
const store = await openStore(config, { onMigrate: (sentence) => log('info', sentence) });
let landing: Awaited<ReturnType<typeof startLanding>> | undefined;

async function startLanding() {
  const stream = await openStream(config, appended);
  const { streamRetentionHours: streamHours, streamRetentionMb, maxAuditMb, logLevel } = config;
  const keeping = { streamHours, streamBytes: streamRetentionMb * MEBIBYTE, auditBytes: maxAuditMb * MEBIBYTE };
  const debug = logLevel === 'debug' || logLevel === 'trace';
  return { stream, role: startConsumerRole({ stream, store, keeping, log, debug, onTraced: (traced) => push({ traced }) }) };
}

const control: WriterControl = {
  async connect(other) {
    serveCalls(other, store);
  },
  async startConsumer() {
    landing = await startLanding();
  },
  landing: async () => landing?.role.status() ?? { state: 'running' },
  shutdown: shutdownBy(port, async () => {
    await landing?.role.stop();
    await landing?.stream.close();
    await store.close();
  }),
};
serveCalls(port, { ...store, ...control });
