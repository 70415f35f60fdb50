/** A store of weir 0.2.0, the oldest that is migrated. */
import assert from 'node:assert/strict';
import type { Store } from '../../src/ports/store.ts';
import { missingMigrations } from '../../src/store/migrate.ts';
import { collectingSink } from './store.ts';

const T0 = 1_800_000_000_000;
const LAST = '029-people.sql';
const v4 = (address: number) => address * 64 + 32;

/** The statements creating it in an empty database with the table `migrations`. */
export function firstVersion(dialect: 'sqlite' | 'postgres'): string {
  const base = missingMigrations(dialect, []).filter(({ name }) => name <= LAST);
  return `${base.map(({ name, text }) => `${text}; INSERT INTO migrations VALUES ('${name}', 0);`).join('\n')}
    INSERT INTO organizations (id, name, subscription, created_at) VALUES ('o', 'acme', 'active', 0);
    INSERT INTO workspaces (id, organization_pk, name, created_at) VALUES ('w', 1, 'main', 0);
    INSERT INTO lists (id, workspace_pk, name, is_default, created_at) VALUES ('l', 1, 'default', 1, 0);
    INSERT INTO access_rules (list_pk, id, action, levels, target, v4, created_at, updated_at, expires_at) VALUES
      (1, 1, 0, 0, '10.0.0.1', ${v4(0x0a000001)}, ${T0}, ${T0}, ${T0 + 1000}),
      (1, 2, 0, 0, '10.0.0.2', ${v4(0x0a000002)}, ${T0}, ${T0}, NULL);
    INSERT INTO waf_rules (workspace_pk, rule_ref, id, type, expression, action, created_at, updated_at) VALUES
      (1, 'a', 3, 'custom', 'x', 'block', ${T0}, ${T0});
    INSERT INTO rule_counts VALUES (1, 3);
    INSERT INTO audit (at, event, object, workspace_pk) VALUES (${T0}, 'list.create', 'l', 1);
    INSERT INTO sources (id, workspace_pk, list_pk, settings, state, is_paused, revision, created_at) VALUES
      ('s', 1, 1, '{}', '{"undone":"b"}', 0, 1, 0)`;
}

/** The content of such a store after it has been opened. */
export async function assertFirstVersion(store: Store): Promise<void> {
  const ids = async (kind: 'access_rule' | 'waf_rule') =>
    (await Array.fromAsync(store.rules('w', { kind, now: 0 }))).map(({ id, createdAt, rule }) => [id, createdAt, rule.expiresAt]);
  assert.deepEqual(await ids('access_rule'), [
    [1, T0, T0 + 1000],
    [2, T0, null],
  ]);
  assert.deepEqual(await ids('waf_rule'), [[3, T0, null]]);
  assert.equal(await store.ruleCount('w'), 3);
  assert.equal(
    (await store.ruleDays('w', 0)).now.reduce((sum, { rules }) => sum + rules, 0),
    2,
  );
  const { rows, sink } = collectingSink();
  await store.snapshot('w', null, T0, sink);
  assert.deepEqual(
    rows.toSorted((a, b) => a.id - b.id).map(({ expires }) => expires),
    [T0 / 1000 + 1, 0],
  );
}
