import type { ActiveRules } from '../../ports/stored/rule-queries.ts';
import type { ComparedPage, ComparedRule, StoredRule } from '../../ports/stored/stored-rule.ts';
import { type Kind, RULE_KINDS, type Target } from '../../rule.ts';
import { inChunks } from '../../schedule/chunks.ts';
import { byId } from '../batches/undo-selections.ts';
import { actionOf, targetOf } from '../columns.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import { jsonOrNull, numberOrNull, ruleOf, textOrNull } from '../rows.ts';
import { all, allArrays, allOf, type Work } from '../work.ts';
import { ruleTable } from './rule-columns.ts';

const ASKED = 400;

export function* rulesById(workspaceId: string, kind: Kind, ids: readonly number[]): Work<StoredRule[]> {
  const { table, scope } = RULE_KINDS[kind];
  const rows = yield* allOf(ids, (places) => `${SELECT[scope](table)} r.id IN (${places})`, workspaceId);
  return rows.map((row) => ruleOf(kind, row));
}

export function* rulesByRef(workspaceId: string, kind: Kind, prefix: string, { now, limit }: ActiveRules): Work<StoredRule[]> {
  const { table, scope } = RULE_KINDS[kind];
  const from =
    scope === 'list'
      ? `SELECT r.*, l.id AS list_id FROM lists l JOIN ${table} r ON r.list_pk = l.pk WHERE l.workspace_pk = ${WORKSPACE_PK}`
      : `SELECT r.* FROM ${table} r WHERE r.workspace_pk = ${WORKSPACE_PK}`;
  // No character of a rule_ref sorts after z.
  const rows = yield* all(
    `${from} AND r.rule_ref IS NOT NULL AND r.rule_ref >= $2 AND r.rule_ref < $3 AND (r.expires_at IS NULL OR r.expires_at > $4)
     ORDER BY r.rule_ref LIMIT ${limit}`,
    workspaceId,
    prefix,
    `${prefix}{`,
    now,
  );
  return rows.map((row) => ruleOf(kind, row));
}

/** The workspace condition is no search: rules are found by id. */
const SELECT = {
  list: (table: string) => `SELECT r.*, (SELECT l.id FROM lists l WHERE l.pk = r.list_pk) AS list_id FROM ${table} r
    WHERE (SELECT w.id FROM lists l JOIN workspaces w ON w.pk = l.workspace_pk WHERE l.pk = r.list_pk) = $1 AND`,
  workspace: (table: string) => `SELECT r.* FROM ${table} r WHERE (SELECT w.id FROM workspaces w WHERE w.pk = r.workspace_pk) = $1 AND`,
} as const;

/**
 * A batch stores a previous version under the number of its first change of the rule, but the rule has the number of the last: found by
 * identity, by index, within the batch's numbers.
 */
export function* rulesBefore(
  workspaceId: string,
  { kind, listId }: { readonly kind: Kind; readonly listId: string | null },
  rules: readonly { readonly id: number; readonly seq: number }[],
): Work<StoredRule[]> {
  const { table, before, place } = ruleTable(kind);
  const at = place === 'list_pk' ? `(SELECT pk FROM lists WHERE id = $2 AND workspace_pk = ${WORKSPACE_PK})` : WORKSPACE_PK;
  const first = `(SELECT max(b.first_seq) FROM batches b WHERE b.workspace_pk = ${WORKSPACE_PK} AND b.first_seq <= w.changed)`;
  const identities = place === 'list_pk' ? [REF, VALUE] : [REF];
  const found: StoredRule[] = [];
  for (const slice of inChunks(rules, ASKED)) {
    const values = slice.map((_, i) => `(CAST($${2 * i + 3} AS BIGINT), CAST($${2 * i + 4} AS BIGINT))`);
    const parts = identities.map(
      (same) => `SELECT c.*, CAST($2 AS TEXT) AS list_id FROM wanted w
       JOIN ${table} r ON ${byId(ruleTable(kind), 'r')} = ${at} AND r.id = w.id
       JOIN ${before} c ON c.${place} = ${at} AND ${same} AND c.changed BETWEEN ${first} AND w.changed AND c.id = w.id
       WHERE c.existed = 1`,
    );
    const rows = yield* all(
      `WITH wanted (changed, id) AS (VALUES ${values}) ${parts.join(' UNION ALL ')}`,
      workspaceId,
      listId,
      ...slice.flatMap(({ id, seq }) => [seq, id]),
    );
    found.push(...rows.map((row) => ruleOf(kind, row)));
  }
  return found;
}

const REF = 'c.rule_ref IS NOT NULL AND c.rule_ref = r.rule_ref';
const VALUE = 'c.rule_ref IS NULL AND r.rule_ref IS NULL AND c.action = r.action AND c.target = r.target';

/** IPv4 networks are read as numbers only. */
const COMPARED = `SELECT id, action, v4, CASE WHEN v4 IS NULL THEN target END, expires_at, rule_ref, reason, labels, config, name FROM access_rules
  WHERE list_pk = (SELECT pk FROM lists WHERE id = $2 AND workspace_pk = ${WORKSPACE_PK})
    AND id > $3 AND (expires_at IS NULL OR expires_at > $4) ORDER BY id LIMIT $5`;

export function* comparedRules(workspaceId: string, listId: string, { now, after, limit }: ComparedPage): Work<ComparedRule[]> {
  const rows = yield* allArrays(COMPARED, workspaceId, listId, after, now, limit);
  return rows.map(([id, action, v4, target, expiresAt, ruleRef, reason, labels, config, name]) => ({
    id: Number(id),
    action: actionOf(action),
    target: v4 === null ? targetOf(String(target)) : targetOfV4(Number(v4)),
    expiresAt: numberOrNull(expiresAt),
    ruleRef: textOrNull(ruleRef),
    reason: textOrNull(reason),
    labels: jsonOrNull(labels),
    config: jsonOrNull(config),
    name: textOrNull(name),
  }));
}

const targetOfV4 = (packed: number): Target => ({
  kind: 'ip',
  network: { family: 4, address: Math.floor(packed / 64), prefix: packed % 64 },
});
