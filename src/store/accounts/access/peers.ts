import { MOST_PEERS, MOST_SHARING, PEER_RETENTION, type Peer, readPeers, writePeers } from '../../../account/guard-rails.ts';
import { DAY } from '../../../clock.ts';
import type { PeerReads, PeerWrites } from '../../../ports/stored/peer-store.ts';
import type { Row } from '../../rows.ts';
import { fairShare } from '../../usage/fair-share.ts';
import { all, type Changes, one, type Reads, run, runRows, type Work } from '../../work.ts';
import { holdWorkspace, moveKeyRevision } from '../account-statements.ts';

const ENDED = `SELECT w.id FROM workspaces w WHERE w.pk IN (
  SELECT workspace_pk FROM peers WHERE seen_at < $1
  UNION SELECT k.workspace_pk FROM keys k WHERE k.expires_at > $2 AND k.expires_at <= $3
    AND EXISTS (SELECT 1 FROM peers p WHERE p.workspace_pk = k.workspace_pk AND p.key_id = k.id)) LIMIT 50`;

const note = (values: string) => `INSERT INTO peers (workspace_pk, key_id, address, is_person, seen_at) VALUES ${values}
  ON CONFLICT (workspace_pk, key_id, address) DO UPDATE SET seen_at = excluded.seen_at WHERE excluded.seen_at > peers.seen_at`;

const endedRows = (now: string) => `DELETE FROM peers WHERE workspace_pk = $1 AND (seen_at < ${now} - ${PEER_RETENTION} OR is_person = 0
  AND NOT EXISTS (SELECT 1 FROM keys k WHERE k.id = peers.key_id AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ${now})))`;

// By day, and by the age of the keys: the same clients stay while all are in use.
const OLDEST_OF_KEY = `DELETE FROM peers WHERE workspace_pk = $1 AND key_id = $2 AND address NOT IN
  (SELECT address FROM peers WHERE workspace_pk = $1 AND key_id = $2 ORDER BY seen_at / ${DAY} DESC, address LIMIT $3)`;
const NEWEST_KEYS = `DELETE FROM peers WHERE workspace_pk = $1 AND key_id NOT IN
  (SELECT DISTINCT key_id FROM peers WHERE workspace_pk = $1 ORDER BY key_id LIMIT ${MOST_PEERS})`;

const PROTECTED = `SELECT p.address, p.is_person, p.seen_at, coalesce(k.name, k.prefix) AS name FROM peers p LEFT JOIN keys k ON k.id = p.key_id
  WHERE p.workspace_pk = $1 AND
    (SELECT count(*) FROM (SELECT DISTINCT o.workspace_pk FROM peers o WHERE o.address = p.address LIMIT ${MOST_SHARING + 1}) AS sharing) <= ${MOST_SHARING}
  ORDER BY p.address, p.seen_at DESC, p.key_id`;

/** Whether the protected addresses changed: the key revision must move. The workspace is locked. */
export function* refreshPeers(now: string, workspacePk: number): Work<boolean> {
  yield* run(endedRows(now), workspacePk);
  yield* run(NEWEST_KEYS, workspacePk);
  const counts = yield* all('SELECT key_id, count(*) AS count FROM peers WHERE workspace_pk = $1 GROUP BY key_id', workspacePk);
  const sizes = counts.map(({ count }) => Number(count));
  const share = fairShare(sizes, MOST_PEERS);
  for (const [i, { key_id }] of counts.entries()) if (sizes[i]! > share) yield* run(OLDEST_OF_KEY, workspacePk, String(key_id), share);
  const found = yield* all(PROTECTED, workspacePk);
  const after = found.filter((row, i) => row.address !== found[i - 1]?.address).map(peerOf);
  const before = readPeers(String((yield* one('SELECT peers FROM workspaces WHERE pk = $1', workspacePk))!.peers));
  const isSame = addressesOf(before) === addressesOf(after);
  const moved = isSame ? '' : ', revision = revision + 1, settings_revision = settings_revision + 1';
  const text = writePeers(after);
  if (isSame && text === writePeers(before)) return false;
  yield* run(`UPDATE workspaces SET peers = $2${moved} WHERE pk = $1`, workspacePk, text);
  if (!isSame) yield* run('UPDATE lists SET revision = revision + 1 WHERE workspace_pk = $1', workspacePk);
  return !isSame;
}

const addressesOf = (peers: readonly Peer[]) => peers.map(({ address }) => address).join();

const NAME = 60;

const peerOf = ({ address, is_person: isPerson, name, seen_at: at }: Row): Peer => ({
  address: String(address),
  name: Number(isPerson) === 1 ? 'a person' : `key ${JSON.stringify(String(name).slice(0, NAME))}`,
  lastSeen: new Date(Number(at)).toISOString().slice(0, 10),
});

export const peerReads = {
  *workspacesWithEndedPeers(now) {
    return (yield* all(ENDED, now - PEER_RETENTION, now - DAY, now)).map(({ id }) => String(id));
  },
} satisfies Reads<PeerReads>;

export const peerChanges = {
  *notePeers(now, workspaceId, seen) {
    const pk = yield* holdWorkspace(workspaceId);
    yield* runRows(
      seen.map(({ keyId, address, isPerson, at }) => [pk, keyId, address, isPerson ? 1 : 0, at]),
      note,
    );
    if (yield* refreshPeers(now, pk)) yield* moveKeyRevision();
  },
} satisfies Changes<PeerWrites>;
