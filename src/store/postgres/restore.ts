import { randomUUID } from 'node:crypto';
import type { SavedKey } from '../../account/key.ts';
import type { SavedList } from '../../account/list.ts';
import type { StoreWrites } from '../../ports/store.ts';
import { placeOf } from '../restore.ts';
import { NOW } from './clock.ts';
import type { Database, Session } from './database.ts';
import { audit, lockWorkspace, moveKeyRevision } from './management.ts';

/** A workspace may have thousands of lists and keys, ms. */
const LIMIT = 60_000;

/** Lists and keys of another store, made here as they were: what `weir import` writes besides rules. */
export function postgresRestore(db: Database): Pick<StoreWrites, 'restoreLists' | 'restoreKeys'> {
  /** One transaction on a workspace, with its audit row. */
  const write = <T>(workspaceId: string, event: string, work: (session: Session, workspacePk: number) => Promise<T>) =>
    db.transaction(
      async (session) => {
        const result = await work(session, await lockWorkspace(session, workspaceId));
        await moveKeyRevision(session);
        await audit(session, event, workspaceId);
        return result;
      },
      { limit: LIMIT },
    );
  return {
    restoreLists: (workspaceId, lists) =>
      write(workspaceId, 'lists restored', async (session, workspacePk) => {
        const ids = new Map<string, string>();
        for (const list of lists) ids.set(list.id, await restoreList(session, workspacePk, list));
        return ids;
      }),
    restoreKeys: (workspaceId, keys) =>
      write(workspaceId, 'keys restored', async (session, workspacePk) => {
        const known: string[] = [];
        for (const key of keys) if (!(await restoreKey(session, workspacePk, key))) known.push(key.id);
        return known;
      }),
  };
}

async function restoreList(session: Session, workspacePk: number, list: SavedList): Promise<string> {
  const { rows } = await session.run(
    'SELECT pk, id, workspace_pk, is_default FROM lists WHERE id = $1 OR (workspace_pk = $2 AND is_default = 1)',
    list.id,
    workspacePk,
  );
  const { own, id } = placeOf(list, workspacePk, rows);
  const { name, description, format, family, action, maxEntries, confidence, severity } = list;
  const settings = [id, name, description, format, family, action, maxEntries, confidence, severity];
  if (own === undefined) {
    await session.run(
      `INSERT INTO lists (id, name, description, format, family, action, max_entries, confidence, severity, workspace_pk, is_default, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, ${NOW})`,
      ...settings,
      workspacePk,
    );
  } else {
    await session.run(
      `UPDATE lists SET id = $1, name = $2, description = $3, format = $4, family = $5, action = $6, max_entries = $7, confidence = $8,
       severity = $9, revision = revision + 1 WHERE pk = $10`,
      ...settings,
      own.pk,
    );
    await session.run('UPDATE keys SET list_id = $1 WHERE list_id = $2', id, own.id);
  }
  return id;
}

/** False when the key's hash is known. */
async function restoreKey(session: Session, workspacePk: number, key: SavedKey): Promise<boolean> {
  const hash = Buffer.from(key.hash);
  if ((await session.one('SELECT id FROM keys WHERE hash = $1', hash)) !== undefined) return false;
  const taken = await session.one('SELECT id FROM keys WHERE id = $1', key.id);
  await session.run(
    `INSERT INTO keys (id, hash, prefix, workspace_pk, list_id, name, permissions, created_at, expires_at, revoked_at, last_used_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    taken === undefined ? key.id : randomUUID(),
    hash,
    key.prefix,
    workspacePk,
    key.listId,
    key.name,
    key.permissions.join(' '),
    key.createdAt,
    key.expiresAt,
    key.revokedAt,
    key.lastUsedAt,
  );
  return true;
}
