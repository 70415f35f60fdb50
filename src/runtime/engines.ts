/** Which engines a configuration names. Only this file and the threads name drivers. */
import type { MessagePort } from 'node:worker_threads';
import type { Config } from '../config.ts';
import type { Log } from '../ports/log.ts';
import type { Store, StoreReads } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import type { TracedLanding } from '../ports/trace.ts';
import type { Patience } from '../store/sqlite/database.ts';
import { openSqliteReads, openSqliteStore } from '../store/sqlite/store.ts';
import { newAppendCount, openSqliteStream } from '../stream/sqlite/stream.ts';
import { type ConsumerRole, type LandingReport, startConsumerRole } from './consumer-role.ts';
import { openDataDir } from './data-dir.ts';
import type { WaitingThread } from './waiting-thread.ts';
import { startEmbeddedEngine, type WriterData } from './writer.ts';

/** The engines of a serving process. */
export interface Engine {
  readonly store: Store;
  readonly stream: Stream;
  /** Starts the consumer role. Resolves with a function that tells how landing goes. */
  land(): Promise<() => Promise<LandingReport>>;
  /** What a feed thread needs to open the store for itself. */
  feedSource(): FeedSource;
  close(): Promise<void>;
}

/** How another thread reaches the store: its file, with a port for the writes, or its address. */
export type FeedSource = { readonly dataDir: string; readonly writes: MessagePort } | { readonly databaseUrl: string };

// Loaded only when they are used, so that an embedded start does not wait for them.
const openPostgresStore = async (url: string): Promise<Store> => (await import('../store/postgres/store.ts')).openPostgresStore(url);
const openKafkaStream = async (config: Config, brokers: readonly string[]): Promise<Stream> =>
  (await import('../stream/kafka/stream.ts')).openKafkaStream({
    brokers,
    topic: config.kafkaTopic,
    group: config.kafkaGroup,
    partitions: config.kafkaPartitions,
    replication: config.kafkaReplication,
    retentionHours: config.streamRetentionHours,
    tls: config.kafkaTls ? { ca: config.kafkaCaFile, cert: config.kafkaCertFile, key: config.kafkaKeyFile } : undefined,
    sasl: config.kafkaSaslMechanism && {
      mechanism: config.kafkaSaslMechanism,
      username: config.kafkaSaslUsername ?? '',
      password: config.kafkaSaslPassword ?? '',
    },
  });

/**
 * Opens the store in this thread and brings its schema up to date, for commands that write beside a server. `patience` says how long
 * they wait for the lock of the embedded store; PostgreSQL queues who waits, for 10 s.
 */
export async function openStore(config: Config, patience: Patience): Promise<Store> {
  if (config.databaseUrl !== undefined) return openPostgresStore(config.databaseUrl);
  openDataDir(config.dataDir);
  return openSqliteStore(config.dataDir, Date.now, patience);
}

/** Opens the store for commands that only read: nothing is made, migrated or locked. */
export async function openReads({ databaseUrl, dataDir }: Config): Promise<StoreReads & { close(): Promise<void> }> {
  if (databaseUrl === undefined) return openSqliteReads(dataDir);
  return (await import('../store/postgres/store.ts')).openPostgresReads(databaseUrl);
}

/** Opens the stream in this thread; the embedded one appends in a thread of its own, and counts that in `appended`. */
export async function openStream(config: Config, appended?: SharedArrayBuffer): Promise<Stream> {
  if (config.kafkaBrokers !== undefined) return openKafkaStream(config, config.kafkaBrokers);
  openDataDir(config.dataDir);
  return openSqliteStream(config.dataDir, appended);
}

/** Opens the engines of a server. Rejects with a readable reason when one is not there; what was opened is closed again. */
export async function startEngine(
  config: Config,
  log: Log,
  onTraced: (landing: TracedLanding) => void,
  writer?: WaitingThread<WriterData>,
): Promise<Engine> {
  const appended = newAppendCount();
  const { store, feedSource, landEmbedded } = await startStore(config, log, onTraced, { appended, thread: writer });
  try {
    const stream = await openStream(config, appended);
    let role: ConsumerRole | undefined;
    return {
      store,
      stream,
      feedSource,
      async land() {
        if (landEmbedded !== undefined && config.kafkaBrokers === undefined) return landEmbedded();
        const started = startConsumerRole({
          stream,
          store,
          streamHours: config.streamRetentionHours,
          log,
          debug: isDebug(config),
          onTraced,
        });
        role = started;
        return async () => started.status();
      },
      async close() {
        await role?.stop();
        await stream.close();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The store of a server, and what else its engine can do. */
interface StartedStore {
  readonly store: Store;
  readonly feedSource: () => FeedSource;
  /** Lands the embedded stream in the thread that writes the embedded store. */
  readonly landEmbedded?: () => Promise<() => Promise<LandingReport>>;
}

async function startStore(
  config: Config,
  log: Log,
  onTraced: (landing: TracedLanding) => void,
  { appended, thread }: { readonly appended: SharedArrayBuffer; readonly thread: WaitingThread<WriterData> | undefined },
): Promise<StartedStore> {
  const { databaseUrl, dataDir, streamRetentionHours } = config;
  if (databaseUrl !== undefined) return { store: await openPostgresStore(databaseUrl), feedSource: () => ({ databaseUrl }) };
  const data = { dataDir, appended, streamHours: streamRetentionHours, debug: isDebug(config) };
  const embedded = await startEmbeddedEngine(data, log, onTraced, thread);
  return {
    store: embedded.store,
    feedSource: () => ({ dataDir, writes: embedded.writesPort() }),
    async landEmbedded() {
      await embedded.startConsumer();
      return () => embedded.landing();
    },
  };
}

const isDebug = ({ logLevel }: Config): boolean => logLevel === 'debug' || logLevel === 'trace';
