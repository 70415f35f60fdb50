import { ENDS_SOON, IN_USE } from '../account/key.ts';
import type { AccountReads } from '../ports/account-store.ts';
import type { AuditReads } from '../ports/audit.ts';
import type { BouncerReads } from '../ports/bouncer-store.ts';
import type { DeviceReads } from '../ports/devices.ts';
import type { HistoryReads } from '../ports/history.ts';
import type { ReplacementReads } from '../ports/replacement-store.ts';
import type { RuleReads } from '../ports/rule-store.ts';
import type { SampleReads } from '../ports/sample-store.ts';
import type { SessionReads } from '../ports/session-store.ts';
import type { SourceReads } from '../ports/source-store.ts';
import { WORKSPACES } from './accounts/account-tables.ts';
import { earlierAnswer } from './accounts/answers.ts';
import { auditPage, auditSince } from './accounts/audit.ts';
import { composedFeed, composedFeeds } from './accounts/feeds.ts';
import { defaultList, listCount } from './accounts/lists.ts';
import { feedPage, keyPage, listPage } from './accounts/pages.ts';
import { replacementReads } from './accounts/replacements.ts';
import { deletedFeeds } from './accounts/restore-deleted.ts';
import { sampleReads } from './accounts/samples.ts';
import { findSession, people, workplace } from './accounts/sessions.ts';
import { sourceReads } from './accounts/sources.ts';
import { takenBytes } from './accounts/taken-bytes.ts';
import { batchOf, newestBatches, originsOf } from './batches/batch-reads.ts';
import { undoPreview } from './batches/undo-preview.ts';
import { WORKSPACE_PK } from './places.ts';
import { keyOf, organizationOf, type Row, savedKeyOf, workspaceOf } from './rows.ts';
import { ruleCount } from './rules/rule-counts.ts';
import { type IndexedBy, ruleRows, ruleStep } from './rules/rule-pages.ts';
import { senderStep } from './rules/rule-senders.ts';
import { activeCount } from './rules/rule-tables.ts';
import { rulesBefore, rulesById } from './rules/rules-by-id.ts';
import { bouncerReads } from './seen/bouncers.ts';
import { deviceCounts, devicePage, keysByHash, workspaceOfKey } from './seen/devices.ts';
import { feedDays } from './seen/feed-days.ts';
import { all, one, type Work } from './work.ts';

type SharedReads = SessionReads &
  SampleReads &
  AuditReads &
  BouncerReads &
  DeviceReads &
  HistoryReads &
  ReplacementReads &
  SourceReads &
  Omit<AccountReads, 'keyRevision' | 'findCaller'> &
  Pick<
    RuleReads,
    | 'position'
    | 'positionStreams'
    | 'defaultList'
    | 'listCount'
    | 'ruleCount'
    | 'countRules'
    | 'countListRules'
    | 'rules'
    | 'ruleStep'
    | 'senderStep'
    | 'batches'
    | 'batch'
    | 'undoPreview'
    | 'origins'
    | 'rulesBefore'
    | 'rulesById'
    | 'deadLetterCount'
  >;

const ENDING = 'SELECT count(*) AS keys FROM keys WHERE expires_at > $1 AND expires_at <= $2 AND revoked_at IS NULL AND last_used_at > $3';
const KEY = `SELECT * FROM keys WHERE id = $2 AND workspace_pk = ${WORKSPACE_PK}`;
const KEYS = `SELECT * FROM keys WHERE workspace_pk = ${WORKSPACE_PK} ORDER BY created_at, id`;
const POSITION = 'SELECT next_offset FROM positions WHERE stream_id = $1 AND "partition" = $2';
const DEAD_LETTERS = 'SELECT count(*) AS letters FROM (SELECT id FROM dead_letters ORDER BY id LIMIT $1) AS counted';
const ACTIVE = activeCount('$1', '$2');

const listCountText = (now: string) => `SELECT count(*) AS rules FROM (SELECT 1 AS rule FROM access_rules r
  WHERE r.list_pk = (SELECT pk FROM lists WHERE id = $2 AND workspace_pk = ${WORKSPACE_PK}) AND (r.expires_at IS NULL OR r.expires_at > ${now})
  LIMIT $3) AS counted`;

/** The reads that are the same in both dialects; `read` runs their statements, `now` is the store's clock as an expression. */
export function sharedReads(read: <T>(work: Work<T>) => Promise<T>, indexedBy: IndexedBy, now: string): SharedReads {
  const rows = <T>(text: string, of: (row: Row) => T, ...values: string[]) => read(mapped(text, of, values));
  return {
    ...bouncerReads(read),
    ...sampleReads(read),
    organizations: () => rows('SELECT * FROM organizations ORDER BY pk', organizationOf),
    workspaces: () => rows(`${WORKSPACES} ORDER BY w.pk`, workspaceOf),
    keys: (workspaceId) => rows(KEYS, (row) => keyOf(row, workspaceId), workspaceId),
    savedKeys: (workspaceId) => rows(KEYS, savedKeyOf, workspaceId),
    feeds: (workspaceId) => read(composedFeeds(workspaceId)),
    feed: (workspaceId, id) => read(composedFeed(workspaceId, id)),
    async workspace(workspaceId) {
      const row = await read(one(`${WORKSPACES} WHERE w.id = $1`, workspaceId));
      return row && workspaceOf(row);
    },
    async key(workspaceId, id) {
      const row = await read(one(KEY, workspaceId, id));
      return row && keyOf(row, workspaceId);
    },
    listPage: (workspaceId, page) => read(listPage(workspaceId, page)),
    async endingKeys(at) {
      return Number((await read(one(ENDING, at, at + ENDS_SOON, at - IN_USE)))?.keys ?? 0);
    },
    deletedFeeds: (workspaceId, now) => read(deletedFeeds(workspaceId, now)),
    feedPage: (workspaceId, page) => read(feedPage(workspaceId, page)),
    keyPage: (workspaceId, page) => read(keyPage(workspaceId, page)),
    auditPage: (workspaceId, page) => read(auditPage(workspaceId, page)),
    takenBytes: (workspaceId) => read(takenBytes(workspaceId)),
    earlierAnswer: (workspaceId, request, since) => read(earlierAnswer(workspaceId, request, since)),
    defaultList: (workspaceId) => read(defaultList(workspaceId)),
    listCount: (workspaceId) => read(listCount(workspaceId)),
    async position(streamId, partition) {
      const row = await read(one(POSITION, streamId, partition));
      return row && Number(row.next_offset);
    },
    positionStreams: () => rows('SELECT DISTINCT stream_id FROM positions', (row) => String(row.stream_id)),
    batches: (workspaceId, page) => read(newestBatches(workspaceId, page)),
    batch: (workspaceId, batchId) => read(batchOf(workspaceId, batchId)),
    undoPreview: (workspaceId, batchId, step) => undoPreview(read, step, workspaceId, batchId),
    origins: (workspaceId, seqs) => read(originsOf(workspaceId, seqs)),
    rulesBefore: (workspaceId, of, rules) => read(rulesBefore(workspaceId, of, rules)),
    rulesById: (workspaceId, kind, ids) => read(rulesById(workspaceId, kind, ids)),
    async deadLetterCount(most) {
      return Number((await read(one(DEAD_LETTERS, most)))?.letters ?? 0);
    },
    ruleCount: (workspaceId) => read(ruleCount(workspaceId)),
    findSession: (hash) => read(findSession(hash)),
    workplace: (workspaceId) => read(workplace(workspaceId)),
    people: (workspaceId) => read(people(workspaceId)),
    replacement: (workspaceId, id) => read(replacementReads.replacement(workspaceId, id)),
    replacementPiece: (id, piece, n) => read(replacementReads.replacementPiece(id, piece, n)),
    abandonedReplacements: (now, limit) => read(replacementReads.abandonedReplacements(now, limit)),
    sourceRevision: () => read(sourceReads.sourceRevision()),
    allSources: (page) => read(sourceReads.allSources(page)),
    sourcePage: (workspaceId, page) => read(sourceReads.sourcePage(workspaceId, page)),
    source: (workspaceId, id) => read(sourceReads.source(workspaceId, id)),
    sourceRuns: (workspaceId, id) => read(sourceReads.sourceRuns(workspaceId, id)),
    async newestAudit() {
      return Number((await read(one('SELECT max(id) AS id FROM audit')))?.id ?? 0);
    },
    auditSince: (id, limit) => read(auditSince(id, limit)),
    feedDays: (workspaceId, feedId, days) => read(feedDays(workspaceId, feedId, days)),
    devices: (workspaceId, page) => read(devicePage(workspaceId, page)),
    workspaceOfKey: (keyId) => read(workspaceOfKey(keyId)),
    keysByHash: (hashes) => read(keysByHash(hashes)),
    deviceCounts: (since) => read(deviceCounts(since)),
    rules: (workspaceId, filter) => ruleRows(read, indexedBy, workspaceId, filter),
    ruleStep: (workspaceId, filter) => read(ruleStep(indexedBy, workspaceId, filter)),
    senderStep: (workspaceId, feed, step) => read(senderStep(workspaceId, feed, step)),
    async countListRules(workspaceId, listId, most) {
      return Number((await read(one(listCountText(now), workspaceId, listId, most)))?.rules ?? 0);
    },
    async countRules(workspaceId, now) {
      return Number((await read(one(ACTIVE, now, workspaceId)))?.rules ?? 0);
    },
  };
}

function* mapped<T>(text: string, of: (row: Row) => T, values: readonly string[]): Work<T[]> {
  return (yield* all(text, ...values)).map(of);
}
