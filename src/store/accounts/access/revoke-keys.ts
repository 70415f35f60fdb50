import type { Author } from '../../../account/caller.ts';
import { all, one, run, type Work } from '../../work.ts';
import { moveKeyRevision } from '../account-statements.ts';
import { audit } from '../audit.ts';
import { refreshPeers } from './peers.ts';

/**
 * Revokes the keys with an id, or bound to a list or feed, with an audit row each, and the codes of hosts that they created. A key revoked with its list or feed returns with it,
 * unless it is revoked separately meanwhile.
 */
export function* revokeKeys(
  now: string,
  column: 'id' | 'list_id' | 'feed_id',
  value: string,
  of: { readonly workspacePk: number; readonly by: Author | undefined },
): Work<void> {
  const { peers } = (yield* one('SELECT peers FROM workspaces WHERE pk = $1', of.workspacePk))!;
  // Locks in the order of other changes: the workspace, then its keys.
  if (peers !== '') yield* run('UPDATE workspaces SET revision = revision WHERE pk = $1', of.workspacePk);
  const [others, revokedWith] = column === 'id' ? ['OR revoked_with IS NOT NULL', null] : ['', value];
  const revoked = yield* all(
    `UPDATE keys SET revoked_at = coalesce(revoked_at, ${now}), revoked_with = $2 WHERE ${column} = $1 AND (revoked_at IS NULL ${others}) RETURNING id`,
    value,
    revokedWith,
  );
  if (peers !== '') yield* refreshPeers(now, of.workspacePk);
  yield* moveKeyRevision();
  for (const { id } of revoked) {
    yield* audit(now, 'key revoked', String(id), of);
    // Their authors are JSON texts that begin with the key.
    yield* run('DELETE FROM enrolments WHERE workspace_pk = $1 AND author LIKE $2', of.workspacePk, `{"keyId":"${String(id)}"%`);
  }
}
