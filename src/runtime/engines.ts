/** Only this file and threads name drivers. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import type { Log } from '../ports/log.ts';
import type { Store, StoreReads, StoreWrites } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import type { TracedLanding } from '../ports/trace.ts';
import type { Config } from '../settings/settings.ts';
import type { OnMigrate, SchemaState } from '../store/migrate.ts';
import { type Opening, openSqliteReads, openSqliteStore, sqliteSchema } from '../store/sqlite/store.ts';
import { STREAM_FILE } from '../stream/sqlite/log.ts';
import { newAppendCount, openSqliteStream } from '../stream/sqlite/stream.ts';
import type { LandingReport } from './consumer-role.ts';
import { openDataDir } from './data-dir.ts';
import { refuseLostFile } from './lost-store.ts';
import { methodsOf } from './threads/rpc.ts';
import type { WaitingThread } from './threads/waiting-thread.ts';
import { startWriter, type Writer, type WriterData } from './threads/writer.ts';

export interface Engine {
  readonly store: Store;
  readonly stream: Stream;
  /** In the writer thread; resolves with the status function. */
  land(): Promise<() => Promise<LandingReport>>;
  /** For a feed thread's own connection. */
  feedSource(): FeedSource;
  close(): Promise<void>;
}

/** The file with a port for writes, or the URL. */
export type FeedSource = { readonly dataDir: string; readonly writes: MessagePort } | { readonly databaseUrl: string };

// Lazy: an embedded start does not need it.
const openPostgresStore = async (url: string, onMigrate?: OnMigrate): Promise<Store> =>
  (await import('../store/postgres/store.ts')).openPostgresStore(url, onMigrate && { onMigrate });
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

/** `mayBeNew`: allows a new store next to a used stream. */
export type StoreOpening = Opening & { readonly mayBeNew?: boolean };

/**
 * In this thread: for the writer thread and writing commands. `opening.patience`: wait for the lock of the embedded store; PostgreSQL
 * queues for 10 s.
 */
export async function openStore(config: Config, opening: StoreOpening = {}): Promise<Store> {
  if (config.databaseUrl !== undefined) return openPostgresStore(config.databaseUrl, opening.onMigrate);
  openDataDir(config.dataDir);
  if (config.kafkaBrokers === undefined && !opening.mayBeNew) refuseLostFile(config.dataDir);
  return openSqliteStore(config.dataDir, Date.now, opening);
}

/** For reading commands: no migration, no lock. */
export async function openReads({ databaseUrl, dataDir }: Config): Promise<StoreReads & { close(): Promise<void> }> {
  if (databaseUrl === undefined) return openSqliteReads(dataDir);
  return (await import('../store/postgres/store.ts')).openPostgresReads(databaseUrl);
}

export async function schemaOf({ databaseUrl, dataDir }: Config): Promise<SchemaState> {
  if (databaseUrl === undefined) return sqliteSchema(dataDir);
  return (await import('../store/postgres/store.ts')).postgresSchema(databaseUrl);
}

/** Name and version of the program that has the store. */
export async function storeVersion({ databaseUrl }: Config): Promise<string> {
  if (databaseUrl === undefined) return `SQLite ${process.versions.sqlite}, embedded`;
  const db = (await import('../store/postgres/database.ts')).openDatabase(databaseUrl, { connections: 1 });
  try {
    return `PostgreSQL ${(await db.one("SELECT current_setting('server_version') AS version"))?.version}`;
  } finally {
    await db.close();
  }
}

/** Avoids creating the embedded stream by opening it. */
export const isStreamThere = ({ kafkaBrokers, dataDir }: Config): boolean =>
  kafkaBrokers !== undefined || existsSync(join(dataDir, STREAM_FILE));

/** The embedded one appends in its own thread and counts in `appended`. */
export async function openStream(config: Config, appended?: SharedArrayBuffer): Promise<Stream> {
  if (config.kafkaBrokers !== undefined) return openKafkaStream(config, config.kafkaBrokers);
  openDataDir(config.dataDir);
  return openSqliteStream(config.dataDir, appended);
}

/** `loaded`: a writer thread started earlier. Rejects with a readable reason and closes what was opened. */
export async function startEngine(
  config: Config,
  log: Log,
  onTraced: (landing: TracedLanding) => void,
  loaded?: WaitingThread<WriterData>,
): Promise<Engine> {
  const { databaseUrl, dataDir } = config;
  const appended = newAppendCount();
  let started: Writer | undefined;
  const writer = () => {
    started ??= startWriter({ config, appended }, log, onTraced, loaded);
    return started;
  };
  const store = await (databaseUrl === undefined
    ? openEmbeddedStore(writer(), dataDir)
    : openPostgresStore(databaseUrl, (sentence) => log('info', sentence)));
  const close = async () => {
    await store.close();
    // The writer closes last: only the last connection with write access empties the WAL.
    await started?.close();
  };
  try {
    const stream = await openStream(config, appended);
    return {
      store,
      stream,
      feedSource: () => (databaseUrl === undefined ? { dataDir, writes: writer().writesPort() } : { databaseUrl }),
      async land() {
        const { startConsumer, landing } = writer();
        await startConsumer();
        return landing;
      },
      async close() {
        await stream.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Reads here, writes in the writer thread, which migrates first. */
async function openEmbeddedStore({ writes }: Writer, dataDir: string): Promise<Store> {
  await writes.migrate();
  return methodsOf<StoreWrites, ReturnType<typeof openSqliteReads>>(
    (method, args) => (writes[method] as (...args: unknown[]) => unknown)(...args),
    openSqliteReads(dataDir),
  );
}
