/** The embedded engine of a server: reads in this thread, writes and the consumer in the writer thread. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Log } from '../ports/log.ts';
import type { Store, StoreWrites } from '../ports/store.ts';
import type { TracedLanding } from '../ports/trace.ts';
import { openSqliteReads } from '../store/sqlite/store.ts';
import type { LandingReport } from './consumer-role.ts';
import { type MethodNames, remoteCalls } from './rpc.ts';
import { startWaiting, type WaitingThread } from './waiting-thread.ts';

/** What the writer thread works with. */
export interface WriterData {
  readonly dataDir: string;
  /** Counts what this process appends to the embedded stream. */
  readonly appended: SharedArrayBuffer;
  /** How long landed messages of the stream are kept, hours. */
  readonly streamHours: number;
  /** Whether each landing is logged. */
  readonly debug: boolean;
}

/** What the writer thread sends unasked: a line for the log, or what has landed of a trace. */
export type WriterNews =
  | { readonly log: { readonly level: Parameters<Log>[0]; readonly message: string } }
  | { readonly traced: TracedLanding };

/** What another thread may call besides the store's writes. */
export interface WriterControl {
  /** Serves the store's writes on this port too; it is handed over. */
  connect(port: MessagePort): Promise<void>;
  /** Starts the consumer role. */
  startConsumer(): Promise<void>;
  /** How landing goes. */
  landing(): Promise<LandingReport>;
  /** Ends the consumer after its transaction, closes the files. */
  shutdown(): Promise<void>;
}

const METHODS: MethodNames<StoreWrites & WriterControl> = {
  migrate: true,
  apply: true,
  recordFeed: true,
  recordTold: true,
  recordBouncers: true,
  sweep: true,
  bootstrap: true,
  createOrganization: true,
  setSubscription: true,
  createWorkspace: true,
  updateWorkspace: true,
  createKey: true,
  revokeKey: true,
  touchKeys: true,
  createList: true,
  updateList: true,
  deleteList: true,
  createFeed: true,
  updateFeed: true,
  deleteFeed: true,
  restoreLists: true,
  restoreKeys: true,
  rememberAnswer: true,
  dropDeadLetter: true,
  noteChange: true,
  adoptStream: true,
  openSession: true,
  closeSession: true,
  noteFeedSizes: true,
  noteDevices: true,
  markStopped: true,
  connect: true,
  startConsumer: true,
  landing: true,
  shutdown: true,
};

/** The store of the embedded engine, and the consumer role beside it. */
export interface EmbeddedEngine {
  readonly store: Store;
  /** A port that serves the store's writes, to hand to another thread. */
  writesPort(): MessagePort;
  startConsumer(): Promise<void>;
  landing(): Promise<LandingReport>;
}

/** Starts a writer thread that loads its part. */
export const loadWriter = (): WaitingThread<WriterData> =>
  startWaiting(new URL('./writer.thread.ts', import.meta.url), {
    name: 'writer',
    // Far more than it needs at any time; the less it may have, the earlier garbage is collected (MB).
    resourceLimits: { maxYoungGenerationSizeMb: 24, maxOldGenerationSizeMb: 1024 },
  });

/** Lets a writer thread begin, which applies the migrations, and opens the reads beside it. */
export async function startEmbeddedEngine(
  data: WriterData,
  log: Log,
  onTraced: (landing: TracedLanding) => void,
  writer: WaitingThread<WriterData> = loadWriter(),
): Promise<EmbeddedEngine> {
  const worker = writer.begin(data);
  worker.on('message', (news: WriterNews | object) => {
    if ('log' in news) log(news.log.level, news.log.message);
    else if ('traced' in news) onTraced(news.traced);
  });
  const remote = remoteCalls<StoreWrites & WriterControl>(worker, METHODS);
  await remote.migrate();
  const reads = openSqliteReads(data.dataDir);
  return {
    store: {
      ...remote,
      ...reads,
      async close() {
        // The writer closes last: only the last connection, and only one that may write, empties the write-ahead log.
        await reads.close();
        await remote.shutdown();
        await worker.terminate();
      },
    },
    writesPort() {
      const { port1, port2 } = new MessageChannel();
      // Where the thread has ended, calls on the other port reject.
      remote.connect(port1).catch(() => port1.close());
      return port2;
    },
    startConsumer: () => remote.startConsumer(),
    landing: () => remote.landing(),
  };
}
