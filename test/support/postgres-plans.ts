/** Query plans of the statements that a store sends to PostgreSQL. */
import { mock } from 'node:test';
import { Client } from 'pg';
import type { Search } from '../conformance/plans.ts';

type Query = (this: Client, statement: unknown, ...rest: unknown[]) => unknown;

/** Records each statement that a store sends from now on. */
export function recordStatements(): ReadonlySet<string> {
  const statements = new Set<string>();
  const query = Client.prototype.query as Query;
  mock.method(Client.prototype, 'query', function (this: Client, statement: unknown, ...rest: unknown[]) {
    const { fallback_application_name: name } = Reflect.get(this, 'connectionParameters');
    if (name !== 'weir') return query.call(this, statement, ...rest);
    const sent = typeof statement === 'string' ? statement : String(Reflect.get(statement as object, 'text'));
    const text = sent.replace(/^COPY \((.*)\) TO STDOUT .*$/s, '$1');
    if (/^(SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(text)) statements.add(text);
    return query.call(this, statement, ...rest);
  });
  return statements;
}

// Some rows, and no other way than through an index where one can serve: the planner reads a small table whole.
const PREPARED = `
  INSERT INTO organizations (id, name, subscription, created_at) SELECT 'o' || n, 'acme', 'active', 0 FROM generate_series(1, 100) n;
  INSERT INTO workspaces (id, organization_pk, name, created_at) SELECT 'w' || n, n, 'w', 0 FROM generate_series(1, 100) n;
  INSERT INTO lists (id, workspace_pk, name, is_default, created_at)
    SELECT 'l' || n, 1 + n % 100, n, CASE WHEN n > 9900 THEN 1 ELSE 0 END, 0 FROM generate_series(1, 10000) n;
  INSERT INTO keys (id, hash, prefix, workspace_pk, list_id, permissions, created_at)
    SELECT 'k' || n, decode(md5(n::text), 'hex'), 'k', 1 + n % 100, 'l' || n, 'feed:read', 0 FROM generate_series(1, 2000) n;
  INSERT INTO feeds (id, workspace_pk, name, all_lists, created_at) SELECT 'f' || n, 1 + n % 100, n, n % 2, 0 FROM generate_series(1, 1000) n;
  INSERT INTO feed_lists SELECT 1 + n % 1000, n FROM generate_series(1, 1000) n;
  INSERT INTO access_rules (v4, expires_at, created_at, updated_at, list_pk, action, levels, target, rule_ref)
    SELECT n, n, 0, 0, 1 + n % 5, 0, 0, n, CASE WHEN n % 4 < 2 THEN n END FROM generate_series(1, 10000) n;
  INSERT INTO waf_rules (workspace_pk, rule_ref, type, expression, action, expires_at, created_at, updated_at)
    SELECT 1 + n % 100, n, 'custom', 'x', 'block', n, 0, 0 FROM generate_series(1, 5000) n;
  INSERT INTO smart_firewall_rules SELECT * FROM waf_rules;
  INSERT INTO batches (workspace_pk, list_pk, first_seq, last_seq, batch_id, undoes, received_at, landed_at)
    SELECT 1 + n % 100, 1 + n % 1000, n * 10, n * 10 + 9, 'b' || n, CASE WHEN n % 50 = 0 THEN 'b' || (n - 1) END, n, n
    FROM generate_series(1, 2000) n;
  INSERT INTO access_rules_before (changed, existed, id, v4, created_at, updated_at, seq, list_pk, action, levels, target, rule_ref)
    SELECT n + 5000, 1, n, n, 0, 0, n, 1 + n % 5, 0, 0, n, CASE WHEN n % 4 < 2 THEN n END FROM generate_series(1, 10000) n;
  INSERT INTO waf_rules_before (workspace_pk, changed, existed, id, rule_ref, type, expression, action, created_at, updated_at, seq)
    SELECT 1 + n % 100, n + 5000, 1, n, n, 'custom', 'x', 'block', 0, 0, n FROM generate_series(1, 5000) n;
  INSERT INTO smart_firewall_rules_before SELECT * FROM waf_rules_before;
  INSERT INTO devices SELECT 1 + n % 100, 'd' || n, 'k' || n % 500, 'a', n, n, n, n, n, n, n, n, n, n, 200, 1, '[]', n, n, NULL
    FROM generate_series(1, 20000) n;
  INSERT INTO feed_days (workspace_pk, list_pk, day) SELECT 1 + n % 100, n % 1000, n FROM generate_series(1, 20000) n;
  INSERT INTO feed_records SELECT 1 + n % 100, n % 1000, 'f' || n % 4, 'v' || n, 'a', 'h', n, n FROM generate_series(1, 20000) n;
  ANALYZE;
  SET enable_seqscan = off;
  SET enable_hashjoin = off;
  SET enable_mergejoin = off;
  SET plan_cache_mode = force_generic_plan`;

/**
 * How each of these statements finds its rows in the migrated, empty database behind `url`, where the planner prefers indexes: its plan for
 * any values, so that it does not depend on which tests have sent it first.
 */
export async function searches(url: string, statements: readonly string[]): Promise<[text: string, searches: Search[]][]> {
  const client = new Client(url);
  await client.connect();
  try {
    await client.query(PREPARED);
    const found: [string, Search[]][] = [];
    for (const text of statements) {
      const parameters = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
      const nulls = Array.from({ length: parameters }, () => 'NULL').join();
      await client.query(`PREPARE statement AS ${text}`);
      const { rows } = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE statement${nulls && `(${nulls})`}`);
      await client.query('DEALLOCATE statement');
      found.push([text, searchesOf(rows[0]['QUERY PLAN'][0].Plan)]);
    }
    return found;
  } finally {
    await client.end();
  }
}

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'TID Cond'?: string;
  readonly Plans?: readonly Plan[];
}

/** The scans of a plan. */
function searchesOf(plan: Plan): Search[] {
  const below = (plan.Plans ?? []).flatMap(searchesOf);
  const table = plan['Relation Name'];
  if (table === undefined || plan['Node Type'] === 'ModifyTable') return below;
  return [...waysInto(plan).map((way) => ({ table, ...way })), ...below];
}

type Way = Omit<Search, 'table'>;

/**
 * How a scan gets at its rows. A bitmap is judged by the conditions of the indexes that it is made of: what is checked again in the
 * table may be no more than what makes a row part of an index, and then all of the index is read.
 */
function waysInto(scan: Plan): Way[] {
  const isBitmap = ({ 'Node Type': type }: Plan) => type.startsWith('Bitmap');
  return scan['Node Type'] === 'Bitmap Heap Scan' ? scan.Plans!.filter(isBitmap).flatMap(bitmaps) : [wayOf(scan)];
}

/** The ways that a bitmap unites; those that it intersects are one. */
function bitmaps(plan: Plan): Way[] {
  if (plan['Node Type'] === 'Bitmap Index Scan') return [wayOf(plan)];
  const ways = plan.Plans!.flatMap(bitmaps);
  if (plan['Node Type'] === 'BitmapOr') return ways;
  return [{ index: ways.map(({ index }) => index).join(), columns: ways.flatMap(({ columns }) => columns) }];
}

/** A condition reads such as `((r.list_pk = given.list_pk) AND (id = ANY ($1)))`. */
function wayOf(plan: Plan): Way {
  const condition = plan['Index Cond'] ?? plan['TID Cond'] ?? '';
  const columns = [...condition.matchAll(/(\w+)\)?(?:::\w+)? (?:=|<|>|<=|>=) /g)].map(([, column]) => column);
  return { index: plan['Index Name'] ?? '', columns };
}
