import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { SavedKey } from '../../account/key.ts';
import type { SavedList } from '../../account/list.ts';
import { WeirError } from '../../errors.ts';
import type { StoreWrites } from '../../ports/store.ts';
import { placeOf } from '../restore.ts';
import { transaction } from './database.ts';

/** Lists and keys of another store, made here as they were: what `weir import` writes besides rules. */
export function sqliteRestore(db: DatabaseSync, clock: () => number): Pick<StoreWrites, 'restoreLists' | 'restoreKeys'> {
  const run = (text: string, ...args: (string | number | null | Uint8Array)[]) => db.prepare(text).run(...args);
  const one = (text: string, ...args: (string | number | Uint8Array)[]) => db.prepare(text).get(...args);

  /** One transaction on a workspace, with its audit row. */
  function write<T>(workspaceId: string, event: string, work: (workspacePk: number) => T): T {
    return transaction(db, () => {
      const workspace = one('SELECT pk FROM workspaces WHERE id = ?', workspaceId);
      if (workspace === undefined) throw new WeirError('NOT_FOUND', `there is no such workspace: ${workspaceId}`);
      const result = work(Number(workspace.pk));
      run("UPDATE counters SET value = value + 1 WHERE name = 'key_revision'");
      run('INSERT INTO audit (at, event, object) VALUES (?, ?, ?)', clock(), event, workspaceId);
      return result;
    });
  }

  function restoreList(workspacePk: number, list: SavedList): string {
    const rows = db
      .prepare('SELECT pk, id, workspace_pk, is_default FROM lists WHERE id = ? OR (workspace_pk = ? AND is_default = 1)')
      .all(list.id, workspacePk);
    const { own, id } = placeOf(list, workspacePk, rows);
    const { name, description, format, family, action, maxEntries, confidence, severity } = list;
    const settings = [id, name, description, format, family, action, maxEntries, confidence, severity];
    if (own === undefined) {
      run(
        `INSERT INTO lists (id, name, description, format, family, action, max_entries, confidence, severity, workspace_pk, is_default, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)`,
        ...settings,
        workspacePk,
        clock(),
      );
    } else {
      run(
        `UPDATE lists SET id = ?, name = ?, description = ?, format = ?, family = ?, action = ?, max_entries = ?, confidence = ?, severity = ?,
         revision = revision + 1 WHERE pk = ?`,
        ...settings,
        own.pk,
      );
      run('UPDATE keys SET list_id = ? WHERE list_id = ?', id, own.id);
    }
    return id;
  }

  /** False when the key's hash is known. */
  function restoreKey(workspacePk: number, key: SavedKey): boolean {
    if (one('SELECT id FROM keys WHERE hash = ?', key.hash) !== undefined) return false;
    run(
      `INSERT INTO keys (id, hash, prefix, workspace_pk, list_id, name, permissions, created_at, expires_at, revoked_at, last_used_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      one('SELECT id FROM keys WHERE id = ?', key.id) === undefined ? key.id : randomUUID(),
      key.hash,
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

  return {
    async restoreLists(workspaceId, lists) {
      return write(workspaceId, 'lists restored', (workspacePk) => {
        run('UPDATE workspaces SET revision = revision + 1 WHERE pk = ?', workspacePk);
        return new Map(lists.map((list) => [list.id, restoreList(workspacePk, list)]));
      });
    },
    async restoreKeys(workspaceId, keys) {
      return write(workspaceId, 'keys restored', (workspacePk) => keys.filter((key) => !restoreKey(workspacePk, key)).map((key) => key.id));
    },
  };
}
