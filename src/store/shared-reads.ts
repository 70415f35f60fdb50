import { ENDS_SOON, IN_USE } from '../account/key.ts';
import type { RuleFilter, Step, StepFilter } from '../ports/rule-store.ts';
import { WORKSPACES } from './accounts/account-tables.ts';
import { earlierAnswer } from './accounts/answers.ts';
import { auditPage, auditSince } from './accounts/audit.ts';
import { composedFeed, composedFeeds } from './accounts/feeds.ts';
import { defaultList, listCount } from './accounts/lists.ts';
import { feedPage, keyPage, listPage } from './accounts/pages.ts';
import { replacementReads } from './accounts/replacements.ts';
import { deletedFeeds } from './accounts/restore-deleted.ts';
import { sampleReads } from './accounts/samples.ts';
import { findSession } from './accounts/sessions.ts';
import { sourceReads } from './accounts/sources.ts';
import { takenBytes } from './accounts/taken-bytes.ts';
import { batchOf, newestBatches, originsOf } from './batches/batch-reads.ts';
import { undoPreview } from './batches/undo-preview.ts';
import { WORKSPACE_PK } from './places.ts';
import { keyOf, organizationOf, savedKeyOf, workspaceOf } from './rows.ts';
import { ruleCount } from './rules/rule-counts.ts';
import { type IndexedBy, ruleRows, ruleStep } from './rules/rule-pages.ts';
import { senderStep } from './rules/rule-senders.ts';
import { activeCount } from './rules/rule-tables.ts';
import { rulesBefore, rulesById } from './rules/rules-by-id.ts';
import { bouncerReads } from './seen/bouncers.ts';
import { deviceCounts, devicePage, keysByHash, workspaceOfKey } from './seen/devices.ts';
import { feedDays } from './seen/feed-days.ts';
import { all, driven, one, type Value, type Work } from './work.ts';

const ENDING = 'SELECT count(*) AS keys FROM keys WHERE expires_at > $1 AND expires_at <= $2 AND revoked_at IS NULL AND last_used_at > $3';
const KEY = `SELECT * FROM keys WHERE id = $2 AND workspace_pk = ${WORKSPACE_PK}`;
const KEYS = `SELECT * FROM keys WHERE workspace_pk = ${WORKSPACE_PK} ORDER BY created_at, id`;
const POSITION = 'SELECT next_offset FROM positions WHERE stream_id = $1 AND "partition" = $2';
const DEAD_LETTERS = 'SELECT count(*) AS letters FROM (SELECT id FROM dead_letters ORDER BY id LIMIT $1) AS counted';
const ACTIVE = activeCount('$1', '$2');

const listCountText = (now: string) => `SELECT count(*) AS rules FROM (SELECT 1 AS rule FROM access_rules r
  WHERE r.list_pk = (SELECT pk FROM lists WHERE id = $2 AND workspace_pk = ${WORKSPACE_PK}) AND (r.expires_at IS NULL OR r.expires_at > ${now})
  LIMIT $3) AS counted`;

const WORKS = {
  ...bouncerReads,
  ...replacementReads,
  ...sampleReads,
  ...sourceReads,
  *organizations() {
    return (yield* all('SELECT * FROM organizations ORDER BY pk')).map(organizationOf);
  },
  *workspaces() {
    return (yield* all(`${WORKSPACES} ORDER BY w.pk`)).map(workspaceOf);
  },
  *workspace(workspaceId: string) {
    const row = yield* one(`${WORKSPACES} WHERE w.id = $1`, workspaceId);
    return row && workspaceOf(row);
  },
  *keys(workspaceId: string) {
    return (yield* all(KEYS, workspaceId)).map((row) => keyOf(row, workspaceId));
  },
  *savedKeys(workspaceId: string) {
    return (yield* all(KEYS, workspaceId)).map(savedKeyOf);
  },
  *key(workspaceId: string, id: string) {
    const row = yield* one(KEY, workspaceId, id);
    return row && keyOf(row, workspaceId);
  },
  endingKeys: (at: number) => number(ENDING, at, at + ENDS_SOON, at - IN_USE),
  ...{ feeds: composedFeeds, feed: composedFeed, listPage, feedPage, keyPage, deletedFeeds, defaultList, listCount },
  ...{ auditPage, auditSince, takenBytes, earlierAnswer, findSession },
  newestAudit: () => number('SELECT max(id) AS id FROM audit'),
  *position(streamId: string, partition: number) {
    const row = yield* one(POSITION, streamId, partition);
    return row && Number(row.next_offset);
  },
  *positionStreams() {
    return (yield* all('SELECT DISTINCT stream_id FROM positions')).map((row) => String(row.stream_id));
  },
  ...{ batches: newestBatches, batch: batchOf, origins: originsOf, rulesBefore, rulesById, ruleCount, senderStep },
  deadLetterCount: (most: number) => number(DEAD_LETTERS, most),
  countRules: (workspaceId: string, now: number) => number(ACTIVE, now, workspaceId),
  ...{ devices: devicePage, deviceCounts, workspaceOfKey, keysByHash, feedDays },
};

/** The reads that are the same in both dialects; `read` runs their statements, `now` is the store's clock as an expression. */
export const sharedReads = (read: <T>(work: Work<T>) => Promise<T>, indexedBy: IndexedBy, now: string) => ({
  ...driven(WORKS, read),
  undoPreview: (workspaceId: string, batchId: string, step?: Step) => undoPreview(read, step, workspaceId, batchId),
  rules: (workspaceId: string, filter: RuleFilter) => ruleRows(read, indexedBy, workspaceId, filter),
  ruleStep: (workspaceId: string, filter: StepFilter) => read(ruleStep(indexedBy, workspaceId, filter)),
  countListRules: (workspaceId: string, listId: string, most: number) => read(number(listCountText(now), workspaceId, listId, most)),
});

/** The one number that a statement asks for. */
function* number(text: string, ...values: Value[]): Work<number> {
  const [value] = Object.values((yield* one(text, ...values)) ?? {});
  return Number(value ?? 0);
}
