/** Which engines a configuration names. With the threads the only place that names drivers. */
import type { MessagePort } from 'node:worker_threads';
import type { Config } from '../config.ts';
import type { Store } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import { type LandingStatus, startConsumer } from '../stream/consumer.ts';
import { startHousekeeping, sweepSlice } from '../stream/housekeeping.ts';
import { openSqliteStream } from '../stream/sqlite/stream.ts';
import { openDataDir } from './data-dir.ts';
import { startEmbeddedEngine } from './writer.ts';

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
export type FeedSource = { readonly dataDir: string; readonly writes: MessagePort } | { readonly databaseUrl: string };

// Loaded only where they are used: an embedded start does not wait for them.
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

/** Opens the store in this thread and brings its schema up to date: for commands that run beside a server. */
export async function openStore(config: Config): Promise<Store> {
  if (config.databaseUrl !== undefined) return openPostgresStore(config.databaseUrl);
  openDataDir(config.dataDir);
  return openSqliteStore(config.dataDir);
}

/** Opens the stream in this thread. */
export async function openStream(config: Config): Promise<Stream> {
  if (config.kafkaBrokers !== undefined) return openKafkaStream(config, config.kafkaBrokers);
  openDataDir(config.dataDir);
  return openSqliteStream(config.dataDir);
}

/** Opens the engines of a server. */
export async function startEngine(config: Config, log: Log): Promise<Engine> {
  const { store, feedSource, landEmbedded } = await startStore(config, log);
  try {
    const stream = await openStream(config);
    let stopLanding = async () => {};
    return {
      store,
      stream,
      feedSource,
      async land() {
        if (landEmbedded !== undefined && config.kafkaBrokers === undefined) return landEmbedded();
        const consumer = startConsumer({ stream, store, now: Date.now, log });
        const stopHousekeeping = startHousekeeping(
          () => sweepSlice(stream, store, { streamHours: config.streamRetentionHours }, Date.now()),
          (error) => log('warn', `housekeeping will be tried again: ${error.message}`),
        );
        stopLanding = async () => {
          stopHousekeeping();
          await consumer.close();
        };
        return async () => consumer.status();
      },
      async close() {
        await stopLanding();
        await stream.close();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

interface StartedStore {
  readonly store: Store;
  readonly feedSource: () => FeedSource;
  /** Lands the embedded stream in the thread that writes the embedded store. */
  readonly landEmbedded?: () => Promise<() => Promise<LandingStatus>>;
}

async function startStore({ databaseUrl, dataDir, streamRetentionHours }: Config, log: Log): Promise<StartedStore> {
  if (databaseUrl !== undefined) return { store: await openPostgresStore(databaseUrl), feedSource: () => ({ databaseUrl }) };
  const embedded = await startEmbeddedEngine({ dataDir, streamHours: streamRetentionHours }, log);
  return {
    store: embedded.store,
    feedSource: () => ({ dataDir, writes: embedded.writesPort() }),
    async landEmbedded() {
      await embedded.startConsumer();
      return () => embedded.landing();
    },
  };
}
