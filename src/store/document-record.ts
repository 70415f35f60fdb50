/** When the content of a representation first appeared (Last-Modified), the same in both dialects. */
import { WeirError } from '../errors.ts';
import type { RuleWrites } from '../ports/stored/rule-store.ts';
import { FEED_PK, FROM_FEED } from './places.ts';
import type { Row } from './rows.ts';
import { oneByKey, run, type Work } from './work.ts';

/** A snapshot cannot be of later than now. One that is by more than this, ms, was read by a clock that was ahead (SPEC D35.2). */
const FAR_AHEAD = 10_000;

// One statement, so that replicas at the same moment agree: a newer snapshot moves the row, and only another hash moves `since`. A variant
// without a row is no older than the others of its feed, in whose place it may have come (SPEC D35.7).
const recordText = (now: string) => {
  const isOlder = `excluded.snapshot_at < stored.snapshot_at AND stored.snapshot_at <= ${now} + ${FAR_AHEAD}`;
  const latest = `coalesce((SELECT max(since) FROM feed_records WHERE workspace_pk = w.pk AND list_pk = ${FEED_PK}), 0)`;
  return `INSERT INTO feed_records AS stored (workspace_pk, list_pk, format, family, action, hash, snapshot_at, since)
  SELECT w.pk, ${FEED_PK}, $3, $4, $5, $6, $7, CASE WHEN $8 > ${latest} THEN $8 ELSE ${latest} END
  ${FROM_FEED}
  ON CONFLICT (workspace_pk, list_pk, format, family, action) DO UPDATE SET
    since = CASE WHEN (${isOlder}) OR excluded.hash = stored.hash THEN stored.since
                 WHEN $8 > stored.since THEN $8 ELSE stored.since + 1 END,
    hash = CASE WHEN ${isOlder} THEN stored.hash ELSE excluded.hash END,
    snapshot_at = CASE WHEN ${isOlder} THEN stored.snapshot_at ELSE excluded.snapshot_at END
  RETURNING hash, snapshot_at, since`;
};

/** `recordDocument` of the port; one statement, which needs no transaction around it. `now` is the store's clock, as an expression. */
export function* recordDocument(now: string, ...[workspaceId, key, seen]: Parameters<RuleWrites['recordDocument']>): Work<DocumentRecord> {
  const { feedId, format, family, action } = key;
  const row = yield* oneByKey(recordText(now), workspaceId, feedId, format, family, action, seen.hash, seen.snapshotAt, seen.second);
  if (row === undefined) throw new WeirError('NOT_FOUND', 'the feed whose content is to be recorded is gone');
  return { hash: String(row.hash), snapshotAt: Number(row.snapshot_at), since: Number(row.since) };
}

/** What decides which variant of which feed is at an address that does not say it. */
const DECIDING = ['name', 'format', 'family', 'action', 'target'];

const redateText = (now: string) => {
  const latest = '(SELECT max(since) FROM feed_records WHERE workspace_pk = $1 AND list_pk = $2)';
  return `UPDATE feed_records SET since = CASE WHEN ${now} / 1000 > ${latest} THEN ${now} / 1000 ELSE ${latest} + 1 END
    WHERE workspace_pk = $1 AND list_pk = $2`;
};

/**
 * Gives all variants of the feed of a list, or of a composed feed (`place`: the list's number, or that of the feed below zero), a later date
 * where a change of its row may have put one of them in the place of another (SPEC D35.7).
 */
export function* redateDocuments(now: string, workspacePk: number, place: number, before: Row, after: Row): Work<void> {
  if (DECIDING.some((field) => before[field] !== after[field])) yield* run(redateText(now), workspacePk, place);
}

type DocumentRecord = Awaited<ReturnType<RuleWrites['recordDocument']>>;
