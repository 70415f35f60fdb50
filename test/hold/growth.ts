/** What one key may leave behind for good, and what making it takes from the others. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { Figure } from '../../bench/support/figures.ts';
import { PERMISSIONS } from '../../src/account/permission.ts';
import { newTenant } from '../support/command.ts';
import { ask, bearer } from '../support/http.ts';
import { on, type Settings } from './checks.ts';
import { neighbourOf, WATCHED } from './neighbour.ts';

/** Small bounds, so that they are reached: MiB of answers and of the audit log, keys, feeds. */
const BOUNDS = { MAX_ANSWERS_MB: '4', MAX_AUDIT_MB: '4', MAX_KEYS: '300', MAX_FEEDS: '100' };
/** What the store may grow by, MiB: both bounds, their indexes, and what the engine has not given back yet. */
const MOST_GROWN = 64;
/** Requests of each kind at most, and of each at a time. */
const MOST = 4000;
const AT_ONCE = 4;

const FAULTY = Array.from({ length: 500 }, (_, n) => `no address ${n}`).join('\n');

/** What is asked for over and over, until it is refused. */
const KINDS: Readonly<
  Record<string, (n: number, list: string) => { method: string; path: string; body: string; headers?: Record<string, string> }>
> = {
  'faulty imports with an Idempotency-Key': (n) => ({
    ...{ method: 'POST', path: '/imports?format=csv', body: `ip\n${FAULTY}`, headers: { 'idempotency-key': `t${n}` } },
  }),
  feeds: (n) => ({ method: 'POST', path: '/feeds', body: JSON.stringify({ name: `feed ${n}`, all_lists: true }) }),
  keys: (n) => ({ method: 'POST', path: '/keys', body: JSON.stringify({ name: `key ${n}`, permissions: ['feed:read'] }) }),
  'descriptions of a list': (n, list) => ({
    ...{ method: 'PATCH', path: `/lists/${list}`, body: JSON.stringify({ description: `${n}${'x'.repeat(1900)}` }) },
    headers: { 'if-match': '*' },
  }),
};

/** Bytes that the store takes. */
async function storeBytes({ DATA_DIR, DATABASE_URL }: Settings): Promise<number> {
  if (DATABASE_URL === undefined) {
    const files = readdirSync(DATA_DIR!).filter((name) => name.startsWith('weir.db'));
    return files.reduce((sum, name) => sum + statSync(join(DATA_DIR!, name)).size, 0);
  }
  const client = new Client({ connectionString: DATABASE_URL });
  await client.connect();
  try {
    return Number((await client.query('SELECT pg_database_size(current_database()) AS size')).rows[0].size);
  } finally {
    await client.end();
  }
}

/** One key asks for what is kept, of each kind until it is refused: the store's growth, the polls of another tenant, and what that may still do. */
export const growthOfOne = (settings: Settings): Promise<Figure[]> =>
  on({ ...settings, ...WATCHED, ...BOUNDS, RATE_LIMIT_MANAGE: '0' }, async (weir) => {
    const all = PERMISSIONS.flatMap((permission) => ['--permission', permission]);
    const { key } = await newTenant({ ...settings }, { organization: 'default', workspace: 'growing' }, ...all);
    const neighbour = await neighbourOf(weir, settings);
    const others = await newTenant({ ...settings }, { organization: 'default', workspace: 'other' }, ...all);
    const call = async (of: string, kind: string, n: number, list: string) => {
      const { method, path, body, headers } = KINDS[kind](n, list);
      return (await ask(weir.url, `/v1/manage${path}`, { method, headers: { ...bearer(of), ...headers }, body })).status;
    };
    const listOf = async (of: string) => {
      const options = { method: 'POST', headers: bearer(of), body: JSON.stringify({ name: 'edge' }) };
      return String((JSON.parse((await ask(weir.url, '/v1/manage/lists', options)).text) as { id: string }).id);
    };
    const [list, otherList] = [await listOf(key), await listOf(others.key)];
    const before = await storeBytes(settings);
    let refused = 0;
    const until = async (kind: string) => {
      let [next, isOver] = [0, false];
      const one = async () => {
        while (!isOver && next < MOST) if ((await call(key, kind, next++, list)) === 409) isOver = true;
      };
      await Promise.all(Array.from({ length: AT_ONCE }, one));
      if (isOver) refused += 1;
    };
    const what = 'one key asks for all that is kept';
    const polls = await neighbour.during(what, async () => {
      for (const kind of Object.keys(KINDS)) await until(kind);
    });
    const grown = ((await storeBytes(settings)) - before) / 2 ** 20;
    let served = 0;
    for (const kind of Object.keys(KINDS)) if ((await call(others.key, kind, 0, otherList)) < 300) served += 1;
    const kinds = Object.keys(KINDS).length;
    return [
      { what: `${what}: kinds that are refused in the end, of ${kinds}`, figure: refused, limit: kinds, least: true },
      { what: `${what}: the store grows by, MiB`, figure: grown, limit: MOST_GROWN },
      { what: `${what}: kinds that another tenant may still have, of ${kinds}`, figure: served, limit: kinds, least: true },
      ...polls,
      neighbour.memory(what),
    ];
  });
