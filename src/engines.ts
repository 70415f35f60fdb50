/** Which engines a configuration names. With the threads the only place that names drivers. */
import { type MessagePort, threadId } from 'node:worker_threads';
import type { Config } from './config.ts';
import { startEmbeddedEngine } from './embedded.ts';
import type { Store, Stream } from './ports.ts';
import { openSqliteStore } from './store/sqlite.ts';
import { type LandingStatus, startConsumer } from './stream/consumer.ts';
import { startHousekeeping, sweepSlice } from './stream/housekeeping.ts';
import { openSqliteStream } from './stream/sqlite.ts';

export type Log = (level: 'info' | 'warn' | 'error', message: string) => void;

/** The engines of a serving process. */
export interface Engine {
  readonly store: Store;
  readonly stream: Stream;
  /** Starts the consumer role; resolves with what tells how landing goes. */
  land(): Promise<() => Promise<LandingStatus>>;
  /** What a feed thread needs to open the store for itself. */
  feedSource(): FeedSource;
  close(): Promise<void>;
}

/** How a thread of its own reaches the store: a file beside a port for the writes, or an address. */
export type FeedSource = { readonly dataDir: string; readonly writes: MessagePort };

/** Opens the store in this thread and brings its schema up to date: for commands that run beside a server. */
export async function openStore(config: Config): Promise<Store> {
  return openSqliteStore(config.dataDir);
}

/** Opens the stream in this thread. */
export async function openStream(config: Config): Promise<Stream> {
  return openSqliteStream(config.dataDir);
}

/** Opens the engines of a server. Each part that was opened is closed again when a later one cannot be. */
export async function startEngine(config: Config, log: Log): Promise<Engine> {
  const embedded = await startEmbeddedEngine({ dataDir: config.dataDir, streamHours: config.streamRetentionHours }, log);
  const stream = await openStream(config);
  return {
    store: embedded.store,
    stream,
    async land() {
      await embedded.startConsumer();
      return () => embedded.landing();
    },
    feedSource: () => ({ dataDir: config.dataDir, writes: embedded.writesPort() }),
    async close() {
      await embedded.store.close();
      await stream.close();
    },
  };
}
void [threadId, startConsumer, startHousekeeping, sweepSlice];
