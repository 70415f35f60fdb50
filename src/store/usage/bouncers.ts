/** Bouncers and their decision log (D14). */
import type { Page, PageRequest } from '../../ports/stored/account-store.ts';
import {
  type Bouncer,
  type BouncerReads,
  type BouncerWrites,
  type LogRow,
  MOST_BOUNCERS,
  MOST_LOG_BYTES,
  type NewLogRow,
  type RecordedLog,
} from '../../ports/stored/bouncer-store.ts';
import { pageOf } from '../../ports/stored/paginate.ts';
import { addUsage } from '../accounts/storage-usage.ts';
import { jsonAs, NUMBER, orNull, recordOf, TEXT } from '../record.ts';
import { WORKSPACE_PK, workspacePk } from '../row-ids.ts';
import type { Row } from '../rows.ts';
import { all, type Changes, one, type Reads, run, runRows, type Work } from '../work.ts';
import { fairShare } from './fair-share.ts';

const LOG_ROWS = `SELECT seq, entries FROM told_networks WHERE workspace_pk = ${WORKSPACE_PK} AND feed_id = $2 AND seq > $3 ORDER BY seq`;
const REPLACED = 'DELETE FROM told_networks WHERE workspace_pk = $1 AND feed_id = $2 AND seq <= $3 RETURNING length(entries) AS bytes';
/** Waits for the commit of another process that adds the same number, and then adds nothing. */
const ADD = `INSERT INTO told_networks (workspace_pk, feed_id, seq, at, entries) SELECT $1, $2, max(seq) + 1, $4, $5 FROM
  (SELECT CAST($3 AS BIGINT) AS seq UNION ALL SELECT max(seq) FROM told_networks WHERE workspace_pk = $1 AND feed_id = $2) numbers WHERE true
  ON CONFLICT DO NOTHING RETURNING seq`;
const LOG_SIZES =
  'SELECT feed_id, sum(length(entries)) AS bytes FROM told_networks WHERE workspace_pk = $1 GROUP BY feed_id ORDER BY feed_id';
const PULLED = 'SELECT feed_id, max(last_pull) AS at FROM bouncers WHERE workspace_pk = $1 GROUP BY feed_id';

/** '' for the workspace's feed: a key has no NULL. */
const feedKey = (feedId: string | null) => feedId ?? '';

export function* logRows(workspaceId: string, feedId: string | null, after: number): Work<LogRow[]> {
  const rows = yield* all(LOG_ROWS, workspaceId, feedKey(feedId), after);
  return rows.map(({ seq, entries }) => ({ seq: Number(seq), bytes: entries as Uint8Array }));
}

function* appendLog(
  workspaceId: string,
  feedId: string | null,
  { bytes, isComplete, through, at }: NewLogRow,
  most = MOST_LOG_BYTES,
): Work<RecordedLog> {
  const feed = feedKey(feedId);
  const workspace = yield* workspacePk(workspaceId);
  if (workspace === undefined) return { seq: through + 1, forgotten: [] };
  // First, while this transaction has locked nothing that the other one waits for.
  let added: Row | undefined;
  while (added === undefined) added = yield* one(ADD, workspace, feed, through, at, bytes);
  const replaced = isComplete ? yield* all(REPLACED, workspace, feed, through) : [];
  yield* addUsage(
    'told',
    workspace,
    replaced.reduce((sum, row) => sum - Number(row.bytes), bytes.length),
  );
  const forgotten = yield* dropLogs(workspace, feed, most);
  return { seq: Number(added.seq), forgotten };
}

/** Drops logs of the least recently polled feeds above `most` bytes, at least an eighth. Returns these feeds. */
function* dropLogs(workspace: number, except: string, most: number): Work<(string | null)[]> {
  const used = yield* one("SELECT bytes FROM taken_bytes WHERE what = 'told' AND workspace_pk = $1", workspace);
  let over = Number(used?.bytes ?? 0) - most;
  if (over <= 0) return [];
  over += most / 8;
  const forgotten: (string | null)[] = [];
  const pulled = new Map((yield* all(PULLED, workspace)).map(({ feed_id, at }) => [String(feed_id ?? ''), Number(at)]));
  const pulledAt = ({ feed_id }: Row) => pulled.get(String(feed_id)) ?? 0;
  for (const { feed_id, bytes } of (yield* all(LOG_SIZES, workspace)).sort((a, b) => pulledAt(a) - pulledAt(b))) {
    if (over <= 0) break;
    if (feed_id === except) continue;
    yield* run('DELETE FROM told_networks WHERE workspace_pk = $1 AND feed_id = $2', workspace, String(feed_id));
    yield* addUsage('told', workspace, -Number(bytes));
    over -= Number(bytes);
    forgotten.push(String(feed_id) || null);
  }
  return forgotten;
}

const BOUNCER = recordOf<Omit<Bouncer, 'workspaceId'>>({
  keyId: TEXT,
  userAgent: TEXT,
  address: TEXT,
  feedId: orNull(TEXT),
  firstSeen: NUMBER,
  lastPull: NUMBER,
  decisions: NUMBER,
  networks: NUMBER,
  leftOutNetworks: NUMBER,
  leftOutAddresses: NUMBER,
  metrics: orNull(TEXT),
  metricsAt: orNull(NUMBER),
  lastStream: orNull(NUMBER),
  refusal: orNull(jsonAs()),
  enforced: orNull(jsonAs()),
  differedAt: orNull(NUMBER),
});
const BOUNCERS = `SELECT ${BOUNCER.names} FROM bouncers WHERE workspace_pk = ${WORKSPACE_PK} AND (key_id, user_agent, address) > ($2, $3, $4)
  ORDER BY key_id, user_agent, address LIMIT $5`;

const placeOf = ({ keyId, address, userAgent }: Bouncer) => `${keyId} ${address} ${userAgent}`;

export function* bouncerPage(workspaceId: string, { after, limit }: PageRequest): Work<Page<Bouncer>> {
  const [keyId, address, ...name] = after === null ? ['', ''] : after.split(' ');
  const rows = yield* all(BOUNCERS, workspaceId, keyId, name.join(' '), address, limit + 1);
  return pageOf(
    rows.map((row) => ({ workspaceId, ...BOUNCER.read(row) })),
    limit,
    placeOf,
  );
}

const REMAIN = ['metrics', 'metrics_at', 'last_stream', 'enforced', 'differed_at'];
const CHANGED = BOUNCER.names.filter((column) => !['key_id', 'user_agent', 'address', 'first_seen', ...REMAIN].includes(column));
const CURRENT: readonly string[] = ['decisions', 'networks', 'left_out_networks', 'left_out_addresses'];
/** A refused poll leaves the previous values. */
const changedTo = (column: string) =>
  CURRENT.includes(column)
    ? `${column} = CASE WHEN excluded.refusal IS NULL THEN excluded.${column} ELSE known.${column} END`
    : `${column} = excluded.${column}`;
const remaining = REMAIN.map((column) => `${column} = coalesce(excluded.${column}, known.${column})`);
const note = (values: string) => `INSERT INTO bouncers AS known (workspace_pk, ${BOUNCER.names}) VALUES ${values}
  ON CONFLICT (workspace_pk, key_id, user_agent, address) DO UPDATE SET ${CHANGED.map(changedTo)}, ${remaining}
  WHERE excluded.last_pull >= known.last_pull`;

/** A fixed order, to prevent deadlocks. */
const byName = (a: Bouncer, b: Bouncer) => (placeOf(a) < placeOf(b) ? -1 : 1);

function* noteBouncers(bouncers: readonly Bouncer[]): Work<void> {
  for (const [workspaceId, its] of Map.groupBy(bouncers.toSorted(byName), (bouncer) => bouncer.workspaceId)) {
    const workspace = yield* workspacePk(workspaceId);
    if (workspace === undefined) continue;
    yield* runRows(
      its.map((bouncer) => [workspace, ...BOUNCER.values(bouncer)]),
      note,
    );
  }
}

function* forgetBouncers(before: number, { ofWorkspace, inAll } = MOST_BOUNCERS): Work<void> {
  yield* run('DELETE FROM bouncers WHERE last_pull < $1', before);
  const counts = yield* all('SELECT workspace_pk, count(*) AS count FROM bouncers GROUP BY workspace_pk');
  const allowed = countsIn(counts).map((count) => Math.min(count, ofWorkspace));
  const most = Math.min(ofWorkspace, Math.max(1, fairShare(allowed, inAll)));
  for (const { workspace_pk, count } of counts) if (Number(count) > most) yield* forgetOfWorkspace(Number(workspace_pk), most);
}

/** Deletes bouncers above the limit, from the keys with the most. */
function* forgetOfWorkspace(workspace: number, most: number): Work<void> {
  const counts = yield* all('SELECT key_id, count(*) AS count FROM bouncers WHERE workspace_pk = $1 GROUP BY key_id', workspace);
  const share = Math.max(1, fairShare(countsIn(counts), most));
  let left = 0;
  for (const { key_id, count } of counts) {
    const over = Math.max(0, Number(count) - share);
    if (over > 0) yield* run(OLDEST_OF_KEY, workspace, over, String(key_id));
    left += Number(count) - over;
  }
  // There may be more keys than `most`.
  if (left > most) yield* run(OLDEST, workspace, left - most);
}

const oldest = (which: string) => `DELETE FROM bouncers WHERE workspace_pk = $1 AND (key_id, user_agent, address) IN
  (SELECT key_id, user_agent, address FROM bouncers WHERE workspace_pk = $1${which} ORDER BY last_pull, key_id, user_agent, address LIMIT $2)`;
const OLDEST = oldest('');
const OLDEST_OF_KEY = oldest(' AND key_id = $3');

const countsIn = (rows: readonly Row[]) => rows.map(({ count }) => Number(count));

export const bouncerReads = { logRecords: logRows, bouncerPage } satisfies Reads<BouncerReads>;

export const bouncerChanges = {
  recordLog: (_now, ...args) => appendLog(...args),
  recordBouncers: (_now, ...args) => noteBouncers(...args),
  forgetBouncers: (_now, ...args) => forgetBouncers(...args),
} satisfies Changes<BouncerWrites>;
