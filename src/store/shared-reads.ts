import { ENDS_SOON, IN_USE } from '../account/key.ts';
import type { WorkspaceDirectory } from '../ports/snapshot.ts';
import type { PageRequest } from '../ports/stored/account-store.ts';
import type { ArchiveScan } from '../ports/stored/archive-store.ts';
import type { ChangeReads } from '../ports/stored/changes.ts';
import { pageOf } from '../ports/stored/paginate.ts';
import type { RuleFilter, Step, StepFilter } from '../ports/stored/rule-store.ts';
import { inChunks } from '../schedule/chunks.ts';
import { approvalReads } from './accounts/access/approvals.ts';
import { enrolmentReads } from './accounts/access/enrolments.ts';
import { peerReads } from './accounts/access/peers.ts';
import { findSession, people, workplace } from './accounts/access/sessions.ts';
import { signingReads } from './accounts/access/signing-keys.ts';
import { WORKSPACES } from './accounts/account-tables.ts';
import { earlierAnswer } from './accounts/answers.ts';
import { auditPage, auditSince } from './accounts/audit.ts';
import { composedFeed, composedFeeds } from './accounts/feeds.ts';
import { freezeReads } from './accounts/freezes.ts';
import { defaultList, listCount } from './accounts/lists.ts';
import { feedPage, keyPage, listPage, namesOf } from './accounts/pages.ts';
import { replacementReads } from './accounts/replacements.ts';
import { deletedFeeds } from './accounts/restore-deleted.ts';
import { sampleReads } from './accounts/samples.ts';
import { snoozeReads } from './accounts/snoozes.ts';
import { sourceReads } from './accounts/sources.ts';
import { usedBytesOf } from './accounts/storage-usage.ts';
import { workspaceState } from './accounts/transaction.ts';
import { webhookReads } from './accounts/webhooks.ts';
import { archivePage, archiveState } from './archive.ts';
import { batchOf, newestBatches, originsOf } from './batches/batch-reads.ts';
import { undoPreview } from './batches/undo-preview.ts';
import { changeReads, ruleChanges } from './changes/change-reads.ts';
import { WORKSPACE_PK } from './row-ids.ts';
import { deadLetterOf, keyOf, listOf, organizationOf, type Row, savedKeyOf, workspaceOf } from './rows.ts';
import { repeatPage, repeatsOf } from './rules/repeats.ts';
import { ruleCount } from './rules/rule-counts.ts';
import { type IndexedBy, ruleRows } from './rules/rule-pages.ts';
import { senderStep } from './rules/rule-senders.ts';
import { ruleStep } from './rules/rule-step.ts';
import { activeCount } from './rules/rule-tables.ts';
import { comparedRules, rulesBefore, rulesById, rulesByRef } from './rules/rules-by-id.ts';
import { ruleVersions } from './rules/target-history.ts';
import { activityReads } from './usage/activity.ts';
import { bouncerReads } from './usage/bouncers.ts';
import { deviceCounts, devicePage, keysByHash, workspaceOfKey } from './usage/devices.ts';
import { feedDays, ruleHistoryReads } from './usage/feed-days.ts';
import { listHits } from './usage/hits.ts';
import { recentAddresses, unapprovedAddresses } from './usage/recent-addresses.ts';
import { stoppedClients } from './usage/stopped.ts';
import { all, driven, one, type Value, type Work } from './work.ts';

const ENDING = 'SELECT count(*) AS keys FROM keys WHERE expires_at > $1 AND expires_at <= $2 AND revoked_at IS NULL AND last_used_at > $3';
const KEY = `SELECT * FROM keys WHERE id = $2 AND workspace_pk = ${WORKSPACE_PK}`;
const KEYS = `SELECT * FROM keys WHERE workspace_pk = ${WORKSPACE_PK} ORDER BY created_at, id`;
const KEYS_OF_DELETED = `SELECT * FROM keys WHERE revoked_with = $2 AND workspace_pk = ${WORKSPACE_PK} ORDER BY id`;
const POSITION = 'SELECT next_offset FROM positions WHERE stream_id = $1 AND "partition" = $2';
const DEAD_LETTERS = 'SELECT count(*) AS letters FROM (SELECT id FROM dead_letters ORDER BY id LIMIT $1) AS counted';
const ACTIVE = activeCount('$1', '$2');

const COUNT_OF_KEY = 'SELECT count(*) AS letters FROM (SELECT id FROM dead_letters WHERE substr(key, 1, 40) = $1 LIMIT $2) AS counted';
const LETTERS_OF_KEY = 'SELECT * FROM dead_letters WHERE substr(key, 1, 40) = $1 AND id < $2 ORDER BY id DESC LIMIT $3';
const directoryText = (now: string) => `SELECT w.name AS workspace_name, w.revision AS workspace_revision, ${now} AS taken_at, l.*
  FROM workspaces w JOIN lists l ON l.workspace_pk = w.pk WHERE w.id = $1 ORDER BY l.pk`;
const listCountText = (now: string) => `SELECT count(*) AS rules FROM (SELECT 1 AS rule FROM access_rules r
  WHERE r.list_pk = (SELECT pk FROM lists WHERE id = $2 AND workspace_pk = ${WORKSPACE_PK}) AND (r.expires_at IS NULL OR r.expires_at > ${now})
  LIMIT $3) AS counted`;

const WORKS = {
  ...activityReads,
  ...approvalReads,
  ...bouncerReads,
  ...changeReads,
  ...enrolmentReads,
  ...freezeReads,
  ...peerReads,
  ...replacementReads,
  ...ruleHistoryReads,
  ...sampleReads,
  ...snoozeReads,
  ...sourceReads,
  ...signingReads,
  ...webhookReads,
  *organizations() {
    return (yield* all('SELECT * FROM organizations ORDER BY pk')).map(organizationOf);
  },
  *workspaces() {
    return (yield* all(`${WORKSPACES} ORDER BY w.pk`)).map(workspaceOf);
  },
  *revisions(workspaceIds: readonly string[]) {
    const revisions = new Map<string, number>();
    for (const ids of inChunks(workspaceIds, 1000)) {
      const rows = yield* all(`SELECT id, revision FROM workspaces WHERE id IN (${ids.map((_, i) => `$${i + 1}`)})`, ...ids);
      for (const { id, revision } of rows) revisions.set(String(id), Number(revision));
    }
    return revisions;
  },
  *workspace(workspaceId: string) {
    const row = yield* one(`${WORKSPACES} WHERE w.id = $1`, workspaceId);
    return row && workspaceOf(row);
  },
  *keys(workspaceId: string) {
    return (yield* all(KEYS, workspaceId)).map((row) => keyOf(row, workspaceId));
  },
  *keysDeletedWith(workspaceId: string, id: string) {
    return (yield* all(KEYS_OF_DELETED, workspaceId, id)).map((row) => keyOf(row, workspaceId));
  },
  names: namesOf,
  *savedKeys(workspaceId: string) {
    return (yield* all(KEYS, workspaceId)).map(savedKeyOf);
  },
  *key(workspaceId: string, id: string) {
    const row = yield* one(KEY, workspaceId, id);
    return row && keyOf(row, workspaceId);
  },
  endingKeys: (at: number) => number(ENDING, at, at + ENDS_SOON, at - IN_USE),
  ...{ feeds: composedFeeds, feed: composedFeed, listPage, feedPage, keyPage, deletedFeeds, defaultList, listCount },
  ...{ auditPage, auditSince, usedBytesOf, earlierAnswer, findSession, workplace, people, workspaceState },
  archiveState,
  newestAudit: () => number('SELECT max(id) AS id FROM audit'),
  *position(streamId: string, partition: number) {
    const row = yield* one(POSITION, streamId, partition);
    return row && Number(row.next_offset);
  },
  *positionStreams() {
    return (yield* all('SELECT DISTINCT stream_id FROM positions')).map((row) => String(row.stream_id));
  },
  ...{
    batches: newestBatches,
    batch: batchOf,
    origins: originsOf,
    repeats: repeatsOf,
    repeatPage,
    rulesBefore,
    rulesById,
    rulesByRef,
    ruleCount,
    comparedRules,
    senderStep,
    recentAddresses,
    unapprovedAddresses,
  },
  deadLetterCount: (most: number) => number(DEAD_LETTERS, most),
  countRules: (workspaceId: string, now: number) => number(ACTIVE, now, workspaceId),
  ...{ devices: devicePage, deviceCounts, workspaceOfKey, keysByHash, stoppedClients, feedDays, listHits },
};

interface Dialect {
  readonly now: string;
  readonly indexedBy: IndexedBy;
  /** For dead letters. */
  readonly written: (text: string) => string;
  readonly read: (text: string) => string;
}

const worksOf = ({ now, indexedBy, written, read }: Dialect) => {
  const letterOf = (row: Row) => deadLetterOf({ ...row, key: read(String(row.key)), value: read(String(row.value)) });
  return {
    *directory(workspaceId: string): Work<WorkspaceDirectory | undefined> {
      const rows = yield* all(directoryText(now), workspaceId);
      const [first] = rows;
      return (
        first && {
          id: workspaceId,
          name: String(first.workspace_name),
          revision: Number(first.workspace_revision),
          readAt: Number(first.taken_at),
          // Every workspace has a default list.
          lists: rows.map((row) => listOf(row, workspaceId)),
        }
      );
    },
    archivePage: (scan: ArchiveScan, limit: number) => archivePage(indexedBy, scan, limit),
    ruleStep: (workspaceId: string, filter: StepFilter) => ruleStep(indexedBy, workspaceId, filter),
    ruleVersions: (workspaceId: string, targets: readonly string[], limit: number) => ruleVersions(indexedBy, workspaceId, targets, limit),
    countListRules: (workspaceId: string, listId: string, most: number) => number(listCountText(now), workspaceId, listId, most),
    *deadLetters(limit: number) {
      return (yield* all('SELECT * FROM (SELECT * FROM dead_letters ORDER BY id DESC LIMIT $1) newest ORDER BY id', limit)).map(letterOf);
    },
    *deadLetterPage(workspaceId: string, { after, limit }: PageRequest) {
      const found = yield* all(LETTERS_OF_KEY, written(workspaceId), Number(after ?? Number.MAX_SAFE_INTEGER), limit + 1);
      return pageOf(found.map(letterOf), limit, ({ id }) => String(id));
    },
    deadLettersOf: (workspaceId: string, most: number) => number(COUNT_OF_KEY, written(workspaceId), most),
    *deadLetter(id: number) {
      const row = yield* one('SELECT * FROM dead_letters WHERE id = $1', id);
      return row && letterOf(row);
    },
  };
};

export const sharedReads = (read: <T>(work: Work<T>) => Promise<T>, dialect: Dialect) => ({
  ...driven(WORKS, read),
  ...driven(worksOf(dialect), read),
  ruleChanges: (...args: Parameters<ChangeReads['ruleChanges']>) => ruleChanges(read, ...args),
  undoPreview: (workspaceId: string, batchId: string, step?: Step) => undoPreview(read, step, workspaceId, batchId),
  rules: (workspaceId: string, filter: RuleFilter) => ruleRows(read, dialect.indexedBy, workspaceId, filter),
});

function* number(text: string, ...values: Value[]): Work<number> {
  const [value] = Object.values((yield* one(text, ...values)) ?? {});
  return Number(value ?? 0);
}
