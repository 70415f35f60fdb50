/** What has changed in a workspace, read in slices through indexes, the same in both dialects (SPEC D32). */
import type { ChangeReads, ChangeSender, RuleChangeSum } from '../../ports/stored/changes.ts';
import type { Kind } from '../../rule.ts';
import { auditRowOf } from '../accounts/audit.ts';
import { WORKSPACE_PK, workspacePk } from '../places.ts';
import { type Row, textOrNull } from '../rows.ts';
import { placeAt, rulesKnownSince } from '../rules/rules-at.ts';
import { all, one, type Work } from '../work.ts';

const NEWEST = `SELECT max(c.minute) AS minute FROM rule_changes c WHERE c.workspace_pk = $1 AND c.minute >= $2 AND c.minute < $3`;

/** '' is none; several are NULL. */
const onlyOne = (column: string) =>
  `CASE WHEN count(${column}) = count(*) AND min(${column}) = max(${column}) THEN min(${column}) END AS ${column}`;
const SUMS = `SELECT s.*, coalesce(l.id, d.id) AS list_id, coalesce(l.name, d.name) AS list_name FROM (
    SELECT c.place, c.kind, c.sender, min(c.minute) AS first, max(c.minute) AS last, sum(c.added) AS added, sum(c.renewed) AS renewed,
      sum(c.removed) AS removed, sum(c.expired) AS expired, ${onlyOne('batch_id')}, ${onlyOne('reason')}
    FROM rule_changes c WHERE c.workspace_pk = $1 AND c.minute >= $2 AND c.minute < $3 GROUP BY c.place, c.kind, c.sender
  ) s LEFT JOIN lists l ON l.pk = s.place LEFT JOIN deleted_lists d ON d.list_pk = s.place`;

const AUDIT = `SELECT a.* FROM audit a WHERE a.workspace_pk = ${WORKSPACE_PK} AND a.at >= $2 AND (a.at, a.id) < ($3, $4)
  ORDER BY a.at DESC, a.id DESC LIMIT $5`;

const RUNS = `SELECT s.id, l.id AS list_id, l.name, r.n, r.run FROM sources s JOIN lists l ON l.pk = s.list_pk
  JOIN source_runs r ON r.source_pk = s.pk WHERE s.workspace_pk = ${WORKSPACE_PK}`;

const MEMBERS = `SELECT l.id FROM feed_lists m JOIN lists l ON l.pk = m.list_pk WHERE m.feed_pk = $1
  UNION SELECT d.id FROM deleted_members m JOIN deleted_lists d ON d.list_pk = m.list_pk WHERE m.feed_pk = $1`;

/** The reads of the port, each a piece of work. */
export const changeReads = {
  ...{ placeAt, rulesKnownSince },
  *ruleChanges(workspaceId, { from, to, span }) {
    const workspace = yield* workspacePk(workspaceId);
    if (workspace === undefined) return undefined;
    const newest = yield* one(NEWEST, workspace, from, to);
    if (newest?.minute == null) return undefined;
    const begun = Math.floor(Number(newest.minute) / span) * span;
    const found = { from: Math.max(from, begun), to: Math.min(to, begun + span) };
    return { ...found, sums: (yield* all(SUMS, workspace, found.from, found.to)).map(sumOf) };
  },
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
  *changesKept(workspaceId) {
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
} satisfies {
  [K in keyof Omit<ChangeReads, 'rulesAt'>]: (...args: Parameters<ChangeReads[K]>) => Work<Awaited<ReturnType<ChangeReads[K]>>>;
};

const sumOf = (row: Row): RuleChangeSum => ({
  kind: row.kind as Kind,
  list: row.list_id === null ? null : { id: String(row.list_id), name: String(row.list_name) },
  by: senderOf(String(row.sender)),
  first: Number(row.first),
  last: Number(row.last),
  added: Number(row.added),
  renewed: Number(row.renewed),
  removed: Number(row.removed),
  expired: Number(row.expired),
  batchId: onlyOf(row.batch_id),
  reason: onlyOf(row.reason),
});

const onlyOf = (value: unknown): string | null | undefined => (value === null ? undefined : textOrNull(value) || null);

function senderOf(text: string): ChangeSender | null {
  if (text === '') return null;
  const [keyId, actor, personId, sourceId, undoes] = JSON.parse(text) as (string | null)[];
  return { keyId: keyId!, actor: actor!, personId: personId!, sourceId: sourceId!, undoes: undoes! };
}
