/**
 * Landings count in their transaction; the sweep counts expired rules together with its position: a crash neither loses nor doubles
 * (D16.13).
 */
import { DAY, dayOf } from '../../clock.ts';
import { type FamilySize, type FeedDay, type FeedSizeOfDay, type HistoryReads, STORED_DAYS } from '../../ports/history.ts';
import { EXPRESSION_KINDS, type ExpressionKind, type Kind, RULE_KINDS, type RuleOperation } from '../../rule.ts';
import type { NumberedItem } from '../batches/batches.ts';
import { type ExpiredRules, writeExpired } from '../changes/rule-changes.ts';
import { FEED_PK, FROM_FEED, WORKSPACE_PK } from '../row-ids.ts';
import type { Row } from '../rows.ts';
import { all, one, type Reads, run, runRows, type Value, type Work } from '../work.ts';

const MINUTE = 60_000;
/** The day of a row with the sums of all days: its `net` is the number of active rules. */
const ALL_DAYS = 2 ** 31 - 1;
const WORKSPACE_ROW = 0;
/** `net`: change in active rules. */
const EVENTS = ['added', 'expired', 'removed', 'undone', 'net'] as const;
type Event = (typeof EVENTS)[number];

interface Counted extends Record<Event, number> {
  readonly workspace: number;
}

/** Per list (pk). */
export class DayCounts {
  readonly #lists = new Map<number, Counted>();

  /** Counts entries; `add` counts operations. */
  constructor(landed: readonly NumberedItem[] = []) {
    for (const { item, workspace, list } of landed) {
      const { change } = item;
      if (change.change === 'upsert') {
        if (change.kind === 'access_rule') this.add('added', workspace, list, 1);
      } else if (change.change === 'delete' || change.change === 'delete_by_value') {
        if (change.kind === 'access_rule') this.add('removed', workspace, list, 1);
      }
    }
  }

  add(event: Event, workspace: number, list: number, count: number): void {
    const known = this.#lists.get(list) ?? { workspace, added: 0, expired: 0, removed: 0, undone: 0, net: 0 };
    known[event] += count;
    this.#lists.set(list, known);
  }

  /** `at` in ms. Runs in the transaction of the changes. */
  *write(at: number): Work<void> {
    const day = dayOf(at);
    const rows = new Map<string, Value[]>();
    for (const [list, { workspace, ...counts }] of this.#lists) {
      for (const [place, on] of [
        [list, day],
        [WORKSPACE_ROW, day],
        [list, ALL_DAYS],
      ] as const) {
        const name = `${workspace} ${place} ${on}`;
        const row = rows.get(name) ?? [workspace, place, on, ...EVENTS.map(() => 0)];
        for (const [n, event] of EVENTS.entries()) row[n + 3] = Number(row[n + 3]) + counts[event];
        rows.set(name, row);
      }
    }
    // A fixed order, to prevent deadlocks.
    const sorted = [...rows.values()].sort(
      (a, b) => Number(a[0]) - Number(b[0]) || Number(a[1]) - Number(b[1]) || Number(a[2]) - Number(b[2]),
    );
    yield* runRows(sorted, (values) => `INSERT INTO feed_days (workspace_pk, list_pk, day, ${EVENTS}) VALUES ${values} ${ADDED}`);
  }
}

const ADDED = `ON CONFLICT (workspace_pk, list_pk, day) DO UPDATE SET ${EVENTS.map((event) => `${event} = feed_days.${event} + excluded.${event}`)}`;

interface DoneOperation {
  readonly workspace: number;
  readonly seq: number;
  readonly change: RuleOperation;
  readonly more: number;
  readonly lists: readonly number[];
}

/** Runs after the operation, in its transaction. */
export function* countOperation(counts: DayCounts, { workspace, seq, change, more, lists }: DoneOperation): Work<void> {
  if (change.change === 'set_rules') return;
  if (change.change === 'delete_rules') {
    for (const list of lists) counts.add('removed', workspace, list, -more);
    return;
  }
  for (const list of lists) {
    // Each removed or restored rule has a previous version.
    const row = yield* one('SELECT count(*) AS rules FROM access_rules_before WHERE list_pk = $1 AND changed = $2', list, seq);
    counts.add('undone', workspace, list, Number(row!.rules));
  }
}

const NEXT_EXPIRED = 'SELECT expires_at FROM access_rules WHERE expires_at > $1 AND expires_at <= $2 ORDER BY expires_at LIMIT 1 OFFSET $3';
const EXPIRED = `SELECT l.workspace_pk, l.pk AS list_pk, x.minute, x.rules
  FROM (SELECT list_pk, expires_at / ${MINUTE} AS minute, count(*) AS rules FROM access_rules WHERE expires_at > $1 AND expires_at <= $2
        GROUP BY list_pk, expires_at / ${MINUTE}) x JOIN lists l ON l.pk = x.list_pk`;
const expiredOf = (kind: ExpressionKind) => `SELECT workspace_pk, expires_at / ${MINUTE} AS minute, count(*) AS rules
  FROM ${RULE_KINDS[kind].table} WHERE expires_at > $1 AND expires_at <= $2 GROUP BY workspace_pk, expires_at / ${MINUTE}`;

/** Between two instants (ms). */
function* expiredRules(from: number, until: number): Work<ExpiredRules[]> {
  const found = (kind: Kind, rows: readonly Row[]) =>
    rows.map(({ workspace_pk: workspace, list_pk: list = 0, minute, rules }) => ({
      ...{ kind, workspace: Number(workspace), place: Number(list), minute: Number(minute), rules: Number(rules) },
    }));
  const expired = found('access_rule', yield* all(EXPIRED, from, until));
  for (const kind of EXPRESSION_KINDS) expired.push(...found(kind, yield* all(expiredOf(kind), from, until)));
  return expired;
}

/** Until `now` (ms), on the day of their expiry, about `limit` per call; whether more remain. */
export function* countExpired(now: number, limit: number): Work<boolean> {
  // Locks the row: concurrent calls would count twice.
  const { value } = (yield* one("UPDATE counters SET value = value WHERE name = 'expired_until' RETURNING value"))!;
  const from = Number(value);
  if (from >= now) return false;
  const next = yield* one(NEXT_EXPIRED, from, now, limit);
  const until = next === undefined ? now : Number(next.expires_at);
  const expired = yield* expiredRules(from, until);
  yield* writeExpired(expired);
  const ofLists = expired.filter(({ kind }) => kind === 'access_rule');
  const days = Map.groupBy(ofLists, ({ minute }) => dayOf(minute * MINUTE));
  for (const [day, rows] of [...days].sort(([a], [b]) => a - b)) {
    const counts = new DayCounts();
    for (const { workspace, place, rules } of rows) {
      counts.add('expired', workspace, place, rules);
      counts.add('net', workspace, place, -rules);
    }
    yield* counts.write(day * DAY);
  }
  yield* run("UPDATE counters SET value = $1 WHERE name = 'expired_until'", until);
  return next !== undefined;
}

const meanwhile = (now: string) => `SELECT count(*) AS rules, ${now} AS now FROM access_rules WHERE list_pk = $1 AND expires_at > $2
  AND expires_at <= (SELECT value FROM counters WHERE name = 'expired_until')`;

/** Expired rules of deleted lists are not counted. `now`: SQL; `since`: the deletion, ms. */
export function* countExpiredMeanwhile(now: string, workspacePk: number, listPk: number, since: number): Work<void> {
  const row = yield* one(meanwhile(now), listPk, since);
  const counts = new DayCounts();
  counts.add('net', workspacePk, listPk, -Number(row!.rules));
  yield* counts.write(Number(row!.now));
}

const SIZES = ['last_v4', 'max_v4', 'last_v6', 'max_v6'] as const;
const greater = (column: string) =>
  `${column} = CASE WHEN feed_days.${column} > excluded.${column} THEN feed_days.${column} ELSE coalesce(excluded.${column}, feed_days.${column}) END`;
const newest = (column: string) => `${column} = coalesce(excluded.${column}, feed_days.${column})`;
const NOTE_SIZE = `INSERT INTO feed_days (workspace_pk, list_pk, day, ${SIZES})
  SELECT w.pk, ${FEED_PK}, CAST($3 AS INTEGER), CAST($4 AS INTEGER), CAST($5 AS INTEGER), CAST($6 AS INTEGER), CAST($7 AS INTEGER)
  ${FROM_FEED}
  ON CONFLICT (workspace_pk, list_pk, day) DO UPDATE SET ${SIZES.map((column) => (column.startsWith('max') ? greater : newest)(column))}`;

/** Locks one row only. */
export function* noteFeedSize({ workspaceId, feedId, day, v4, v6 }: FeedSizeOfDay): Work<void> {
  yield* run(NOTE_SIZE, workspaceId, feedId, day, v4?.last ?? null, v4?.most ?? null, v6?.last ?? null, v6?.most ?? null);
}

const FEED_DAYS = `SELECT d.* FROM feed_days d WHERE d.workspace_pk = $1 AND d.list_pk = $2 AND d.day BETWEEN $3 AND $4 ORDER BY d.day`;
const PLACE = `SELECT w.pk AS workspace_pk, ${FEED_PK} AS list_pk
  ${FROM_FEED}`;

export function* feedDays(workspaceId: string, feedId: string | null, { from, to }: { from: number; to: number }): Work<FeedDay[]> {
  const place = yield* one(PLACE, workspaceId, feedId);
  if (place === undefined) return [];
  return (yield* all(FEED_DAYS, Number(place.workspace_pk), Number(place.list_pk), from, to)).map(feedDayOf);
}

const NETS = `SELECT l.id, l.name, d.day, d.net FROM lists l JOIN feed_days d
  ON d.workspace_pk = l.workspace_pk AND d.list_pk = l.pk AND d.day >= $2 WHERE l.workspace_pk = ${WORKSPACE_PK}`;
const HOURS = `SELECT minute / 60 AS hour, sum(added) AS added, sum(renewed) AS renewed, sum(removed) AS removed, sum(expired) AS expired
  FROM rule_changes WHERE workspace_pk = ${WORKSPACE_PK} AND minute BETWEEN $2 AND $3 AND kind = 'access_rule' GROUP BY minute / 60`;

export const ruleHistoryReads = {
  *ruleDays(workspaceId, from) {
    const since = yield* one("SELECT value FROM counters WHERE name = 'net_since'");
    const rows = yield* all(NETS, workspaceId, from);
    const all_ = rows.map(({ id, name, day, net }) => ({ listId: String(id), name: String(name), day: Number(day), net: Number(net) }));
    const [now, nets] = [all_.filter(({ day }) => day === ALL_DAYS), all_.filter(({ day }) => day !== ALL_DAYS)];
    return { since: Number(since?.value ?? 0), now: now.map(({ net, ...list }) => ({ ...list, rules: net })), nets };
  },
  *ruleHours(workspaceId, { from, to }) {
    const rows = yield* all(HOURS, workspaceId, 60 * from, 60 * to + 59);
    return rows.map((row) => ({
      ...{ hour: Number(row.hour), added: Number(row.added), renewed: Number(row.renewed) },
      ...{ removed: Number(row.removed), expired: Number(row.expired) },
    }));
  },
} satisfies Reads<Pick<HistoryReads, 'ruleDays' | 'ruleHours'>>;

const feedDayOf = (row: Row): FeedDay => ({
  day: Number(row.day),
  added: Number(row.added),
  expired: Number(row.expired),
  removed: Number(row.removed),
  undone: Number(row.undone),
  hits: Number(row.hits),
  hitBytes: Number(row.hit_bytes),
  v4: sizeOf(row.last_v4, row.max_v4),
  v6: sizeOf(row.last_v6, row.max_v6),
});

const sizeOf = (last: unknown, most: unknown): FamilySize | null => (last === null ? null : { last: Number(last), most: Number(most) });

export function* forgetDays(listPk: number): Work<void> {
  yield* run(
    'DELETE FROM feed_days WHERE list_pk = $1 AND workspace_pk = (SELECT workspace_pk FROM deleted_lists WHERE list_pk = $1)',
    listPk,
  );
}

export const firstStoredDay = (now: number): number => dayOf(now) - STORED_DAYS;
