/**
 * What the PostgreSQL store costs beside the bare statements it is made of, in one run on a server of its own: `node bench/postgres.ts`.
 */
import { Client, Query } from 'pg';
import type { LandingItem } from '../src/ports/landing.ts';
import type { RuleSink } from '../src/ports/snapshot.ts';
import { accessRow, BARE_UPSERT } from '../src/store/postgres/rule-statements.ts';
import { scanQuery } from '../src/store/postgres/snapshot.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { startOwnPostgres } from '../test/support/postgres.ts';
import { printTable } from './support/load.ts';

const DAY = 86_400_000;
const T0 = 1_800_000_000_000;

interface LandingFigures {
  /** Rules per second through `land`, and through a loop of the one bulk upsert with the same schema and indexes. */
  readonly landed: number;
  readonly bare: number;
  readonly ratio: number;
}

/** Lands `batches` of `size` new rules, each followed by the same upsert in a bare loop on a second database of the same server. */
async function measureLanding(urls: { store: string; bare: string }, batches = 100, size = 1000): Promise<LandingFigures> {
  const [store, other] = [await openPostgresStore(urls.store), await openPostgresStore(urls.bare)];
  const client = new Client({ connectionString: urls.bare });
  await client.connect();
  try {
    const organization = await store.createOrganization('bench', 'active');
    const workspace = await store.createWorkspace(organization.id, 'bench');
    const upsert = BARE_UPSERT;
    const spent = { landed: 0, bare: 0 };
    // A first round, not counted, warms both.
    for (let n = -5; n < batches; n += 1) {
      const at = (n + 5) * size;
      const items = Array.from({ length: size }, (_, i) => landingItem(workspace.id, at + i));
      const rows = items.map(bareRow);
      const counts = n >= 0 ? 1 : 0;
      spent.landed +=
        counts *
        (await timed(() => store.apply({ streamId: 's', partition: 0, from: at || null, to: at + size, items, poison: [], now: T0 })));
      spent.bare += counts * (await timed(() => client.query(upsert, [JSON.stringify(rows)])));
    }
    const rate = (ms: number) => Math.round((batches * size * 1000) / ms);
    return { landed: rate(spent.landed), bare: rate(spent.bare), ratio: spent.bare / spent.landed };
  } finally {
    await client.end();
    await store.close();
    await other.close();
  }
}

interface SnapshotFigures {
  /** Median ms of a snapshot, and of the same statement read by row events. */
  readonly snapshot: number;
  readonly bare: number;
  readonly ratio: number;
}

/** Reads `rules` host rules, `rounds` times each way in turn. */
async function measureSnapshot(url: string, rules = 131_072, rounds = 15): Promise<SnapshotFigures> {
  const store = await openPostgresStore(url);
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const organization = await store.createOrganization('bench', 'active');
    const workspace = await store.createWorkspace(organization.id, 'bench');
    for (let at = 0; at < rules; at += 1000) {
      const items = Array.from({ length: Math.min(1000, rules - at) }, (_, i) => landingItem(workspace.id, at + i));
      await store.apply({ streamId: 's', partition: 1, from: at || null, to: at + 1000, items, poison: [], now: T0 });
    }
    const { rows } = await client.query('SELECT pk FROM lists ORDER BY pk DESC LIMIT 1');
    const query = scanQuery([rows[0].pk], T0);
    await client.query('VACUUM ANALYZE access_rules');
    const times = { snapshot: [] as number[], bare: [] as number[] };
    for (let n = -3; n < rounds; n += 1) {
      const sink = countingSink();
      const snapshot = await timed(() => store.snapshot(workspace.id, null, T0, sink));
      if (sink.count() !== rules) throw new Error(`the snapshot has ${sink.count()} rules`);
      const bare = await timed(() => bareScan(client, query));
      if (n < 0) continue;
      times.snapshot.push(snapshot);
      times.bare.push(bare);
    }
    const [snapshot, bare] = [median(times.snapshot), median(times.bare)];
    return { snapshot, bare, ratio: snapshot / bare };
  } finally {
    await client.end();
    await store.close();
  }
}

function landingItem(workspaceId: string, n: number): LandingItem {
  // Scattered addresses, no two the same.
  const network = { family: 4, address: Math.imul(n + 1, 0x9e3779b1) >>> 0, prefix: 32 } as const;
  const rule = { name: 'bench', reason: 'failed logins', labels: null, config: null, confidence: null, severity: null };
  return {
    record: { offset: n, timestamp: T0, key: workspaceId, headers: {}, value: '' },
    workspaceId,
    listId: null,
    receivedAt: T0,
    batchId: null,
    keyId: null,
    change: {
      change: 'upsert',
      kind: 'access_rule',
      rule: { ...rule, ruleRef: null, expiresAt: T0 + DAY, action: 'block', target: { kind: 'ip', network } },
    },
  };
}

const numbered = (id: number) => ({ id, seq: id, firstId: id });
const bareRow = ({ record, change, receivedAt }: LandingItem) =>
  change.change === 'upsert' && change.kind === 'access_rule'
    ? accessRow({
        workspace: 1,
        list: 1,
        ...numbered(record.offset + 1),
        batch: null,
        change,
        createdAt: receivedAt,
        updatedAt: receivedAt,
      })
    : {};

function countingSink(): RuleSink & { count(): number } {
  let rules = 0;
  const add = () => {
    rules += 1;
  };
  return { v4: add, v6: add, geo: add, count: () => rules };
}

/** Reads rows by row events and forgets them; how many there were. */
export function bareScan(client: Client, text: string): Promise<number> {
  const config = { text, rowMode: 'array' };
  let rows = 0;
  return new Promise((resolve, reject) => {
    client
      .query(new Query(config))
      .on('row', () => {
        rows += 1;
      })
      .on('end', () => resolve(rows))
      .on('error', reject);
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

if (import.meta.main) {
  const server = await startOwnPostgres();
  try {
    const [store, bare, feed] = [await server.createDatabase(), await server.createDatabase(), await server.createDatabase()];
    const landing = await measureLanding({ store, bare });
    const snapshot = await measureSnapshot(feed);
    printTable([
      ['PostgreSQL', 'weir', 'bare', 'ratio'],
      ['landing in batches of 1000, rules/s', landing.landed, landing.bare, landing.ratio],
      ['snapshot of 131072 rules, ms; row events', snapshot.snapshot, snapshot.bare, snapshot.ratio],
    ]);
  } finally {
    await server.stop();
  }
}
