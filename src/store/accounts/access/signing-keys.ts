import { MOST_SIGNING_KEYS, type SigningKey } from '../../../account/secrets/signature.ts';
import { WeirError } from '../../../errors.ts';
import type { SigningReads, SigningWrites } from '../../../ports/stored/signing-store.ts';
import { WORKSPACE_PK } from '../../row-ids.ts';
import type { Row } from '../../rows.ts';
import { all, type Changes, one, type Reads, run, type Work } from '../../work.ts';
import { changeWorkspace, create } from '../account-statements.ts';
import { doneOnce } from '../answers.ts';
import { audit } from '../audit.ts';

const SELECT = `SELECT id, public_key, created_at FROM signing_keys WHERE workspace_pk = ${WORKSPACE_PK}`;

const signingKeyOf = (row: Row): SigningKey => ({
  id: String(row.id),
  publicKey: String(row.public_key),
  createdAt: Number(row.created_at),
});

export function* signingKeys(workspaceId: string): Work<SigningKey[]> {
  return (yield* all(`${SELECT} ORDER BY pk`, workspaceId)).map(signingKeyOf);
}

export const signingReads = { signingKeys } satisfies Reads<SigningReads>;

export const signingChanges = {
  *createSigningKey(now, workspaceId, { id, publicKey, secret }, { by, once } = {}) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    if ((yield* signingKeys(workspaceId)).length >= MOST_SIGNING_KEYS)
      throw new WeirError('REFUSED', `the workspace has ${MOST_SIGNING_KEYS} signing keys, its limit: delete the older one`);
    const row = yield* create(now, 'signing_keys', { id, workspace_pk: workspacePk, public_key: publicKey, secret });
    const made = signingKeyOf(row);
    yield* audit(now, 'signing key created', id, { workspacePk, by, change: { before: null, after: { public_key: publicKey } } });
    yield* doneOnce(now, workspacePk, once, made);
    return made;
  },
  *deleteSigningKey(now, workspaceId, id, { by } = {}) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    const row = yield* one(`${SELECT} AND id = $2`, workspaceId, id);
    if (row === undefined) throw new WeirError('NOT_FOUND', 'there is no such signing key');
    yield* run('DELETE FROM signing_keys WHERE id = $1', id);
    yield* audit(now, 'signing key deleted', id, {
      workspacePk,
      by,
      change: { before: { public_key: String(row.public_key) }, after: null },
    });
  },
} satisfies Changes<SigningWrites>;
