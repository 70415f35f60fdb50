/** Sessions of the console, the same in both dialects. */
import type { Session, SessionWrites } from '../../ports/session-store.ts';
import { type Changes, one, run, type Work } from '../work.ts';

/** `findSession` of the port. */
export function* findSession(hash: Uint8Array): Work<Session | undefined> {
  const row = yield* one('SELECT key_hash, actor, expires_at FROM sessions WHERE hash = $1', hash);
  return row && { keyHash: row.key_hash as Uint8Array, actor: String(row.actor), expiresAt: Number(row.expires_at) };
}

export const sessionChanges = {
  *openSession(_now, hash, { keyHash, actor, expiresAt }, most) {
    yield* run('INSERT INTO sessions (hash, key_hash, actor, expires_at) VALUES ($1, $2, $3, $4)', hash, keyHash, actor, expiresAt);
    yield* run(
      'DELETE FROM sessions WHERE key_hash = $1 AND id NOT IN (SELECT id FROM sessions WHERE key_hash = $1 ORDER BY id DESC LIMIT $2)',
      keyHash,
      most,
    );
  },
  *closeSession(_now, hash) {
    yield* run('DELETE FROM sessions WHERE hash = $1', hash);
  },
} satisfies Changes<SessionWrites>;
