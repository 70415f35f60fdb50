/** A store of weir's first version, among its rules some of another producer whose instants were no milliseconds. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Store } from '../../src/ports/store.ts';
import type { Kind } from '../../src/rule.ts';
import { LIMITS } from '../../src/signal/limits.ts';
import { collectingSink } from './store.ts';

const T0 = 1_800_000_000_000;
/** Nanoseconds since 1970, and the last instant of the year 9999. */
const [NANOSECONDS, YEAR_9999] = ['1800000000000000000', '253402300799999'];
const v4 = (address: number) => address * 64 + 32;

/** The statements that make it in an empty database which has the table `migrations`. */
export function firstVersion(dialect: 'sqlite' | 'postgres'): string {
  const schema = readFileSync(new URL(`../../src/store/migrations/${dialect}/001-020/001-initial.sql`, import.meta.url), 'utf8');
  return `${schema}
    INSERT INTO migrations VALUES ('001-initial.sql', 0);
    INSERT INTO organizations (id, name, subscription, created_at) VALUES ('o', 'acme', 'active', 0);
    INSERT INTO workspaces (id, organization_pk, name, created_at) VALUES ('w', 1, 'main', 0);
    INSERT INTO lists (id, workspace_pk, name, is_default, created_at) VALUES ('l', 1, 'default', 1, 0);
    INSERT INTO access_rules (list_pk, id, action, levels, target, v4, created_at, updated_at, expires_at) VALUES
      (1, 1, 0, 0, '10.0.0.1', ${v4(0x0a000001)}, ${T0}, ${T0}, ${T0 + 1000}),
      (1, 2, 0, 0, '10.0.0.2', ${v4(0x0a000002)}, ${NANOSECONDS}, ${NANOSECONDS}, ${NANOSECONDS}),
      (1, 3, 0, 0, '10.0.0.3', ${v4(0x0a000003)}, -1, ${T0}, NULL);
    INSERT INTO waf_rules (workspace_pk, rule_ref, id, type, expression, action, created_at, updated_at, expires_at) VALUES
      (1, 'a', 4, 'custom', 'x', 'block', ${T0}, ${YEAR_9999}, ${YEAR_9999});
    INSERT INTO dead_letters (at, reason, stream_id, "partition", record_offset, timestamp, key, headers, value) VALUES
      (0, 'r', 's', 0, 0, ${NANOSECONDS}, '""', '{}', '""')`;
}

/** What such a store holds once it has been opened. */
export async function assertFirstVersion(store: Store): Promise<void> {
  const times = async (kind: Kind) => {
    const rules = await Array.fromAsync(store.rules('w', { kind, now: 0 }));
    return rules.map(({ id, createdAt, updatedAt, rule }) => [id, createdAt, updatedAt, rule.expiresAt]);
  };
  const [earliest, latest] = [Date.UTC(2000, 0, 1), Date.UTC(2200, 0, 1) - 1];
  const lastExpiry = latest - 999 + LIMITS.expirySeconds * 1000;
  assert.deepEqual(await times('access_rule'), [
    [1, T0, T0, T0 + 1000],
    [2, latest, latest, lastExpiry],
    [3, earliest, T0, null],
  ]);
  assert.equal(await store.ruleCount('w'), 4);
  assert.equal(
    (await store.ruleDays('w', 0)).now.reduce((sum, { rules }) => sum + rules, 0),
    3,
  );
  assert.deepEqual(await times('waf_rule'), [[4, T0, latest, lastExpiry]]);
  const { rows, sink } = collectingSink();
  await store.snapshot('w', null, T0, sink);
  assert.deepEqual(
    rows.toSorted((a, b) => a.id - b.id).map(({ expires }) => expires),
    [T0 / 1000 + 1, lastExpiry / 1000, 0],
  );
  assert.equal((await store.ruleStates('w', [2]))[0].expires, lastExpiry / 1000);
  assert.equal((await store.deadLetters(1))[0].timestamp, Date.parse('9999-12-31T23:59:59.999Z'));
}
