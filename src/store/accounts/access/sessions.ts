import type { RoleName } from '../../../account/role.ts';
import { MOST_SEEN, type SeenPerson, type Session, type SessionWrites, type Workplace } from '../../../ports/stored/session-store.ts';
import { WORKSPACE_PK } from '../../row-ids.ts';
import { numberOrNull, type Row, textOrNull, workplaceOf } from '../../rows.ts';
import { all, type Changes, one, run, type Work } from '../../work.ts';
import { WORKPLACE } from '../account-tables.ts';

const COLUMNS = 'key_hash, actor, expires_at, provider, subject, sid, member_of, home, opened_at, renew_at, renewal';

export function* findSession(hash: Uint8Array): Work<Session | undefined> {
  const row = yield* one(`SELECT ${COLUMNS} FROM sessions WHERE hash = $1`, hash);
  return row && sessionOf(row);
}

function sessionOf(row: Row): Session {
  const session = { keyHash: row.key_hash as Uint8Array, actor: String(row.actor), expiresAt: Number(row.expires_at) };
  if (row.provider === null) return session;
  return {
    ...session,
    person: {
      provider: String(row.provider),
      subject: String(row.subject),
      groups: JSON.parse(String(row.member_of)) as string[],
      sid: textOrNull(row.sid),
      home: String(row.home),
      openedAt: Number(row.opened_at),
      renewAt: numberOrNull(row.renew_at),
      renewal: row.renewal as Uint8Array | null,
    },
  };
}

export function* workplace(workspaceId: string): Work<Workplace | undefined> {
  const row = yield* one(`${WORKPLACE} WHERE w.id = $1`, workspaceId);
  return row && workplaceOf(row);
}

export function* people(workspaceId: string): Work<SeenPerson[]> {
  const rows = yield* all(
    `SELECT person, name, role, last_seen FROM people WHERE workspace_pk = ${WORKSPACE_PK} ORDER BY last_seen DESC LIMIT $2`,
    workspaceId,
    MOST_SEEN,
  );
  return rows.map((row) => ({
    id: String(row.person),
    name: String(row.name),
    role: row.role as RoleName,
    lastSeen: Number(row.last_seen),
  }));
}

export const sessionChanges = {
  *openSession(_now, hash, { keyHash, actor, expiresAt, person }, most) {
    yield* run(
      `INSERT INTO sessions (hash, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
      hash,
      keyHash,
      actor,
      expiresAt,
      person?.provider ?? null,
      person?.subject ?? null,
      person?.sid ?? null,
      person === undefined ? null : JSON.stringify(person.groups),
      person?.home ?? null,
      person?.openedAt ?? null,
      person?.renewAt ?? null,
      person?.renewal ?? null,
    );
    yield* run(
      'DELETE FROM sessions WHERE key_hash = $1 AND id NOT IN (SELECT id FROM sessions WHERE key_hash = $1 ORDER BY id DESC LIMIT $2)',
      keyHash,
      most,
    );
  },
  *closeSession(_now, hash) {
    yield* run('DELETE FROM sessions WHERE hash = $1', hash);
  },
  *claimRenewal(_now, hash, renewAt, next) {
    return (yield* run('UPDATE sessions SET renew_at = $3 WHERE hash = $1 AND renew_at = $2', hash, renewAt, next)) > 0;
  },
  *renewSession(_now, hash, { groups, actor, renewAt, renewal }) {
    yield* run(
      'UPDATE sessions SET member_of = $2, actor = $3, renew_at = $4, renewal = $5 WHERE hash = $1',
      hash,
      JSON.stringify(groups),
      actor,
      renewAt,
      renewal,
    );
  },
  *endSessions(now, { provider, sid, subject, openedUntil, token, validUntil }) {
    yield* run(`DELETE FROM logout_tokens WHERE valid_until < ${now}`);
    const fresh = yield* run('INSERT INTO logout_tokens (hash, valid_until) VALUES ($1, $2) ON CONFLICT DO NOTHING', token, validUntil);
    if (fresh === 0) return null;
    const of = (column: string, value: string) =>
      run(`DELETE FROM sessions WHERE provider = $1 AND ${column} = $2 AND opened_at <= $3`, provider, value, openedUntil);
    // A logout token with a session id ends only that session.
    if (sid === null) return subject === null ? 0 : yield* of('subject', subject);
    const foreign =
      subject === null
        ? undefined
        : yield* one('SELECT id FROM sessions WHERE provider = $1 AND sid = $2 AND subject <> $3 LIMIT 1', provider, sid, subject);
    return foreign === undefined ? yield* of('sid', sid) : null;
  },
  *seePerson(_now, workspaceId, { id, name, role, lastSeen }) {
    const place = yield* one('SELECT pk FROM workspaces WHERE id = $1', workspaceId);
    if (place === undefined) return;
    const pk = Number(place.pk);
    yield* run(
      `INSERT INTO people (workspace_pk, person, name, role, last_seen) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (workspace_pk, person) DO UPDATE SET name = excluded.name, role = excluded.role, last_seen = excluded.last_seen`,
      pk,
      id,
      name,
      role,
      lastSeen,
    );
    const known = yield* one('SELECT count(*) AS people FROM people WHERE workspace_pk = $1', pk);
    if (Number(known!.people) > MOST_SEEN) {
      yield* run('DELETE FROM people WHERE id = (SELECT id FROM people WHERE workspace_pk = $1 ORDER BY last_seen LIMIT 1)', pk);
    }
  },
} satisfies Changes<SessionWrites>;
