/** Deletes data beyond its retention, in slices (D4.9). */
import { DAY } from '../clock.ts';
import { WINDOW_RETENTION } from '../ports/history.ts';
import { ANSWER_RETENTION } from '../ports/stored/account-store.ts';
import type { SweepLimits } from '../ports/stored/rule-store.ts';
import { KINDS, RULE_KINDS } from '../rule.ts';
import { forgetMembers, nextGivenUp } from './accounts/deleted.ts';
import { sweepReplacements } from './accounts/replacements.ts';
import { releaseUsage } from './accounts/storage-usage.ts';
import { endCanaries } from './canary/end.ts';
import type { Row } from './rows.ts';
import { ruleTable } from './rules/rule-columns.ts';
import { foldRuleCounts, RuleCountChanges, writeRuleCounts } from './rules/rule-counts.ts';
import { forgetActivity } from './usage/activity.ts';
import { countExpired, firstStoredDay, forgetDays } from './usage/feed-days.ts';
import { all, one, run, type Work } from './work.ts';

/** For up to `$2` rows; `condition` uses `$1`. */
export type AtMost = (table: string, condition: string) => string;

const LIST_TABLES = KINDS.map(ruleTable).filter(({ place }) => place === 'list_pk');

/** Relevance of a log row, ms: 14 days, plus 7 for the deletion (`decisions/build/decision-log.ts`). */
const LOG_RETENTION = 21 * DAY;
/** Per slice: reads only. */
const COUNTED = 20_000;

/** Per workspace: 131,072 rules sent thirty times. */
const MOST_PREVIOUS = 4_000_000;
/** Above it the largest workspace is reduced first. */
const MOST_PREVIOUS_IN_ALL = 20_000_000;
const DEAD_LETTERS = 100_000;
/** Audit retention of a workspace whose log is half full, ms. */
const SHORT_AUDIT_RETENTION = 7 * DAY;

export function* sweep(
  atMost: AtMost,
  {
    now,
    rulesExpiredBefore,
    auditBefore,
    limit,
    mostPrevious = MOST_PREVIOUS,
    mostPreviousInAll = MOST_PREVIOUS_IN_ALL,
    auditBytes = 0,
    deadLetters = DEAD_LETTERS,
  }: SweepLimits,
): Work<number> {
  const [changes, previous] = [new RuleCountChanges(), new RuleCountChanges()];
  let removed = yield* endCanaries(now);
  // Expired rules are counted before they are deleted; continues while any remain to count.
  if (yield* countExpired(now, COUNTED)) removed += 1;
  const listPk = yield* nextGivenUp(now);
  if (listPk !== undefined) {
    // Nothing can be restored to it: deletes previous versions too.
    const tables = LIST_TABLES.flatMap(({ table, before }) => [[table, changes] as const, [before, previous] as const]);
    for (const [table, counts] of tables)
      removed += yield* removeRules(table, 'list_pk', atMost(table, 'list_pk = $1'), [listPk, limit], counts);
    yield* forgetDays(listPk);
    const isEmpty = tables.map(([table]) => `NOT EXISTS (SELECT 1 FROM ${table} r WHERE r.list_pk = deleted_lists.list_pk)`).join(' AND ');
    removed += yield* run(`DELETE FROM deleted_lists WHERE list_pk = $1 AND ${isEmpty}`, listPk);
    yield* run('DELETE FROM feed_records WHERE list_pk = $1', listPk);
    yield* forgetMembers(listPk);
  }
  for (const kind of KINDS) {
    const { scope, table } = RULE_KINDS[kind];
    removed += yield* removeRules(table, `${scope}_pk`, atMost(table, 'expires_at < $1'), [rulesExpiredBefore, limit], changes);
  }
  removed += yield* run(`DELETE FROM dead_letters WHERE ${atMost('dead_letters', 'at < $1')}`, auditBefore, limit);
  const newest = yield* one('SELECT max(id) AS id FROM dead_letters');
  removed += yield* run(
    `DELETE FROM dead_letters WHERE ${atMost('dead_letters', 'id <= $1')}`,
    Number(newest?.id ?? 0) - deadLetters,
    limit,
  );
  const audited = yield* all(`DELETE FROM audit WHERE ${atMost('audit', 'at < $1')} RETURNING workspace_pk, bytes`, auditBefore, limit);
  audited.push(...(yield* shortenAudit(now, auditBytes, limit)));
  yield* releaseUsage('audit', audited);
  removed += audited.length;
  removed += yield* run(`DELETE FROM people WHERE ${atMost('people', 'last_seen < $1')}`, auditBefore, limit);
  removed += yield* run(`DELETE FROM sessions WHERE ${atMost('sessions', 'expires_at < $1')}`, now, limit);
  removed += yield* run(`DELETE FROM enrolments WHERE ${atMost('enrolments', 'expires_at < $1')}`, now, limit);
  const logRows = yield* all(
    `DELETE FROM told_networks WHERE ${atMost('told_networks', 'at < $1')} RETURNING workspace_pk, length(entries) AS bytes`,
    now - LOG_RETENTION,
    limit,
  );
  yield* releaseUsage('told', logRows);
  removed += logRows.length;
  const answers = yield* all(
    `DELETE FROM answers WHERE ${atMost('answers', 'at < $1')} RETURNING workspace_pk, bytes`,
    now - ANSWER_RETENTION,
    limit,
  );
  yield* releaseUsage('answers', answers);
  removed += answers.length;
  removed += yield* run(`DELETE FROM devices WHERE ${atMost('devices', 'last_pull < $1')}`, auditBefore, limit);
  removed += yield* run(`DELETE FROM feed_days WHERE ${atMost('feed_days', 'day < $1')}`, firstStoredDay(now), limit);
  removed += yield* run(`DELETE FROM hit_windows WHERE ${atMost('hit_windows', 'at < $1')}`, now - WINDOW_RETENTION.for, limit);
  const forgotten = Math.floor(rulesExpiredBefore / 60_000);
  removed += yield* run(`DELETE FROM rule_changes WHERE ${atMost('rule_changes', 'minute < $1')}`, forgotten, limit);
  removed += yield* forgetActivity(atMost, now, limit);
  removed += yield* sweepReplacements(now, limit);
  removed += yield* removeBatches(rulesExpiredBefore, limit);
  removed += yield* giveUp(atMost, { mostPrevious, mostPreviousInAll }, limit);
  yield* writeRuleCounts(changes);
  yield* writeRuleCounts(previous, 'kept_counts');
  if (removed === 0) for (const table of ['rule_counts', 'kept_counts'] as const) yield* foldRuleCounts(table);
  return removed;
}

/**
 * Deletes above half of the limit (0 = none), but none of the last seven days: filling the log must not hide what was done. Returns the
 * rows.
 */
function* shortenAudit(now: number, auditBytes: number, limit: number): Work<Row[]> {
  if (auditBytes === 0) return [];
  const full = yield* all("SELECT workspace_pk FROM taken_bytes WHERE what = 'audit' AND bytes > $1", auditBytes / 2);
  for (const { workspace_pk: workspace } of full) {
    const oldest = yield* all('SELECT id, at FROM audit WHERE workspace_pk = $1 ORDER BY id LIMIT $2', Number(workspace), limit);
    const last = oldest.findLast(({ at }) => Number(at) < now - SHORT_AUDIT_RETENTION);
    if (last === undefined) continue;
    return yield* all(
      'DELETE FROM audit WHERE workspace_pk = $1 AND id <= $2 RETURNING workspace_pk, bytes',
      Number(workspace),
      Number(last.id),
    );
  }
  return [];
}

const BATCHES = 500;
const OLDEST = `FROM batches WHERE landed_at < $1 ORDER BY landed_at, workspace_pk, first_seq LIMIT ${BATCHES}`;

/** Deletes batches applied before an instant (ms). */
function* removeBatches(landedBefore: number, limit: number): Work<number> {
  const { removed, isDone } = yield* removePrevious(OLDEST, [landedBefore], limit);
  if (!isDone) return removed;
  const forget = `DELETE FROM batches WHERE (workspace_pk, first_seq) IN (SELECT workspace_pk, first_seq ${OLDEST})`;
  return removed + (yield* run(forget, landedBefore));
}

/**
 * Whether all are deleted. Two statements, for the lists of entries and for undos in any list: combined, PostgreSQL would read whole
 * tables.
 */
function* removePrevious(from: string, values: readonly number[], limit: number): Work<{ removed: number; isDone: boolean }> {
  const changes = new RuleCountChanges();
  let removed = 0;
  let isDone = true;
  for (const { before, place } of KINDS.map(ruleTable)) {
    const own = `(SELECT ${place}, first_seq, last_seq ${from}) b CROSS JOIN ${before} x
       WHERE x.${place} = b.${place} AND x.changed BETWEEN b.first_seq AND b.last_seq`;
    const ofUndos = `(SELECT workspace_pk, first_seq, undoes ${from}) b JOIN lists l ON l.workspace_pk = b.workspace_pk
       CROSS JOIN ${before} x WHERE x.list_pk = l.pk AND x.changed = b.first_seq AND b.undoes IS NOT NULL`;
    for (const found of place === 'list_pk' ? [own, ofUndos] : [own]) {
      const key = ['changed', 'id', place].map((column) => `x.${column}`);
      const condition = `(changed, id, ${place}) IN (SELECT ${key} FROM ${found} LIMIT $${values.length + 1})`;
      const rows = yield* removeRules(before, place, condition, [...values, limit], changes);
      removed += rows;
      isDone &&= rows < limit;
    }
  }
  yield* writeRuleCounts(changes, 'kept_counts');
  return { removed, isDone };
}

const GIVEN_UP = 'FROM batches WHERE workspace_pk = $1 AND first_seq > $2 AND first_seq <= $3';

/**
 * Drops versions of the oldest batches of one workspace above `most`. Records the position first, so that nobody treats the rest as
 * complete.
 */
function* giveUp(atMost: AtMost, most: { readonly mostPrevious: number; readonly mostPreviousInAll: number }, limit: number): Work<number> {
  const open = yield* one('SELECT workspace_pk, removed_seq, until_seq FROM given_up WHERE removed_seq < until_seq LIMIT 1');
  if (open !== undefined) {
    const [workspace, from, until] = [Number(open.workspace_pk), Number(open.removed_seq), Number(open.until_seq)];
    const { removed, isDone } = yield* removePrevious(GIVEN_UP, [workspace, from, until], limit);
    if (isDone) yield* run('UPDATE given_up SET removed_seq = $2 WHERE workspace_pk = $1', workspace, until);
    return removed + (isDone ? 1 : 0);
  }
  const [over] = yield* all('SELECT workspace_pk, sum(rules) AS kept FROM kept_counts GROUP BY workspace_pk ORDER BY kept DESC LIMIT 1');
  const inAll = yield* one('SELECT sum(rules) AS kept FROM kept_counts');
  if (over === undefined || (Number(over.kept) <= most.mostPrevious && Number(inAll?.kept ?? 0) <= most.mostPreviousInAll)) return 0;
  const workspace = Number(over.workspace_pk);
  // Locked like by a landing: an active undo keeps its data until its end.
  const isLocked = (yield* run(`UPDATE workspaces SET revision = revision WHERE ${atMost('workspaces', 'pk = $1')}`, workspace, 1)) === 1;
  if (!isLocked) return 1;
  const oldest = yield* all(
    `SELECT first_seq, last_seq FROM batches WHERE workspace_pk = $1
     AND first_seq > coalesce((SELECT until_seq FROM given_up WHERE workspace_pk = $1), 0) ORDER BY first_seq LIMIT ${BATCHES}`,
    workspace,
  );
  // About one slice: no batch is dropped needlessly.
  let entries = 0;
  let until: number | undefined;
  for (const { first_seq, last_seq } of oldest) {
    if (entries >= limit) break;
    entries += Number(last_seq) - Number(first_seq) + 1;
    until = Number(last_seq);
  }
  if (until === undefined) return 0;
  return yield* run(
    `INSERT INTO given_up (workspace_pk, removed_seq, until_seq) VALUES ($1, 0, $2)
     ON CONFLICT (workspace_pk) DO UPDATE SET until_seq = excluded.until_seq`,
    workspace,
    until,
  );
}

function* removeRules(
  table: string,
  place: 'list_pk' | 'workspace_pk',
  condition: string,
  values: readonly number[],
  changes: RuleCountChanges,
): Work<number> {
  const rows = yield* all(`DELETE FROM ${table} WHERE ${condition} RETURNING ${place} AS place`, ...values);
  const places = rows.map((row) => Number(row.place));
  const workspaceOf = place === 'list_pk' ? yield* workspacesOf(new Set(places)) : undefined;
  for (const at of places) {
    const workspacePk = workspaceOf === undefined ? at : workspaceOf.get(at);
    if (workspacePk !== undefined) changes.add(workspacePk, -1);
  }
  return rows.length;
}

/** Including deleted lists. */
function* workspacesOf(lists: ReadonlySet<number>): Work<Map<number, number>> {
  if (lists.size === 0) return new Map();
  const given = [...lists].map((_, i) => `$${i + 1}`);
  const rows = yield* all(
    `SELECT pk AS list_pk, workspace_pk FROM lists WHERE pk IN (${given})
     UNION ALL SELECT list_pk, workspace_pk FROM deleted_lists WHERE list_pk IN (${given}) AND workspace_pk IS NOT NULL`,
    ...lists,
  );
  return new Map(rows.map((row) => [Number(row.list_pk), Number(row.workspace_pk)]));
}
