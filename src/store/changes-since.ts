/** Reads changes since an earlier read instead of complete lists (D5.22). */
import { DAY } from '../clock.ts';
import type { KnownRules, ListSink, RuleSink } from '../ports/snapshot.ts';
import { type ServedSource, servedSource } from './accounts/freezes.ts';
import { keyOf } from './accounts/lists.ts';
import { givenUpUntil, listsOf } from './batches/undo-selections.ts';
import { roleOf, targetOf } from './columns.ts';
import type { Row } from './rows.ts';
import { takeFrozen, takeFrozenChanges } from './rules/frozen-rules.ts';
import { all, one, type Work } from './work.ts';

/** More changes cost as much as the complete list. */
const MOST = 20_000;
/** Older reads start again, ms: changes are stored for a week (D9.7). */
const RETENTION = 6 * DAY;
const ASKED = 500;

export const COLUMNS = 'id, action, v4, v6, expires_at, levels, target';
export const ACTIVE = '(expires_at IS NULL OR expires_at > $3)';

/** Complete lists, by pk. */
interface Followed extends ServedSource {
  readonly complete: readonly number[];
}

/** Except for the lists to read completely. `now`: SQL expression of the store's clock; `at`: rules active then, ms. */
export function* follow(
  now: string,
  { workspaceId, feedId, at, known }: { workspaceId: string; feedId: string | null; at: number; known: KnownRules },
  sink: ListSink,
): Work<Followed | 'too_far' | undefined> {
  const source = yield* servedSource(now, workspaceId, feedId);
  if (source === undefined) return undefined;
  const { head, workspacePk, lists } = source;
  const complete = lists.map(({ pk }) => pk).filter((pk) => !known.lists.has(keyOf(pk)));
  if (known.lists.size > 0 && head.change !== known.change) {
    if (!(yield* isStored(workspacePk, known.change, head.readAt))) return 'too_far';
    for (const pk of yield* touchedLists(workspacePk, known.change)) {
      if (known.lists.has(keyOf(pk)) && !(yield* followList(pk, known.change, at, sink))) complete.push(pk);
    }
  }
  if (known.lists.size > 0 && source.hasFreezes) yield* takeFrozenChanges(workspacePk, known, at, sink);
  if (source.frozen !== undefined) yield* takeFrozen(source.frozen, head, known, at, sink);
  return { ...source, complete };
}

/** The oldest are deleted or dropped (D9.10) first. */
function* isStored(workspacePk: number, change: number, now: number): Work<boolean> {
  const text = 'SELECT landed_at FROM batches WHERE workspace_pk = $1 AND first_seq <= $2 ORDER BY first_seq DESC LIMIT 1';
  const row = yield* one(text, workspacePk, change);
  if (row === undefined || Number(row.landed_at) <= now - RETENTION) return false;
  return change >= (yield* givenUpUntil(workspacePk));
}

/** An undo changes the lists of the undone batch. */
function* touchedLists(workspacePk: number, change: number): Work<Set<number>> {
  const rows = yield* all('SELECT DISTINCT list_pk, undoes FROM batches WHERE workspace_pk = $1 AND first_seq > $2', workspacePk, change);
  const touched = new Set(rows.map((row) => Number(row.list_pk)));
  for (const { undoes, list_pk: list } of rows) {
    if (undoes !== null) for (const each of yield* listsOf(workspacePk, String(undoes), Number(list))) touched.add(each);
  }
  return touched;
}

/** False: too many changes. */
function* followList(pk: number, change: number, at: number, sink: ListSink): Work<boolean> {
  const changed = yield* all(`SELECT DISTINCT id FROM access_rules_before WHERE list_pk = $1 AND changed > $2 LIMIT ${MOST}`, pk, change);
  const made = yield* all(
    `SELECT ${COLUMNS} FROM access_rules WHERE list_pk = $1 AND id > $2 AND ${ACTIVE} ORDER BY id LIMIT ${MOST}`,
    pk,
    change,
    at,
  );
  if (changed.length === MOST || made.length === MOST) return false;
  const ids = changed.map((row) => Number(row.id));
  sink.list(keyOf(pk), false);
  for (const id of ids) sink.removed(id);
  for (const row of made) handOver(row, sink);
  const older = ids.filter((id) => id <= change);
  for (let from = 0; from < older.length; from += ASKED) {
    const slice = older.slice(from, from + ASKED);
    const wanted = slice.map((_, i) => `$${i + 4}`);
    const rows = yield* all(
      `SELECT ${COLUMNS} FROM access_rules WHERE list_pk = $1 AND id <= $2 AND ${ACTIVE} AND id IN (${wanted})`,
      pk,
      change,
      at,
      ...slice,
    );
    for (const row of rows) handOver(row, sink);
  }
  return true;
}

export function handOver({ id, action, v4, v6, expires_at, levels, target }: Row, sink: RuleSink, isException = false): void {
  const expires = expires_at === null ? 0 : Math.ceil(Number(expires_at) / 1000);
  const rule = [Number(id), isException ? 'exception' : roleOf(Number(action))] as const;
  if (v4 !== null) sink.v4(...rule, Math.floor(Number(v4) / 64), Number(v4) % 64, expires, Number(levels));
  else if (v6 !== null) sink.v6(...rule, v6 as Uint8Array, 0, (v6 as Uint8Array)[16], expires, Number(levels));
  else {
    const parsed = targetOf(String(target));
    if (parsed.kind !== 'ip') sink.geo(...rule, parsed, expires, Number(levels));
  }
}
