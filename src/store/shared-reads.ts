import type { AccountReads } from '../ports/account-store.ts';
import type { BouncerReads } from '../ports/bouncer-store.ts';
import type { RuleReads } from '../ports/rule-store.ts';
import { batchOf, newestBatches, originsOf, undoPreview } from './batch-reads.ts';
import { bouncerReads } from './bouncers.ts';
import { composedFeeds } from './feeds.ts';
import { defaultList, listCount } from './lists.ts';
import { keyOf, organizationOf, type Row, savedKeyOf, workspaceOf } from './rows.ts';
import { ruleCount } from './rule-counts.ts';
import { type IndexedBy, ruleRows } from './rule-pages.ts';
import { activeCount } from './rule-tables.ts';
import { rulesById } from './rules-by-id.ts';
import { all, one, type Work } from './work.ts';

type SharedReads = BouncerReads &
  Pick<AccountReads, 'organizations' | 'workspaces' | 'keys' | 'savedKeys' | 'feeds'> &
  Pick<
    RuleReads,
    | 'position'
    | 'positionStreams'
    | 'defaultList'
    | 'listCount'
    | 'ruleCount'
    | 'countRules'
    | 'rules'
    | 'batches'
    | 'batch'
    | 'undoPreview'
    | 'origins'
    | 'rulesById'
    | 'deadLetterCount'
  >;

const WORKSPACES = 'SELECT w.*, o.id AS organization_id FROM workspaces w JOIN organizations o ON o.pk = w.organization_pk ORDER BY w.pk';
const KEYS = 'SELECT * FROM keys WHERE workspace_pk = (SELECT pk FROM workspaces WHERE id = $1) ORDER BY created_at, id';
const POSITION = 'SELECT next_offset FROM positions WHERE stream_id = $1 AND "partition" = $2';
const DEAD_LETTERS = 'SELECT count(*) AS letters FROM (SELECT id FROM dead_letters ORDER BY id LIMIT $1) AS counted';
const ACTIVE = activeCount('$1', '$2');

/** The reads that are the same in both dialects; `read` runs their statements. */
export function sharedReads(read: <T>(work: Work<T>) => Promise<T>, indexedBy: IndexedBy): SharedReads {
  const rows = <T>(text: string, of: (row: Row) => T, ...values: string[]) => read(mapped(text, of, values));
  return {
    ...bouncerReads(read),
    organizations: () => rows('SELECT * FROM organizations ORDER BY pk', organizationOf),
    workspaces: () => rows(WORKSPACES, workspaceOf),
    keys: (workspaceId) => rows(KEYS, (row) => keyOf(row, workspaceId), workspaceId),
    savedKeys: (workspaceId) => rows(KEYS, savedKeyOf, workspaceId),
    feeds: (workspaceId) => read(composedFeeds(workspaceId)),
    defaultList: (workspaceId) => read(defaultList(workspaceId)),
    listCount: (workspaceId) => read(listCount(workspaceId)),
    async position(streamId, partition) {
      const row = await read(one(POSITION, streamId, partition));
      return row && Number(row.next_offset);
    },
    positionStreams: () => rows('SELECT DISTINCT stream_id FROM positions', (row) => String(row.stream_id)),
    batches: (workspaceId, page) => read(newestBatches(workspaceId, page)),
    batch: (workspaceId, batchId) => read(batchOf(workspaceId, batchId)),
    undoPreview: (workspaceId, batchId) => read(undoPreview(workspaceId, batchId)),
    origins: (workspaceId, seqs) => read(originsOf(workspaceId, seqs)),
    rulesById: (workspaceId, kind, ids) => read(rulesById(workspaceId, kind, ids)),
    async deadLetterCount(most) {
      return Number((await read(one(DEAD_LETTERS, most)))?.letters ?? 0);
    },
    ruleCount: (workspaceId) => read(ruleCount(workspaceId)),
    rules: (workspaceId, filter) => ruleRows(read, indexedBy, workspaceId, filter),
    async countRules(workspaceId, now) {
      return Number((await read(one(ACTIVE, now, workspaceId)))?.rules ?? 0);
    },
  };
}

function* mapped<T>(text: string, of: (row: Row) => T, values: readonly string[]): Work<T[]> {
  return (yield* all(text, ...values)).map(of);
}
