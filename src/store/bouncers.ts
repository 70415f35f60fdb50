/** Bouncers and what they were told, the same in both dialects (D14). */
import type { Page, PageRequest } from '../ports/account-store.ts';
import type { Bouncer, BouncerReads, BouncerWrites, NewToldRow, ToldRow } from '../ports/bouncer-store.ts';
import { pageOf } from './page.ts';
import { WORKSPACE_PK } from './places.ts';
import { all, one, run, type Transact, type Value, type Work } from './work.ts';

const TOLD = `SELECT seq, entries FROM told_networks WHERE workspace_pk = ${WORKSPACE_PK} AND feed_id = $2 AND seq > $3 ORDER BY seq`;
const REPLACED = `DELETE FROM told_networks WHERE workspace_pk = ${WORKSPACE_PK} AND feed_id = $2 AND seq <= $3`;
const LAST = `SELECT max(seq) AS seq FROM told_networks WHERE workspace_pk = ${WORKSPACE_PK} AND feed_id = $2`;
const ADD = `INSERT INTO told_networks (workspace_pk, feed_id, seq, at, entries) SELECT pk, $2, $3, $4, $5 FROM workspaces WHERE id = $1`;

/** A list's or composed feed's UUID, or '' for the workspace's feed: a key has no NULL. */
const feedKey = (feedId: string | null) => feedId ?? '';

/** `told` of the port. */
export function* toldRows(workspaceId: string, feedId: string | null, after: number): Work<ToldRow[]> {
  const rows = yield* all(TOLD, workspaceId, feedKey(feedId), after);
  return rows.map(({ seq, entries }) => ({ seq: Number(seq), bytes: entries as Uint8Array }));
}

function* addTold(workspaceId: string, feedId: string | null, { bytes, isWhole, through, at }: NewToldRow): Work<number> {
  const feed = feedKey(feedId);
  const seq = Math.max(through, Number((yield* one(LAST, workspaceId, feed))?.seq ?? 0)) + 1;
  if (isWhole) yield* run(REPLACED, workspaceId, feed, through);
  yield* run(ADD, workspaceId, feed, seq, at, bytes);
  return seq;
}

const COLUMNS = [
  'key_id',
  'user_agent',
  'address',
  'feed_id',
  'first_seen',
  'last_pull',
  'decisions',
  'networks',
  'left_out_networks',
  'left_out_addresses',
  'metrics',
  'metrics_at',
] as const;
const BOUNCERS = `SELECT ${COLUMNS} FROM bouncers WHERE workspace_pk = ${WORKSPACE_PK} AND (key_id, user_agent, address) > ($2, $3, $4)
  ORDER BY key_id, user_agent, address LIMIT $5`;

/** The place behind a bouncer: its key and address, which have no space in them, and its name. */
const placeOf = ({ keyId, address, userAgent }: Bouncer) => `${keyId} ${address} ${userAgent}`;

/** `bouncerPage` of the port. */
export function* bouncerPage(workspaceId: string, { after, limit }: PageRequest): Work<Page<Bouncer>> {
  const [keyId, address, ...name] = after === null ? ['', ''] : after.split(' ');
  const rows = yield* all(BOUNCERS, workspaceId, keyId, name.join(' '), address, limit + 1);
  const bouncers = rows.map((row) => ({
    workspaceId,
    keyId: String(row.key_id),
    userAgent: String(row.user_agent),
    address: String(row.address),
    feedId: row.feed_id === null ? null : String(row.feed_id),
    firstSeen: Number(row.first_seen),
    lastPull: Number(row.last_pull),
    decisions: Number(row.decisions),
    networks: Number(row.networks),
    leftOutNetworks: Number(row.left_out_networks),
    leftOutAddresses: Number(row.left_out_addresses),
    metrics: row.metrics === null ? null : String(row.metrics),
    metricsAt: row.metrics_at === null ? null : Number(row.metrics_at),
  }));
  return pageOf(bouncers, limit, placeOf);
}

const valuesOf = (bouncer: Bouncer): Value[] => [
  bouncer.keyId,
  bouncer.userAgent,
  bouncer.address,
  bouncer.feedId,
  bouncer.firstSeen,
  bouncer.lastPull,
  bouncer.decisions,
  bouncer.networks,
  bouncer.leftOutNetworks,
  bouncer.leftOutAddresses,
  bouncer.metrics,
  bouncer.metricsAt,
];

const PLACES = COLUMNS.map((_, i) => `$${i + 2}`);
const CHANGED = COLUMNS.filter((column) => !['key_id', 'user_agent', 'address', 'first_seen', 'metrics', 'metrics_at'].includes(column));
// A process that has not got their metrics leaves those that another one got.
const NOTE = `INSERT INTO bouncers AS known (workspace_pk, ${COLUMNS}) SELECT pk, ${PLACES} FROM workspaces WHERE id = $1
  ON CONFLICT (workspace_pk, key_id, user_agent, address) DO UPDATE SET ${CHANGED.map((column) => `${column} = excluded.${column}`)},
    metrics = coalesce(excluded.metrics, known.metrics), metrics_at = coalesce(excluded.metrics_at, known.metrics_at)
  WHERE excluded.last_pull >= known.last_pull`;

function* noteBouncers(bouncers: readonly Bouncer[], before: number): Work<void> {
  for (const bouncer of bouncers) yield* run(NOTE, bouncer.workspaceId, ...valuesOf(bouncer));
  yield* run('DELETE FROM bouncers WHERE last_pull < $1', before);
}

/** The reads of the port; `read` runs their statements. */
export const bouncerReads = (read: <T>(work: Work<T>) => Promise<T>): BouncerReads => ({
  told: (...args) => read(toldRows(...args)),
  bouncerPage: (...args) => read(bouncerPage(...args)),
});

/** The writes of the port. */
export const bouncerWrites = (transact: Transact): BouncerWrites => ({
  recordTold: (...args) => transact(() => addTold(...args)),
  recordBouncers: (...args) => transact(() => noteBouncers(...args), { repeatable: true }),
});
