/**
 * Changes of access rules for the archive (SPEC D61). Each page is a statement that is consistent in itself: the state after a change is the
 * next previous version of the rule, else the current one. Later changes do not alter it.
 */
import type { ArchiveEvent, ArchivePage, ArchiveScan, ArchiveState } from '../ports/stored/archive-store.ts';
import { originsIn } from './batches/batch-reads.ts';
import { givenUpUntil } from './batches/undo-selections.ts';
import { workspacePk } from './row-ids.ts';
import { type Row, ruleOf } from './rows.ts';
import { ruleTable } from './rules/rule-columns.ts';
import type { IndexedBy } from './rules/rule-pages.ts';
import { all, one, type Work } from './work.ts';

export function* archiveState(workspaceId: string): Work<ArchiveState | undefined> {
  const workspace = yield* workspacePk(workspaceId);
  if (workspace === undefined) return undefined;
  const last = yield* one('SELECT last_seq FROM batches WHERE workspace_pk = $1 ORDER BY first_seq DESC LIMIT 1', workspace);
  const lists = yield* all(
    `SELECT pk, id FROM lists WHERE workspace_pk = $1
     UNION ALL SELECT list_pk, id FROM deleted_lists WHERE workspace_pk = $1 AND list_pk > 0 AND until > 0`,
    workspace,
  );
  return {
    workspace,
    seq: Number(last?.last_seq ?? 0),
    lostUntil: yield* givenUpUntil(workspace),
    restoredAt: Number((yield* one("SELECT value FROM counters WHERE name = 'restored_at'"))?.value ?? 0),
    lists: lists.map(({ pk, id }) => ({ place: Number(pk), id: String(id) })),
  };
}

const { columns: COLUMNS } = ruleTable('access_rule');

/** By an index of the rule's identity. */
function versionsOf(row: string, indexedBy: IndexedBy, what: string, condition: string, choose: (ref: string, value: string) => string) {
  const found = (index: string, identity: string) =>
    `SELECT ${what} FROM access_rules_before m ${indexedBy(`access_rules_before_${index}`)}
     WHERE m.list_pk = ${row}.list_pk AND ${identity} AND m.id = ${row}.id AND ${condition}`;
  const byValue = found('value', `m.rule_ref IS NULL AND m.action = ${row}.action AND m.target = ${row}.target`);
  return choose(found('ref', `m.rule_ref = ${row}.rule_ref AND m.rule_ref IS NOT NULL`), byValue);
}

const either = (row: string) => (ref: string, value: string) => `CASE WHEN ${row}.rule_ref IS NULL THEN (${value}) ELSE (${ref}) END`;
const none = (row: string) => (ref: string, value: string) =>
  `CASE WHEN ${row}.rule_ref IS NULL THEN NOT EXISTS (${value}) ELSE NOT EXISTS (${ref}) END`;

/** Rules without a change after `$4`. */
const currentText = (by: IndexedBy) =>
  `SELECT r.* FROM access_rules r WHERE r.list_pk = $1 AND r.id > $2 AND r.id <= $3
   AND ${versionsOf('r', by, '1', 'm.changed > $4', none('r'))} ORDER BY r.id LIMIT $5`;

/** Changes after `$2`, `$3`: the version before each, the one after it, and whether it is the rule's first after `$4`. */
function previousText(by: IndexedBy): string {
  const next = versionsOf('c', by, 'min(m.changed)', 'm.changed > c.changed', either('c'));
  const isFirst = versionsOf('c', by, '1', 'm.changed > $4 AND m.changed < c.changed', none('c'));
  const then = COLUMNS.map((column) => `CASE WHEN n.id IS NULL THEN r.${column} ELSE n.${column} END AS then_${column}`);
  return `SELECT c.*, ${then}, CASE WHEN n.id IS NOT NULL THEN n.existed WHEN r.id IS NULL THEN 0 ELSE 1 END AS then_existed,
     CASE WHEN ${isFirst} THEN 1 ELSE 0 END AS is_first
   FROM access_rules_before c
   LEFT JOIN access_rules_before n ON n.list_pk = c.list_pk AND n.id = c.id AND n.changed = ${next}
   LEFT JOIN access_rules r ON r.list_pk = c.list_pk AND r.id = c.id
   WHERE c.list_pk = $1 AND (c.changed, c.id) > ($2, $3) ORDER BY c.changed, c.id LIMIT $5`;
}

type Found = Pick<ArchiveEvent, 'id' | 'target' | 'seq'> & { readonly row: Row | null };

export function* archivePage(indexedBy: IndexedBy, scan: ArchiveScan, limit: number): Work<ArchivePage> {
  const { workspace, list, from, to, of, after } = scan;
  const since = from ?? to;
  const [changed, id] = after;
  const rows =
    of === 'current'
      ? yield* all(currentText(indexedBy), list.place, id, to, since, limit)
      : yield* all(previousText(indexedBy), list.place, changed, id, since, limit);
  const found =
    of === 'current' ? rows.map((row) => begun(row, from === null ? to : Number(row.id))) : rows.flatMap((row) => changes(row, scan));
  const origins = yield* originsIn(
    workspace,
    found.flatMap(({ seq, row }) => (row === null ? [seq] : [seq, Number(row.seq)])),
  );
  const last = rows.at(-1);
  return {
    events: found.map(({ row, ...event }) => ({
      ...event,
      listId: list.id,
      at: origins.get(event.seq)?.landedAt ?? null,
      stored: row === null ? null : ruleOf('access_rule', row, list.id),
      by: origins.get(row === null ? event.seq : Number(row.seq)) ?? null,
    })),
    next: rows.length < limit ? null : [Number(last!.changed ?? 0), Number(last!.id)],
  };
}

const begun = (row: Row, seq: number): Found => ({ id: Number(row.id), target: String(row.target), seq, row });

function changes(row: Row, { from, to }: ArchiveScan): Found[] {
  const [id, changed] = [Number(row.id), Number(row.changed)];
  const isNew = Number(row.is_first) === 1 && Number(row.existed) === 1 && id <= to;
  if (from === null) return isNew ? [begun(row, to)] : [];
  const then = Number(row.then_existed) === 1 ? Object.fromEntries(COLUMNS.map((column) => [column, row[`then_${column}`]])) : null;
  const target = String(then?.target ?? row.target);
  return [...(isNew && id > from ? [begun(row, id)] : []), ...(changed <= to ? [{ id, target, seq: changed, row: then }] : [])];
}
