/** When the content of a representation first appeared (Last-Modified). */

import { WeirError } from '../errors.ts';
import { CANARY, isCanaryId, plainId } from '../feed/canary.ts';
import { storedVariant, type Variant } from '../feed/variant.ts';
import type { RuleWrites } from '../ports/stored/rule-store.ts';
import { FEED_PK, FROM_FEED } from './row-ids.ts';
import { type Row, textOrNull } from './rows.ts';
import { oneByKey, run, type Work } from './work.ts';

/** A snapshot later than now by more than this, ms, was read by a fast clock (SPEC D35.2). */
const FAR_AHEAD = 10_000;

// One statement, for concurrent replicas: a newer snapshot updates the row, and only another hash updates `since`. A variant
// without a row is at least as new as the feed's others, which it may have replaced (SPEC D35.7). A later instant sent with the same
// content applies to all (SPEC D37.3).
const recordText = (now: string) => {
  const isOlder = `excluded.snapshot_at < stored.snapshot_at AND stored.snapshot_at <= ${now} + ${FAR_AHEAD}`;
  const latest = `coalesce((SELECT max(since) FROM feed_records WHERE workspace_pk = w.pk AND list_pk = ${FEED_PK}), 0)`;
  return `INSERT INTO feed_records AS stored (workspace_pk, list_pk, format, family, action, hash, snapshot_at, since)
  SELECT w.pk, ${FEED_PK}, $3, $4, $5, $6, $7, CASE WHEN $8 > ${latest} THEN $8 ELSE ${latest} + CAST($10 AS INTEGER) END
  ${FROM_FEED}
  ON CONFLICT (workspace_pk, list_pk, format, family, action) DO UPDATE SET
    since = CASE WHEN excluded.hash = stored.hash AND $9 > stored.since AND $9 <= ${now} / 1000 THEN $9
                 WHEN (${isOlder}) OR excluded.hash = stored.hash THEN stored.since
                 WHEN $8 > stored.since THEN $8 ELSE stored.since + 1 END,
    hash = CASE WHEN ${isOlder} THEN stored.hash ELSE excluded.hash END,
    snapshot_at = CASE WHEN ${isOlder} THEN stored.snapshot_at ELSE excluded.snapshot_at END
  RETURNING hash, snapshot_at, since`;
};

/** One statement; needs no transaction. `now`: SQL expression of the store's clock. */
export function* recordDocument(now: string, ...[workspaceId, key, seen]: Parameters<RuleWrites['recordDocument']>): Work<DocumentRecord> {
  const { family, action } = key;
  // The content for canaries is always later than the one for others (SPEC D65.4).
  const isOfCanaries = isCanaryId(key.feedId);
  const [feedId, format] = [plainId(key.feedId), isOfCanaries ? `${CANARY}${key.format}` : key.format];
  const { hash, snapshotAt, second, lastModified = 0 } = seen;
  const row = yield* oneByKey(
    recordText(now),
    workspaceId,
    feedId,
    format,
    family,
    action,
    hash,
    snapshotAt,
    second,
    lastModified,
    isOfCanaries ? 1 : 0,
  );
  if (row === undefined) throw new WeirError('NOT_FOUND', 'the feed was deleted');
  return { hash: String(row.hash), snapshotAt: Number(row.snapshot_at), since: Number(row.since) };
}

/** Settings that decide which variant a URL returns by default. */
const DECIDING = ['name', 'format', 'family', 'action', 'target'];
const PARTS = ['format', 'family', 'action'] as const;

/** `later`: SQL expression; 0: unchanged. */
const redateText = (now: string, later: string) => {
  const latest = '(SELECT max(since) FROM feed_records WHERE workspace_pk = $1 AND list_pk = $2)';
  const first = `CASE WHEN ${now} / 1000 > ${latest} THEN ${now} / 1000 ELSE ${latest} + 1 END`;
  return `UPDATE feed_records SET since = ${first} + ${later} - 1 WHERE workspace_pk = $1 AND list_pk = $2 AND ${later} > 0`;
};

/**
 * Dates variants later that a change of their list or composed feed (`place`: list pk, or minus feed pk) may have put in place of another
 * one (SPEC D35.7). That one keeps its date: processes that do not know the change yet still send it, and dates must differ (SPEC D37.3).
 */
export function* redateDocuments(now: string, workspacePk: number, place: number, before: Row, after: Row): Work<void> {
  if (DECIDING.every((field) => before[field] === after[field])) return;
  const [was, is] = [variantOf(before), variantOf(after)];
  const changed = PARTS.filter((part) => was[part] !== is[part]);
  // A URL may fix some parts: the variant with more changed parts replaces the other.
  const others = changed.map((part, n) => `CASE WHEN ${part} = $${n + 3} THEN 0 ELSE 1 END`);
  const all = changed.length === 0 || before.name !== after.name ? ['1'] : [];
  yield* run(redateText(now, `(${[...all, ...others].join(' + ')})`), workspacePk, place, ...changed.map((part) => was[part]));
}

const variantOf = ({ format, family, action, target }: Row): Variant => {
  const settings = { format: textOrNull(format), family: textOrNull(family), action: textOrNull(action), target: textOrNull(target) };
  return storedVariant({ ...settings, hostStyle: null, maxEntries: null });
};

type DocumentRecord = Awaited<ReturnType<RuleWrites['recordDocument']>>;
