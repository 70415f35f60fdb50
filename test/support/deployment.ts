/** weir split in roles, each process one role, over one PostgreSQL and one topic of Kafka. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../src/ports/store.ts';
import type { Stream } from '../../src/ports/stream.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { partitionOf } from '../../src/stream/kafka/record.ts';
import { openKafkaStream } from '../../src/stream/kafka/stream.ts';
import { commandJson, newTenant, type Tenant } from './command.ts';
import { smallGeo } from './geo.ts';
import { freePort } from './http.ts';
import type { Postgres } from './postgres.ts';
import { eventually, startWeir, type Weir } from './weir.ts';

export const PARTITIONS = 4;

export interface Deployment {
  readonly database: string;
  readonly brokers: readonly string[];
  readonly topic: string;
  /** What every process is started with. */
  readonly settings: Readonly<Record<string, string>>;
  /** The engines, opened beside the processes. */
  readonly store: Store;
  readonly stream: Stream;
  /** Starts a process with these settings besides the common ones. */
  start(settings: Readonly<Record<string, string>>): Promise<Weir>;
  /** Kills a process where it stands and starts another in its place: same settings, same port. */
  restart(weir: Weir, signal?: NodeJS.Signals): Promise<Weir>;
  /** One new workspace for each partition of the topic. */
  tenants(): Promise<Tenant[]>;
  /** Resolves when everything that is in the topic now has landed. */
  landed(ms?: number): Promise<void>;
  stop(): Promise<void>;
}

/** Opens an empty database and topic for a deployment; the engines themselves are its caller's to stop. */
export async function deploy(postgres: Postgres, kafka: { readonly brokers: string[] }, topic: string): Promise<Deployment> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-deployment-'));
  const database = await postgres.createDatabase();
  const store = await openPostgresStore(database);
  const { brokers } = kafka;
  const stream = await openKafkaStream({ brokers, topic, partitions: PARTITIONS, retentionHours: 24, group: `${topic}-watcher` });
  const common = {
    DATA_DIR: folder,
    DATABASE_URL: database,
    KAFKA_BROKERS: brokers.join(','),
    KAFKA_TOPIC: topic,
    RATE_LIMIT_SIGNALS: '0',
    RATE_LIMIT_ENTRIES: '0',
    RATE_LIMIT_FEEDS: '0',
    ...smallGeo(folder),
  };
  const processes = new Map<Weir, Readonly<Record<string, string>>>();

  async function start(settings: Readonly<Record<string, string>>): Promise<Weir> {
    // One that it can have again after a restart.
    const PORT = settings.PORT ?? String(await freePort());
    const weir = await startWeir({ ...common, ...settings, PORT });
    processes.set(weir, settings);
    return weir;
  }

  return {
    database,
    brokers,
    topic,
    settings: common,
    store,
    stream,
    start,
    async restart(weir, signal = 'SIGKILL') {
      const settings = processes.get(weir)!;
      processes.delete(weir);
      await weir.kill(signal);
      return start({ ...settings, PORT: new URL(weir.url).port });
    },
    async tenants() {
      const organization = (await commandJson<{ id: string }>(['org', 'create', 'load'], common)).id;
      const found = new Map<number, Tenant>();
      for (let n = 1; found.size < PARTITIONS; n += 1) {
        const made = await newTenant(common, { organization, workspace: `load ${n}` });
        found.set(partitionOf(made.workspaceId, PARTITIONS), made);
      }
      return [...found.values()];
    },
    async landed(ms = 60_000) {
      const id = await stream.id();
      for (let partition = 0; partition < PARTITIONS; partition += 1) {
        const { end } = await stream.bounds(partition);
        await eventually(async () => {
          const position = (await store.position(id, partition)) ?? 0;
          assert.ok(position >= end, `partition ${partition} has landed up to ${position} of ${end}`);
        }, ms);
      }
    },
    async stop() {
      await Promise.all([...processes.keys()].map((weir) => weir.kill('SIGKILL')));
      await stream.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
