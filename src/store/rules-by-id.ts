/** Whole rules by their ids, the same in both dialects. */
import type { StoredRule } from '../ports/stored-rule.ts';
import { type Kind, RULE_KINDS } from '../rule.ts';
import { ruleOf } from './rows.ts';
import { all, type Work } from './work.ts';

/** Rules that one statement asks for. */
const ASKED = 500;

/** `rulesById` of the port. */
export function* rulesById(workspaceId: string, kind: Kind, ids: readonly number[]): Work<StoredRule[]> {
  const found: StoredRule[] = [];
  for (let at = 0; at < ids.length; at += ASKED) {
    const slice = ids.slice(at, at + ASKED);
    const rows = yield* all(
      `${SELECT[RULE_KINDS[kind].scope](RULE_KINDS[kind].table)} r.id IN (${slice.map((_, i) => `$${i + 2}`)})`,
      workspaceId,
      ...slice,
    );
    found.push(...rows.map((row) => ruleOf(kind, row)));
  }
  return found;
}

/** The condition on the workspace is no search: rules are found by their ids. */
const SELECT = {
  list: (table: string) => `SELECT r.*, (SELECT l.id FROM lists l WHERE l.pk = r.list_pk) AS list_id FROM ${table} r
    WHERE (SELECT w.id FROM lists l JOIN workspaces w ON w.pk = l.workspace_pk WHERE l.pk = r.list_pk) = $1 AND`,
  workspace: (table: string) => `SELECT r.* FROM ${table} r WHERE (SELECT w.id FROM workspaces w WHERE w.pk = r.workspace_pk) = $1 AND`,
} as const;
