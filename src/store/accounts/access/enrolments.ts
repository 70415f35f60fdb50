/** Codes of hosts (SPEC D52.1 to D52.3). */
import type { Author } from '../../../account/caller.ts';
import { CODE_LIFETIME, type Enrolment, MOST_CODES } from '../../../account/enrolment.ts';
import { isoTime } from '../../../clock.ts';
import { WeirError } from '../../../errors.ts';
import type { EnrolmentReads, EnrolmentWrites } from '../../../ports/stored/enrolment-store.ts';
import { WORKSPACE_PK } from '../../row-ids.ts';
import { keyOf, numberOrNull, type Row, textOrNull } from '../../rows.ts';
import { all, type Changes, one, type Reads, run } from '../../work.ts';
import { findWorkspace, holdWorkspace } from '../account-statements.ts';
import { doneOnce } from '../answers.ts';
import { audit } from '../audit.ts';
import { insertKey } from '../management.ts';

const enrolmentOf = (row: Row, workspaceId: string): Enrolment => ({
  id: String(row.id),
  workspaceId,
  listId: textOrNull(row.list_id),
  feedId: textOrNull(row.feed_id),
  name: String(row.name),
  networks: String(row.networks).split(' ').filter(Boolean),
  keyExpiresAt: numberOrNull(row.key_expires_at),
  createdAt: Number(row.created_at),
  expiresAt: Number(row.expires_at),
});

const audited = ({ name, listId, feedId, networks, expiresAt }: Enrolment) => ({
  ...{ name, list_id: listId, feed_id: feedId, ...(networks.length > 0 && { from: networks }), expires_at: isoTime(expiresAt) },
});

const UNUSED = `SELECT k.* FROM keys k WHERE k.workspace_pk = ${WORKSPACE_PK} AND k.permissions = 'feed:read' AND k.last_used_at IS NULL
  AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2)
  AND NOT EXISTS (SELECT 1 FROM bouncers b WHERE b.workspace_pk = k.workspace_pk AND b.key_id = k.id)
  AND NOT EXISTS (SELECT 1 FROM devices d WHERE d.workspace_pk = k.workspace_pk AND d.key_id = k.id)
  ORDER BY k.created_at DESC, k.id LIMIT $3`;

export const enrolmentReads = {
  *enrolments(workspaceId, now) {
    const text = `SELECT * FROM enrolments WHERE workspace_pk = ${WORKSPACE_PK} AND expires_at > $2 ORDER BY created_at DESC, id LIMIT ${MOST_CODES}`;
    return (yield* all(text, workspaceId, now)).map((row) => enrolmentOf(row, workspaceId));
  },
  *findEnrolment(hash, now) {
    const text =
      'SELECT e.*, w.id AS workspace_id FROM enrolments e JOIN workspaces w ON w.pk = e.workspace_pk WHERE hash = $1 AND expires_at > $2';
    const row = yield* one(text, hash, now);
    return row && enrolmentOf(row, String(row.workspace_id));
  },
  *unusedFeedKeys(workspaceId, now, most) {
    return (yield* all(UNUSED, workspaceId, now, most)).map((row) => keyOf(row, workspaceId));
  },
} satisfies Reads<EnrolmentReads>;

export const enrolmentChanges = {
  *createEnrolment(now, workspaceId, { id, hash, listId, feedId, name, networks, keyExpiresAt }, { by, once, most = MOST_CODES } = {}) {
    const workspacePk = yield* holdWorkspace(workspaceId);
    yield* run(`DELETE FROM enrolments WHERE workspace_pk = $1 AND expires_at <= ${now}`, workspacePk);
    const open = yield* one('SELECT count(*) AS codes FROM enrolments WHERE workspace_pk = $1', workspacePk);
    if (Number(open?.codes) >= most)
      throw new WeirError(
        'REFUSED',
        `the workspace has ${most} open enrolment codes, its limit: use or revoke one, or wait until one expires`,
      );
    yield* run(
      `INSERT INTO enrolments (id, hash, workspace_pk, list_id, feed_id, name, networks, key_expires_at, author, created_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, ${now}, ${now} + ${CODE_LIFETIME})`,
      ...[id, hash, workspacePk, listId, feedId, name, networks.join(' '), keyExpiresAt, JSON.stringify(by ?? null)],
    );
    const enrolment = enrolmentOf((yield* one('SELECT * FROM enrolments WHERE id = $1', id))!, workspaceId);
    yield* audit(now, 'enrolment created', id, { workspacePk, by, change: { before: null, after: audited(enrolment) } });
    yield* doneOnce(now, workspacePk, once, enrolment);
    return enrolment;
  },
  *revokeEnrolment(now, workspaceId, id, { by } = {}) {
    const workspacePk = yield* findWorkspace(workspaceId);
    const text = `DELETE FROM enrolments WHERE workspace_pk = $1 AND id = $2 AND expires_at > ${now} RETURNING *`;
    const row = yield* one(text, workspacePk, id);
    if (row === undefined) throw new WeirError('NOT_FOUND', `there is no enrolment ${JSON.stringify(id)}`);
    yield* audit(now, 'enrolment revoked', id, {
      workspacePk,
      by,
      change: { before: audited(enrolmentOf(row, workspaceId)), after: null },
    });
  },
  *useEnrolment(now, hash, { hash: keyHash, prefix }, { address, mostKeys }) {
    const found = yield* one(`SELECT w.id FROM enrolments e JOIN workspaces w ON w.pk = e.workspace_pk WHERE hash = $1`, hash);
    if (found === undefined) return undefined;
    const workspaceId = String(found.id);
    const workspacePk = yield* holdWorkspace(workspaceId);
    // Of concurrent requests with the same code, one deletes the row.
    const row = yield* one(`DELETE FROM enrolments WHERE hash = $1 AND expires_at > ${now} RETURNING *`, hash);
    if (row === undefined) return undefined;
    const enrolment = enrolmentOf(row, workspaceId);
    const { id, name, listId, feedId, networks, keyExpiresAt: expiresAt } = enrolment;
    const [table, bound] = listId === null ? ['feeds', feedId] : ['lists', listId];
    const exists = bound === null || (yield* one(`SELECT id FROM ${table} WHERE id = $1 AND workspace_pk = $2`, bound, workspacePk));
    if (!exists) return undefined;
    const by = (JSON.parse(String(row.author)) as Author | null) ?? undefined;
    const key = { hash: keyHash, prefix, name, permissions: ['feed:read'], listId, feedId, expiresAt, networks } as const;
    const made = yield* insertKey(now, workspaceId, key, { by, most: mostKeys });
    yield* audit(now, 'enrolment used', id, { workspacePk, by, change: { before: null, after: { name, key_id: made.id, address } } });
    return enrolment;
  },
} satisfies Changes<EnrolmentWrites>;
