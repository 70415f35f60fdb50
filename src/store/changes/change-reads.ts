/** Changes of a workspace, read by index in slices (SPEC D32). */
import type { ChangeReads, ChangeSender, RuleChangeSpan, RuleChangeSum } from '../../ports/stored/changes.ts';
import type { Step } from '../../ports/stored/rule-store.ts';
import type { Kind } from '../../rule.ts';
import { auditRowOf } from '../accounts/audit.ts';
import { WORKSPACE_PK, workspacePk } from '../row-ids.ts';
import { type Row, textOrNull } from '../rows.ts';
import { placeAt, rulesKnownSince } from '../rules/rules-at.ts';
import { all, one, type Reads, type Value, type Work } from '../work.ts';

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

/** Rows per step: about 4 ms. */
const SLICE = 1000;

type Window = Parameters<ChangeReads['ruleChanges']>[1];

interface Span extends Pick<RuleChangeSpan, 'from' | 'to'> {
  readonly workspace: number;
}

const NEWEST = 'SELECT max(c.minute) AS minute FROM rule_changes c WHERE c.workspace_pk = $1 AND c.minute >= $2 AND c.minute < $3';

function* newestSpan(workspaceId: string, { from, to, span }: Window): Work<Span | undefined> {
  const workspace = yield* workspacePk(workspaceId);
  if (workspace === undefined) return undefined;
  const newest = yield* one(NEWEST, workspace, from, to);
  if (newest?.minute == null) return undefined;
  const begun = Math.floor(Number(newest.minute) / span) * span;
  return { workspace, from: Math.max(from, begun), to: Math.min(to, begun + span) };
}

const ROWS = `SELECT c.*, coalesce(l.id, d.id) AS list_id, coalesce(l.name, d.name) AS list_name FROM (
    SELECT * FROM rule_changes WHERE workspace_pk = $1 AND minute < $2 AND (minute, place, kind, sender) > ($3, $4, $5, $6)
    ORDER BY minute, place, kind, sender LIMIT ${SLICE}
  ) c LEFT JOIN lists l ON l.pk = c.place LEFT JOIN deleted_lists d ON d.list_pk = c.place ORDER BY c.minute, c.place, c.kind, c.sender`;

/** Row by row, in small steps. */
export async function ruleChanges(
  read: <T>(work: Work<T>) => Promise<T>,
  workspaceId: string,
  window: Window,
  step: Step = (work) => work(),
): Promise<RuleChangeSpan | undefined> {
  const found = await read(newestSpan(workspaceId, window));
  if (found === undefined) return undefined;
  const { workspace, from, to } = found;
  const sums = new Map<string, RuleChangeSum>();
  let after: Value[] | undefined = [from, -1, '', ''];
  while (after !== undefined) {
    const place: Value[] = after;
    after = await step(async () => {
      const rows = await read(all(ROWS, workspace, to, ...place));
      for (const row of rows) add(sums, row);
      const last = rows.length < SLICE ? undefined : rows.at(-1)!;
      return last && [Number(last.minute), Number(last.place), String(last.kind), String(last.sender)];
    });
  }
  return { from, to, sums: [...sums.values()] };
}

function add(sums: Map<string, RuleChangeSum>, row: Row): void {
  const key = `${row.place} ${row.kind} ${row.sender}`;
  const known = sums.get(key);
  const [last, batchId, reason] = [Number(row.minute), onlyOf(row.batch_id), onlyOf(row.reason)];
  sums.set(key, {
    kind: row.kind as Kind,
    list: row.list_id === null ? null : { id: String(row.list_id), name: String(row.list_name) },
    by: known === undefined ? senderOf(String(row.sender)) : known.by,
    first: known?.first ?? last,
    last,
    added: (known?.added ?? 0) + Number(row.added),
    renewed: (known?.renewed ?? 0) + Number(row.renewed),
    removed: (known?.removed ?? 0) + Number(row.removed),
    expired: (known?.expired ?? 0) + Number(row.expired),
    batchId: known === undefined || known.batchId === batchId ? batchId : undefined,
    reason: known === undefined || known.reason === reason ? reason : undefined,
  });
}

/** '': none; NULL: several. */
const onlyOf = (value: unknown): string | null | undefined => (value === null ? undefined : textOrNull(value) || null);

function senderOf(text: string): ChangeSender | null {
  if (text === '') return null;
  type Id = string | null;
  const [keyId, actor, personId, sourceId, undoes, inPlace] = JSON.parse(text) as [Id, Id, Id, Id, Id, true?];
  return { keyId, actor, personId, sourceId, undoes, ...(inPlace && { inPlace }) };
}
