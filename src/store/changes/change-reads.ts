/** Changes of a workspace, read by index in slices (SPEC D32). */
import type { ChangeReads } from '../../ports/stored/changes.ts';
import { auditRowOf } from '../accounts/audit.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import { placeAt, rulesKnownSince } from '../rules/rules-at.ts';
import { all, one, type Reads } from '../work.ts';

const AUDIT = `SELECT a.* FROM audit a WHERE a.workspace_pk = ${WORKSPACE_PK} AND a.at >= $2 AND (a.at, a.id) < ($3, $4)
  ORDER BY a.at DESC, a.id DESC LIMIT $5`;

const RUNS = `SELECT s.id, l.id AS list_id, l.name, r.n, r.run FROM sources s JOIN lists l ON l.pk = s.list_pk
  JOIN source_runs r ON r.source_pk = s.pk WHERE s.workspace_pk = ${WORKSPACE_PK}`;

const MEMBERS = `SELECT l.id FROM feed_lists m JOIN lists l ON l.pk = m.list_pk WHERE m.feed_pk = $1
  UNION SELECT d.id FROM deleted_members m JOIN deleted_lists d ON d.list_pk = m.list_pk WHERE m.feed_pk = $1`;

export const changeReads = {
  ...{ placeAt, rulesKnownSince },
  *auditBetween(workspaceId, { from, before }, limit) {
    return (yield* all(AUDIT, workspaceId, from, before.at, before.id, limit)).map(auditRowOf);
  },
  *allRuns(workspaceId) {
    const rows = yield* all(RUNS, workspaceId);
    return rows.map(({ id, list_id, name, n, run }) => ({
      ...{ sourceId: String(id), listId: String(list_id), name: String(name), n: Number(n) },
      run: JSON.parse(String(run)),
    }));
  },
  *historyStart(workspaceId) {
    const counter = yield* one("SELECT value FROM counters WHERE name = 'changes_since'");
    const oldest = yield* one(
      `SELECT a.at FROM audit a WHERE a.workspace_pk = ${WORKSPACE_PK} AND a.at > 0 ORDER BY a.at LIMIT 1`,
      workspaceId,
    );
    return { rules: Number(counter?.value ?? 0), oldestAudit: oldest?.at == null ? null : Number(oldest.at) };
  },
  *feedScope(workspaceId, feedId) {
    const feed = yield* one(`SELECT pk, all_lists FROM feeds WHERE id = $2 AND workspace_pk = ${WORKSPACE_PK}`, workspaceId, feedId);
    if (feed === undefined || Number(feed.all_lists) === 1) return null;
    return (yield* all(MEMBERS, Number(feed.pk))).map(({ id }) => String(id));
  },
} satisfies Reads<Omit<ChangeReads, 'rulesAt' | 'ruleChanges'>>;
