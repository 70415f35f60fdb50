/**
 * How long a changed feed takes from the store to finished bytes: `node bench/rebuild.ts [--rules 131072,1000000]`.
 * Limit, in the same run and process: the bare scan of the same rows through the same driver (all columns a feed needs, page by page).
 * With TEST_DATABASE_URL or a PostgreSQL that can be started here, the same on PostgreSQL (bare scan: row events).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { systemClock } from '../src/clock.ts';
import { feedEngine } from '../src/feed/engine.ts';
import { viewOf } from '../src/feed/names.ts';
import { geoDatabase } from '../src/geo/database.ts';
import { loadGeo } from '../src/geo/load.ts';
import type { RuleSink, Store } from '../src/ports.ts';
import { openPostgresStore } from '../src/store/postgres.ts';
import { openDatabase } from '../src/store/sqlite/database.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { noPostgres, startPostgres } from '../test/support/postgres.ts';
import { bareScan } from './postgres.ts';
import { blockHost, fill, fillStore, scattered } from './support/fill.ts';
import { printTable, quantile } from './support/load.ts';

const { values } = parseArgs({
  options: { rules: { type: 'string', default: '131072,1000000' }, rounds: { type: 'string', default: '7' } },
});
const ROUNDS = Number(values.rounds);
const geo = geoDatabase(await loadGeo({ country: undefined, asn: undefined }));
const rows: (string | number)[][] = [['rebuild after one change', 'bare scan ms', 'through the port ms', 'rebuild ms', 'of the bare scan']];

const nothing: RuleSink = { v4() {}, v6() {}, geo() {} };

/** Medians of the bare scan, of the snapshot alone, and of a whole build after a change has landed. */
async function measure(name: string, store: Store, bareScan: () => Promise<number> | number, rules: number): Promise<void> {
  const [workspace] = await store.workspaces();
  const list = (await store.directory(workspace.id))!.lists[0];
  const engine = feedEngine({ store, recordFeed: store.recordFeed, geo: () => geo, clock: systemClock });
  const view = viewOf({}, { format: 'plain', family: 'both', action: 'block' });
  const times = { bare: [] as number[], port: [] as number[], build: [] as number[] };
  let position = (await store.position('bench', 0)) ?? null;
  for (let round = 0; round < ROUNDS; round += 1) {
    const now = Date.now();
    const change = blockHost(scattered(rules + round) + 2, null);
    const record = { offset: position ?? 0, timestamp: now, key: workspace.id, headers: {}, value: '' };
    const item = { record, workspaceId: workspace.id, listId: list.id, receivedAt: now, change };
    await store.land({ streamId: 'bench', partition: 0, from: position, to: (position ?? 0) + 1, items: [item], poison: [], now });
    position = (position ?? 0) + 1;
    let begun = performance.now();
    const scanned = await bareScan();
    times.bare.push(performance.now() - begun);
    if (scanned < rules) throw new Error(`the bare scan saw ${scanned} rows`);
    begun = performance.now();
    await store.snapshot(workspace.id, list.id, now, nothing);
    times.port.push(performance.now() - begun);
    begun = performance.now();
    const built = await engine.build({
      workspaceId: workspace.id,
      listId: list.id,
      view,
      generation: round + 1,
      confirmedAt: 0,
      offline: false,
      shown: undefined,
    });
    times.build.push(performance.now() - begun);
    if (built.kind !== 'feed' || built.entryCount < rules) throw new Error(`built ${JSON.stringify({ ...built, bytes: undefined })}`);
  }
  const [bare, port, build] = [times.bare, times.port, times.build].map((list) => quantile(list, 0.5));
  rows.push([`${name}, ${rules} rules`, bare, port, build, build / bare]);
}

for (const rules of values.rules.split(',').map(Number)) {
  const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  console.error(`filling a store with ${rules} rules …`);
  await fillStore(dir, [{ name: 'default', rules, maxEntries: 4_000_000 }]);
  const store = await openSqliteStore(dir);
  const db = openDatabase(join(dir, 'weir.db'), { readOnly: true });
  const page = db.prepare(
    'SELECT id, action, v4, v6, expires_at, levels, target FROM access_rules WHERE list_pk = 1 AND id > ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY id LIMIT 8192',
  );
  page.setReturnArrays(true);
  const pages = () => {
    let seen = 0;
    for (let after = -1; ; ) {
      const read = page.all(after, Date.now()) as unknown as number[][];
      seen += read.length;
      if (read.length < 8192) return seen;
      after = read[read.length - 1][0];
    }
  };
  await measure('SQLite', store, pages, rules);
  db.close();
  await store.close();
  rmSync(dir, { recursive: true });
}
const skipped = noPostgres();
if (skipped) console.error(`PostgreSQL: ${skipped}`);
else {
  const rules = 131_072;
  const server = await startPostgres();
  const url = await server.createDatabase();
  const store = await openPostgresStore(url);
  console.error(`filling PostgreSQL with ${rules} rules …`);
  await fill(store, [{ name: 'default', rules, maxEntries: 4_000_000 }]);
  const client = new Client(url);
  await client.connect();
  const scan = 'SELECT id, action, v4, v6, expires_at, levels, target FROM access_rules WHERE list_pk = (SELECT min(pk) FROM lists)';
  await measure('PostgreSQL', store, () => bareScan(client, scan).then(() => rules), rules);
  await client.end();
  await store.close();
  await server.stop();
}
printTable(rows);
