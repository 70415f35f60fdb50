/** Very many rules in very many workspaces, made by PostgreSQL itself as landing would have written them: batch after batch, workspace by workspace. */
import { Client } from 'pg';
import { keyParts } from '../../src/account/key.ts';
import { PERMISSIONS } from '../../src/account/permission.ts';

export interface Population {
  readonly workspaces: number;
  /** Blocked hosts of each workspace, a multiple of `BATCH`. */
  readonly rules: number;
}

/** Entries of a batch. */
export const BATCH = 1000;
/** The key of the n-th workspace, from 1 on. */
export const keyOf = (n: number): string => `ten-times-workspace-key-${n}`;
/** When the rules landed: so long ago, ms. */
const AGO = 3_600_000;

/** The n-th host of a workspace: of 2^22 hosts no two of which are adjacent, in an order without pattern. As an expression, and as text. */
const HOST = (n: string) => `(((${n}) * 2654435761::bigint) % 4294967296 / 1024 * 1024 + 1)`;
export function hostOf(workspace: number, n: number): string {
  const address = ((((BigInt(workspace) * 7919n + BigInt(n)) * 2654435761n) % 4294967296n) / 1024n) * 1024n + 1n;
  return [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 255n).join('.');
}

/** Fills the migrated, empty database behind `url`; half of the rules expire in 30 days, the others never. */
export async function fillTenTimes(url: string, { workspaces, rules }: Population): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const now = Date.now() - AGO;
  try {
    await client.query('SET maintenance_work_mem = 524288');
    await client.query(
      `INSERT INTO organizations (id, name, subscription, created_at) VALUES (gen_random_uuid()::text, 'bench', 'active', ${now})`,
    );
    await client.query(
      `INSERT INTO workspaces (id, organization_pk, name, created_at)
       SELECT gen_random_uuid()::text, o.pk, 'workspace ' || n, ${now} FROM organizations o, generate_series(1, ${workspaces}) n ORDER BY n`,
    );
    await client.query(
      `INSERT INTO lists (id, workspace_pk, name, is_default, created_at) SELECT gen_random_uuid()::text, pk, 'default', 1, ${now} FROM workspaces ORDER BY pk`,
    );
    const hashes = Array.from({ length: workspaces }, (_, n) => Buffer.from(keyParts(keyOf(n + 1)).hash));
    await client.query(
      `INSERT INTO keys (id, hash, prefix, workspace_pk, permissions, created_at)
       SELECT gen_random_uuid()::text, h.hash, 'bench', w.pk, '${PERMISSIONS.join(' ')}', ${now}
       FROM unnest($1::bytea[]) WITH ORDINALITY AS h (hash, n) JOIN workspaces w ON w.name = 'workspace ' || h.n`,
      [hashes],
    );
    await withoutIndexes(client, 'access_rules', async () => {
      for (let batch = 0; batch < rules / BATCH; batch += 1) await client.query(rulesOf(batch, workspaces, now));
    });
    await client.query(`INSERT INTO rule_counts SELECT pk, ${rules} FROM workspaces`);
    await client.query(`SELECT setval('rule_ids', ${workspaces * rules})`);
    await client.query("UPDATE counters SET value = $1 WHERE name = 'expired_until'", [now]);
    await client.query('VACUUM ANALYZE');
  } finally {
    await client.end();
  }
}

/** The n-th batch of each workspace, and that it landed. */
const rulesOf = (batch: number, workspaces: number, now: number) => `
  WITH named AS MATERIALIZED (SELECT w.pk AS workspace_pk, l.pk AS list_pk, substr(w.name, 11)::bigint AS n FROM workspaces w JOIN lists l ON l.workspace_pk = w.pk),
  landed AS (INSERT INTO batches (workspace_pk, list_pk, first_seq, last_seq, received_at, landed_at, batch_id)
    SELECT workspace_pk, list_pk, (${batch * workspaces} + n - 1) * ${BATCH} + 1, (${batch * workspaces} + n) * ${BATCH}, ${now}, ${now}, gen_random_uuid()::text
    FROM named)
  INSERT INTO access_rules (id, v4, expires_at, created_at, updated_at, seq, list_pk, action, levels, target, reason)
  SELECT id, host * 64 + 32, CASE WHEN id % 2 = 0 THEN ${now + 30 * 86_400_000} + id % 86400000 END, ${now}, ${now}, id, list_pk, 0, 0,
    (host >> 24) || '.' || (host >> 16 & 255) || '.' || (host >> 8 & 255) || '.' || (host & 255) || '/32', 'brute force on the login page'
  FROM (SELECT list_pk, (${batch * workspaces} + n - 1) * ${BATCH} + i + 1 AS id, ${HOST(`n * 7919 + ${batch * BATCH} + i`)} AS host
    FROM named CROSS JOIN generate_series(0, ${BATCH - 1}) i ORDER BY n, i) made`;

/** Rows are written in a third of the time where the indexes of their table are made afterwards. */
async function withoutIndexes(client: Client, table: string, work: () => Promise<void>): Promise<void> {
  const { rows: keys } = await client.query(
    `SELECT conname AS name, pg_get_constraintdef(oid) AS made FROM pg_constraint WHERE conrelid = '${table}'::regclass AND contype = 'p'`,
  );
  for (const { name } of keys) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  const { rows: indexes } = await client.query(`SELECT indexname AS name, indexdef AS made FROM pg_indexes WHERE tablename = '${table}'`);
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
  await work();
  for (const { name, made } of keys) await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${made}`);
  for (const { made } of indexes) await client.query(made);
}
