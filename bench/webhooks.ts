/**
 * What webhooks cost: of 2,000 workspaces none has one, or each has one and ten keys, five sources and a device. The processor time of a look,
 * and of the looks of a second, in a store of its own in this process. Prints a table; exits with 1 when a limit is missed.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NO_GUARD_RAILS } from '../src/account/guard-rails.ts';
import { NO_SETTINGS } from '../src/account/list.ts';
import { DEFAULT_GUARDS, PLAIN_READING } from '../src/account/source.ts';
import { readConfig } from '../src/config.ts';
import { webhooksOf } from '../src/roles/webhooks.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { hookReceiver } from '../test/support/hook-receiver.ts';
import { testEnvironment } from '../test/support/weir.ts';

const WORKSPACES = 2000;
/** Looks and ticks that are measured. */
const LOOKS = 20;
const folder = mkdtempSync(join(tmpdir(), 'weir-webhooks-'));
const store = await openSqliteStore(folder);
const receiver = await hookReceiver();
const read = readConfig(testEnvironment({ WEBHOOK_NETWORKS: '127.0.0.1' }) as Record<string, string>);
if (!('config' in read)) throw new Error(read.faults.join());
let passed = 0;
const clock = { now: () => Date.now() + passed, monotonic: () => performance.now() + passed };
const service = { engines: { store: 'a', stream: 'b' }, geo: () => ({ version: '', country: { age_days: 0 }, asn: { age_days: 0 } }) };
const guardRails = { ...NO_GUARD_RAILS, minPrefixV4: 8, self: [] } as never;
const telling = webhooksOf({ config: read.config, store, guardRails, log: (_, text) => console.error(text) }, service, clock);

const organization = await store.createOrganization('acme', 'active');
const workspaces: string[] = [];
for (let n = 0; n < WORKSPACES; n += 1) {
  const { id } = await store.createWorkspace(organization.id, `w${n}`);
  workspaces.push(id);
  for (let key = 0; key < 10; key += 1) {
    const made = { name: `k${key}`, prefix: '', permissions: ['feed:read'] as const, listId: null, feedId: null, expiresAt: null };
    await store.createKey(id, { ...made, hash: randomBytes(32) });
  }
  for (let source = 0; source < 5; source += 1)
    await store.createSource(
      id,
      {
        ...{
          id: randomUUID(),
          name: `s${source}`,
          list: NO_SETTINGS,
          secret: null,
          url: 'https://a.example/',
          purpose: 'block',
          every: 3600,
        },
        ...{ reading: PLAIN_READING, guards: DEFAULT_GUARDS },
        ...{ credential: null, copies: [], catalogue: null },
      },
      { maxSources: 0, maxLists: 0 },
    );
}

/** Processor time and wall time of a tick that looks, ms. */
async function looks(): Promise<{ cpu: number; wall: number }> {
  const [from, at] = [process.cpuUsage(), performance.now()];
  for (let n = 0; n < LOOKS; n += 1) {
    passed += 5000;
    await telling.tick(true);
    await telling.idle();
  }
  const { user, system } = process.cpuUsage(from);
  return { cpu: (user + system) / 1000 / LOOKS, wall: (performance.now() - at) / LOOKS };
}

const none = await looks();
for (const id of workspaces)
  await store.createWebhook(id, { id: randomUUID(), name: 'soc', url: receiver.url, style: 'weir', secret: null });
// That it was made is told.
while (receiver.received.length < WORKSPACES) await looks();
passed += 60_000;
const all = await looks();
await telling.stop();
await receiver[Symbol.asyncDispose]();
await store.close();
rmSync(folder, { recursive: true });

const rows = [
  { figure: 'a look, nobody has a webhook', ms: none.wall, cpu: none.cpu, limit: 1 },
  { figure: 'a look at 200 of 2,000 workspaces, each with a webhook', ms: all.wall, cpu: all.cpu, limit: 250 },
];
for (const { figure, ms, cpu, limit } of rows)
  console.log(`${figure}: ${ms.toFixed(2)} ms, ${cpu.toFixed(2)} ms of CPU, ${(cpu / 50).toFixed(2)}% of a core (limit ${limit} ms)`);
process.exitCode = rows.every(({ cpu, limit }) => cpu <= limit) ? 0 : 1;
