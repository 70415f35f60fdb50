/** Tenants with rules and a key per follower, and the processes that serve them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuid } from 'uuid';
import { keyParts } from '../../src/account/key.ts';
import type { Permission } from '../../src/account/permission.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { postSignals } from '../../test/support/http.ts';
import { kafkaForTests } from '../../test/support/kafka.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { KEY, startWeir, type Weir } from '../../test/support/weir.ts';
import { cpuSeconds, memoryMb } from '../support/process.ts';
import { host, RULES, WORKSPACES } from './changes.ts';

const BATCH = 1000;

export interface WorldOptions {
  readonly engine: string;
  readonly processes: number;
  readonly followers: number;
}

export interface World {
  /** Of each workspace: a key that sends signals, and the followers' keys. */
  readonly tenants: readonly { readonly writer: string; readonly keys: readonly string[] }[];
  readonly urls: readonly string[];
  /** CPU seconds and MiB of all processes. */
  cpu(): number;
  memory(): number;
  post(url: string, writer: string, entries: readonly object[]): Promise<void>;
  stop(): Promise<void>;
}

export const entry = (action: 'block' | 'unblock', ip: string) => ({ type: 'access_rules', action, ip });

/** Makes the tenants, starts the processes, and sends the rules. */
export async function startWorld({ engine, processes, followers }: WorldOptions): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const postgres = engine === 'postgres' ? await startPostgres() : undefined;
  const kafka = processes > 1 ? await kafkaForTests() : undefined;
  const shared = {
    ...(postgres && { DATABASE_URL: await postgres.createDatabase() }),
    ...(kafka && { KAFKA_BROKERS: kafka.brokers.join(','), KAFKA_TOPIC: `enforce-${process.pid}`, KAFKA_GROUP: `enforce-${process.pid}` }),
  };
  const store = await (postgres ? openPostgresStore(shared.DATABASE_URL!) : openSqliteStore(join(dir, '0')));
  await store.bootstrap({ ...keyParts(KEY), onlyWhenEmpty: true });
  const organization = await store.createOrganization('bench', 'active');
  const tenants = [];
  for (let n = 0; n < WORKSPACES; n += 1) {
    const { id } = await store.createWorkspace(organization.id, `workspace ${n}`);
    const writer = `enforce-writer-${n}-0123456789abcdef`;
    const count = Math.ceil((followers - n) / WORKSPACES);
    const keys = Array.from({ length: count }, (_, i) => `enforce-follower-${n}-${i}-0123456789`);
    const saved = (text: string, permissions: Permission[]) => ({
      ...{ id: uuid(), name: null, ...keyParts(text), permissions, listId: null, feedId: null, networks: [] },
      ...{ createdAt: Date.now(), expiresAt: null, revokedAt: null, lastUsedAt: null },
    });
    await store.restoreKeys(id, [saved(writer, ['signal:write', 'feed:read']), ...keys.map((key) => saved(key, ['feed:read']))]);
    tenants.push({ writer, keys });
  }
  await store.close();
  const weirs: Weir[] = [];
  for (let n = 0; n < processes; n += 1) {
    weirs.push(
      await startWeir({
        ...shared,
        ...{
          DATA_DIR: join(dir, String(n)),
          BOOTSTRAP_API_KEY: KEY,
          LOG_LEVEL: 'error',

          HOST: '0.0.0.0',
        },
        ...{ RATE_LIMIT_SIGNALS: '0', MAX_CONNECTIONS: '30000', MAX_CONNECTIONS_PER_ADDRESS: '30000' },
      }),
    );
  }
  const post = async (url: string, writer: string, entries: readonly object[]) => {
    const { status, text } = await postSignals(url, writer, entries);
    if (status !== 200) throw new Error(`a signal was answered with ${status}: ${text}`);
  };
  for (const [tenant, { writer }] of tenants.entries()) {
    for (let at = 0; at < RULES; at += BATCH) {
      await post(
        weirs[0]!.url,
        writer,
        Array.from({ length: BATCH }, (_, n) => entry('block', host(tenant, at + n))),
      );
    }
  }
  return {
    tenants,
    urls: weirs.map(({ url }) => url.replace('0.0.0.0', '127.0.0.1')),
    cpu: () => weirs.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0),
    memory: () => weirs.reduce((sum, { pid }) => sum + memoryMb(pid), 0),
    post,
    async stop() {
      await Promise.all(weirs.map((weir) => weir.kill('SIGTERM')));
      await Promise.all([postgres?.stop(), kafka?.stop()]);
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
