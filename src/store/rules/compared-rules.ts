import type { ComparedPage, ComparedRule } from '../../ports/stored/stored-rule.ts';
import type { Target } from '../../rule.ts';
import { actionOf, targetOf } from '../columns.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import { jsonOrNull, numberOrNull, textOrNull } from '../rows.ts';
import { allArrays, type Work } from '../work.ts';

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
