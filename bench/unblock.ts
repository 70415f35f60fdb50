/**
 * 5,000 unblocks in a list of 131,072 rules, half of them with a rule_ref, both engines: `node bench/unblock.ts [--json]`.
 * Against the upserts of the same 5,000 targets that come before them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LandingItem } from '../src/ports/landing.ts';
import type { Store } from '../src/ports/store.ts';
import type { RuleChange } from '../src/rule.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { noOwnPostgres, startOwnPostgres } from '../test/support/postgres.ts';
import { type Figure, report } from './support/figures.ts';
import { blockHost, scattered } from './support/fill.ts';

const RULES = 131_072;
const UNBLOCKS = 5000;
const BATCH = 1000;
/** ms */
const LIMIT = 1000;

const ref = (n: number) => (n % 2 === 0 ? null : `rule-${n}`);
const block = (n: number): RuleChange => blockHost(scattered(n), null, ref(n));
const unblock = (n: number): RuleChange => ({
  change: 'delete_by_value',
  kind: 'access_rule',
  action: 'block',
  target: { kind: 'ip', network: { family: 4, address: scattered(n) >>> 0, prefix: 32 } },
});

/** ms to land the upserts, and the unblocks, of rules all over the list. */
async function measure(store: Store): Promise<{ upserts: number; unblocks: number }> {
  const organization = await store.createOrganization('bench', 'active');
  const workspace = await store.createWorkspace(organization.id, 'bench');
  let position: number | null = null;
  const land = async (count: number, change: (n: number) => RuleChange) => {
    const begun = performance.now();
    for (let at = 0; at < count; at += BATCH) {
      const now = Date.now();
      const items = Array.from({ length: Math.min(BATCH, count - at) }, (_, i): LandingItem => {
        const record = { offset: at + i, timestamp: now, key: workspace.id, headers: {}, value: '' };
        return { record, workspaceId: workspace.id, listId: null, receivedAt: now, batchId: null, keyId: null, change: change(at + i) };
      });
      const from: number | null = position;
      position = (from ?? 0) + items.length;
      await store.apply({ streamId: 'bench', partition: 0, from, to: position, items, poison: [], now });
    }
    return performance.now() - begun;
  };
  await land(RULES, block);
  const spread = (n: number) => Math.floor((n * RULES) / UNBLOCKS);
  const upserts = await land(UNBLOCKS, (n) => block(spread(n)));
  const unblocks = await land(UNBLOCKS, (n) => unblock(spread(n)));
  const left = await store.countRules(workspace.id, 0);
  if (left !== RULES - UNBLOCKS) throw new Error(`${left} rules are left`);
  return { upserts, unblocks };
}

const rows: (string | number)[][] = [['engine', `${UNBLOCKS} upserts, ms`, `${UNBLOCKS} unblocks, ms (limit ${LIMIT})`, 'ratio']];
const figures: Figure[] = [];
async function add(engine: string, store: Store): Promise<void> {
  const { upserts, unblocks } = await measure(store);
  rows.push([engine, Math.round(upserts), Math.round(unblocks), (unblocks / upserts).toFixed(2)]);
  figures.push({ what: `${UNBLOCKS} unblocks land in a list of ${RULES}, ${engine}, ms`, figure: unblocks, limit: LIMIT });
}

const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
const embedded = await openSqliteStore(folder);
await add('SQLite', embedded);
await embedded.close();
rmSync(folder, { recursive: true });

if (noOwnPostgres() === false) {
  const postgres = await startOwnPostgres();
  const store = await openPostgresStore(await postgres.createDatabase());
  await add('PostgreSQL', store);
  await store.close();
  await postgres.stop();
}
report(rows, figures);
