import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { KeyInfo, NewKey } from '../../account/key.ts';
import type { AccessList, ListSettings } from '../../account/list.ts';
import type { Organization, Subscription } from '../../account/organization.ts';
import { PERMISSIONS } from '../../account/permission.ts';
import type { Workspace } from '../../account/workspace.ts';
import { WeirError } from '../../errors.ts';
import type { StoreWrites } from '../../ports/store.ts';
import { keyOf, listOf } from '../rows.ts';
import { transaction } from './database.ts';

/** Settings of a list → their columns. */
const SETTING_COLUMNS = {
  format: 'format',
  family: 'family',
  action: 'action',
  maxEntries: 'max_entries',
  confidence: 'confidence',
  severity: 'severity',
  description: 'description',
} as const;

type Management = Pick<
  StoreWrites,
  | 'bootstrap'
  | 'createOrganization'
  | 'setSubscription'
  | 'createWorkspace'
  | 'createKey'
  | 'revokeKey'
  | 'touchKeys'
  | 'createList'
  | 'updateList'
  | 'deleteList'
  | 'dropDeadLetter'
  | 'adoptStream'
>;

/** Organizations, workspaces, keys and lists of the embedded store. Every change is one transaction with its audit row. */
export function sqliteManagement(db: DatabaseSync, clock: () => number): Management {
  const run = (text: string, ...args: (string | number | null | Uint8Array)[]) => db.prepare(text).run(...args);
  const one = (text: string, ...args: (string | number | Uint8Array)[]) => db.prepare(text).get(...args);
  const audit = (event: string, object: string) => run('INSERT INTO audit (at, event, object) VALUES (?, ?, ?)', clock(), event, object);
  const bumpKeys = () => run("UPDATE counters SET value = value + 1 WHERE name = 'key_revision'");
  const pkOf = (table: 'organizations' | 'workspaces' | 'lists', id: string): number => {
    const row = one(`SELECT pk FROM ${table} WHERE id = ?`, id);
    if (row === undefined) throw new WeirError('NOT_FOUND', `there is no such ${table.slice(0, -1)}: ${id}`);
    return Number(row.pk);
  };

  function insertOrganization(name: string, subscription: Subscription): Organization {
    const organization = { id: randomUUID(), name, subscription, createdAt: clock() };
    run(
      'INSERT INTO organizations (id, name, subscription, created_at) VALUES (?, ?, ?, ?)',
      organization.id,
      name,
      subscription,
      organization.createdAt,
    );
    audit('organization created', organization.id);
    return organization;
  }

  function insertList(
    workspacePk: number,
    workspaceId: string,
    name: string,
    description: string | null,
    settings: ListSettings,
    isDefault: boolean,
  ): AccessList {
    const { format, family, action, maxEntries, confidence, severity } = settings;
    const row = db
      .prepare(
        `INSERT INTO lists (id, workspace_pk, name, description, is_default, format, family, action, max_entries, confidence, severity, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
      )
      .get(
        randomUUID(),
        workspacePk,
        name,
        description,
        isDefault ? 1 : 0,
        format,
        family,
        action,
        maxEntries,
        confidence,
        severity,
        clock(),
      )!;
    run('UPDATE workspaces SET revision = revision + 1 WHERE pk = ?', workspacePk);
    audit('list created', String(row.id));
    return listOf(row, workspaceId);
  }

  function insertWorkspace(organizationId: string, name: string): Workspace {
    const workspace = { id: randomUUID(), organizationId, name, createdAt: clock() };
    const organizationPk = pkOf('organizations', organizationId);
    const { lastInsertRowid } = run(
      'INSERT INTO workspaces (id, organization_pk, name, created_at) VALUES (?, ?, ?, ?)',
      workspace.id,
      organizationPk,
      name,
      workspace.createdAt,
    );
    insertList(Number(lastInsertRowid), workspace.id, 'default', null, NO_SETTINGS, true);
    audit('workspace created', workspace.id);
    return workspace;
  }

  function insertKey(workspaceId: string, key: NewKey): KeyInfo {
    const workspacePk = pkOf('workspaces', workspaceId);
    const row = db
      .prepare(
        `INSERT INTO keys (id, hash, prefix, workspace_pk, list_id, name, permissions, created_at, expires_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
      )
      .get(randomUUID(), key.hash, key.prefix, workspacePk, key.listId, key.name, key.permissions.join(' '), clock(), key.expiresAt)!;
    bumpKeys();
    audit('key created', String(row.id));
    return keyOf(row, workspaceId);
  }

  const write = <T>(work: () => T) => transaction(db, work);

  return {
    async bootstrap({ hash, prefix, onlyWhenEmpty }) {
      return write(() => {
        if (onlyWhenEmpty) {
          const existing = one('SELECT id FROM workspaces ORDER BY pk LIMIT 1');
          if (existing !== undefined) return { workspaceId: String(existing.id), created: false };
        }
        const known = one('SELECT w.id FROM keys k JOIN workspaces w ON w.pk = k.workspace_pk WHERE k.hash = ?', hash);
        if (known !== undefined) return { workspaceId: String(known.id), created: false };
        const workspace =
          one("SELECT id FROM workspaces WHERE name = 'default' ORDER BY pk LIMIT 1") ??
          insertWorkspace(
            String(
              (one("SELECT id FROM organizations WHERE name = 'default' ORDER BY pk LIMIT 1") ?? insertOrganization('default', 'active'))
                .id,
            ),
            'default',
          );
        const workspaceId = String(workspace.id);
        insertKey(workspaceId, { name: 'bootstrap', hash, prefix, permissions: PERMISSIONS, listId: null, expiresAt: null });
        return { workspaceId, created: true };
      });
    },
    async createOrganization(name, subscription) {
      return write(() => insertOrganization(name, subscription));
    },
    async setSubscription(organizationId, subscription) {
      write(() => {
        run('UPDATE organizations SET subscription = ? WHERE pk = ?', subscription, pkOf('organizations', organizationId));
        bumpKeys();
        audit(`subscription set to ${subscription}`, organizationId);
      });
    },
    async createWorkspace(organizationId, name) {
      return write(() => insertWorkspace(organizationId, name));
    },
    async createKey(workspaceId, key) {
      return write(() => insertKey(workspaceId, key));
    },
    async revokeKey(id) {
      return write(() => {
        const { changes } = run('UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?', clock(), id);
        if (changes === 0) return false;
        bumpKeys();
        audit('key revoked', id);
        return true;
      });
    },
    async touchKeys(used) {
      write(() => {
        for (const { id, at } of used) run('UPDATE keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?', at, id);
      });
    },
    async createList(workspaceId, name, description, settings) {
      return write(() => insertList(pkOf('workspaces', workspaceId), workspaceId, name, description, settings, false));
    },
    async updateList(workspaceId, listId, patch) {
      return write(() => {
        const workspacePk = pkOf('workspaces', workspaceId);
        const names = (Object.keys(patch) as (keyof typeof SETTING_COLUMNS)[]).filter((name) => patch[name] !== undefined);
        const sets = names.map((name) => `${SETTING_COLUMNS[name]} = ?, `).join('');
        const row = db
          .prepare(`UPDATE lists SET ${sets} revision = revision + 1 WHERE id = ? AND workspace_pk = ? RETURNING *`)
          .get(...names.map((name) => patch[name]!), listId, workspacePk);
        if (row === undefined) throw new WeirError('NOT_FOUND', `there is no such list: ${listId}`);
        run('UPDATE workspaces SET revision = revision + 1 WHERE pk = ?', workspacePk);
        audit('list changed', listId);
        return listOf(row, workspaceId);
      });
    },
    async deleteList(workspaceId, listId) {
      write(() => {
        const workspacePk = pkOf('workspaces', workspaceId);
        const row = one('SELECT pk, is_default FROM lists WHERE id = ? AND workspace_pk = ?', listId, workspacePk);
        if (row === undefined) throw new WeirError('NOT_FOUND', `there is no such list: ${listId}`);
        if (row.is_default === 1) throw new WeirError('REFUSED', 'the default list of a workspace cannot be deleted');
        run('INSERT INTO deleted_lists VALUES (?)', Number(row.pk));
        run('DELETE FROM lists WHERE pk = ?', Number(row.pk));
        run('UPDATE workspaces SET revision = revision + 1 WHERE pk = ?', workspacePk);
        run('UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE list_id = ?', clock(), listId);
        bumpKeys();
        audit('list deleted', listId);
      });
    },
    async dropDeadLetter(id) {
      return write(() => {
        const { changes } = run('DELETE FROM dead_letters WHERE id = ?', id);
        if (changes > 0) audit('dead letter dropped', String(id));
        return changes > 0;
      });
    },
    async adoptStream(streamId) {
      write(() => {
        run('DELETE FROM positions');
        audit('stream adopted', streamId);
      });
    },
  };
}

const NO_SETTINGS: ListSettings = { format: null, family: null, action: null, maxEntries: null, confidence: null, severity: null };
