import { randomUUID } from 'node:crypto';
import type { KeyInfo, NewKey } from '../../account/key.ts';
import type { AccessList, ListSettings } from '../../account/list.ts';
import type { Organization, Subscription } from '../../account/organization.ts';
import { PERMISSIONS } from '../../account/permission.ts';
import type { Workspace } from '../../account/workspace.ts';
import { WeirError } from '../../errors.ts';
import type { StoreWrites } from '../../ports/store.ts';
import { keyOf, listOf, organizationOf, workspaceOf } from '../rows.ts';
import { NOW } from './clock.ts';
import type { Database, Session } from './database.ts';
import { exclusively } from './migrate.ts';

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

/** Organizations, workspaces, keys and lists of the PostgreSQL store. Every change is one transaction with its audit row. */
export function postgresManagement(db: Database): Management {
  return {
    bootstrap({ hash, prefix, onlyWhenEmpty }) {
      return exclusively(db, async (session) => {
        if (onlyWhenEmpty) {
          const existing = await session.one('SELECT id FROM workspaces ORDER BY pk LIMIT 1');
          if (existing !== undefined) return { workspaceId: String(existing.id), created: false };
        }
        const known = await session.one(
          'SELECT w.id FROM keys k JOIN workspaces w ON w.pk = k.workspace_pk WHERE k.hash = $1',
          Buffer.from(hash),
        );
        if (known !== undefined) return { workspaceId: String(known.id), created: false };
        const workspaceId = await defaultWorkspace(session);
        await insertKey(session, workspaceId, { name: 'bootstrap', hash, prefix, permissions: PERMISSIONS, listId: null, expiresAt: null });
        return { workspaceId, created: true };
      });
    },
    createOrganization: (name, subscription) => db.transaction((session) => insertOrganization(session, name, subscription)),
    setSubscription: (organizationId, subscription) =>
      db.transaction(
        async (session) => {
          const { count } = await session.run('UPDATE organizations SET subscription = $2 WHERE id = $1', organizationId, subscription);
          if (count === 0) throw new WeirError('NOT_FOUND', `there is no such organization: ${organizationId}`);
          await moveKeyRevision(session);
          await audit(session, `subscription set to ${subscription}`, organizationId);
        },
        { repeatable: true },
      ),
    createWorkspace: (organizationId, name) => db.transaction((session) => insertWorkspace(session, organizationId, name)),
    createKey: (workspaceId, key) => db.transaction((session) => insertKey(session, workspaceId, key)),
    revokeKey: (id) =>
      db.transaction(
        async (session) => {
          const { count } = await session.run(`UPDATE keys SET revoked_at = coalesce(revoked_at, ${NOW}) WHERE id = $1`, id);
          if (count === 0) return false;
          await moveKeyRevision(session);
          await audit(session, 'key revoked', id);
          return true;
        },
        { repeatable: true },
      ),
    touchKeys: (used) =>
      db.transaction(
        async (session) => {
          await session.run(
            `UPDATE keys SET last_used_at = greatest(last_used_at, given.at) FROM json_to_recordset($1) AS given (id text, at bigint)
             WHERE keys.id = given.id`,
            JSON.stringify(used),
          );
        },
        { repeatable: true },
      ),
    createList: (workspaceId, name, description, settings) =>
      db.transaction(async (session) => {
        const workspacePk = await lockWorkspace(session, workspaceId);
        return insertList(session, { workspacePk, workspaceId, name, description, settings, isDefault: false });
      }),
    updateList: (workspaceId, listId, patch) =>
      db.transaction(
        async (session) => {
          const workspacePk = await lockWorkspace(session, workspaceId);
          const names = (Object.keys(patch) as (keyof typeof SETTING_COLUMNS)[]).filter((name) => patch[name] !== undefined);
          const sets = names.map((name, i) => `${SETTING_COLUMNS[name]} = $${i + 3}, `).join('');
          const row = await session.one(
            `UPDATE lists SET ${sets}revision = revision + 1 WHERE id = $1 AND workspace_pk = $2 RETURNING *`,
            listId,
            workspacePk,
            ...names.map((name) => patch[name]!),
          );
          if (row === undefined) throw new WeirError('NOT_FOUND', `there is no such list: ${listId}`);
          await audit(session, 'list changed', listId);
          return listOf(row, workspaceId);
        },
        { repeatable: true },
      ),
    deleteList: (workspaceId, listId) =>
      db.transaction(async (session) => {
        const workspacePk = await lockWorkspace(session, workspaceId);
        const row = await session.one('SELECT pk, is_default FROM lists WHERE id = $1 AND workspace_pk = $2', listId, workspacePk);
        if (row === undefined) throw new WeirError('NOT_FOUND', `there is no such list: ${listId}`);
        if (row.is_default === 1) throw new WeirError('REFUSED', 'the default list of a workspace cannot be deleted');
        const pk = Number(row.pk);
        await session.run('INSERT INTO deleted_lists VALUES ($1)', pk);
        await session.run('DELETE FROM lists WHERE pk = $1', pk);
        await session.run(`UPDATE keys SET revoked_at = coalesce(revoked_at, ${NOW}) WHERE list_id = $1`, listId);
        await moveKeyRevision(session);
        await audit(session, 'list deleted', listId);
      }),
    dropDeadLetter: (id) =>
      db.transaction(async (session) => {
        const { count } = await session.run('DELETE FROM dead_letters WHERE id = $1', id);
        if (count > 0) await audit(session, 'dead letter dropped', String(id));
        return count > 0;
      }),
    adoptStream: (streamId) =>
      db.transaction(
        async (session) => {
          await session.run('DELETE FROM positions');
          await audit(session, 'stream adopted', streamId);
        },
        { repeatable: true },
      ),
  };
}

/** Holds the workspace's row until the commit and moves its revision: landings and other changes of its lists wait. */
export async function lockWorkspace(session: Session, id: string): Promise<number> {
  const row = await session.one('UPDATE workspaces SET revision = revision + 1 WHERE id = $1 RETURNING pk', id);
  if (row === undefined) throw new WeirError('NOT_FOUND', `there is no such workspace: ${id}`);
  return Number(row.pk);
}

export async function audit(session: Session, event: string, object: string): Promise<void> {
  await session.run(`INSERT INTO audit (at, event, object) VALUES (${NOW}, $1, $2)`, event, object);
}

export async function moveKeyRevision(session: Session): Promise<void> {
  await session.run("UPDATE counters SET value = value + 1 WHERE name = 'key_revision'");
}

async function defaultWorkspace(session: Session): Promise<string> {
  const workspace = await session.one("SELECT id FROM workspaces WHERE name = 'default' ORDER BY pk LIMIT 1");
  if (workspace !== undefined) return String(workspace.id);
  const organization =
    (await session.one("SELECT id FROM organizations WHERE name = 'default' ORDER BY pk LIMIT 1")) ??
    (await insertOrganization(session, 'default', 'active'));
  return (await insertWorkspace(session, String(organization.id), 'default')).id;
}

async function insertOrganization(session: Session, name: string, subscription: Subscription): Promise<Organization> {
  const row = await session.one(
    `INSERT INTO organizations (id, name, subscription, created_at) VALUES ($1, $2, $3, ${NOW}) RETURNING *`,
    randomUUID(),
    name,
    subscription,
  );
  await audit(session, 'organization created', String(row!.id));
  return organizationOf(row!);
}

async function insertWorkspace(session: Session, organizationId: string, name: string): Promise<Workspace> {
  const row = await session.one(
    `INSERT INTO workspaces (id, organization_pk, name, created_at) SELECT $1, pk, $2, ${NOW} FROM organizations WHERE id = $3 RETURNING *`,
    randomUUID(),
    name,
    organizationId,
  );
  if (row === undefined) throw new WeirError('NOT_FOUND', `there is no such organization: ${organizationId}`);
  const workspace = workspaceOf({ ...row, organization_id: organizationId });
  await insertList(session, {
    workspacePk: Number(row.pk),
    workspaceId: workspace.id,
    name: 'default',
    description: null,
    settings: NO_SETTINGS,
    isDefault: true,
  });
  await audit(session, 'workspace created', workspace.id);
  return workspace;
}

interface NewList {
  readonly workspacePk: number;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string | null;
  readonly settings: ListSettings;
  readonly isDefault: boolean;
}

async function insertList(session: Session, list: NewList): Promise<AccessList> {
  const { format, family, action, maxEntries, confidence, severity } = list.settings;
  const row = await session.one(
    `INSERT INTO lists (id, workspace_pk, name, description, is_default, format, family, action, max_entries, confidence, severity, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, ${NOW}) RETURNING *`,
    randomUUID(),
    list.workspacePk,
    list.name,
    list.description,
    list.isDefault ? 1 : 0,
    format,
    family,
    action,
    maxEntries,
    confidence,
    severity,
  );
  await audit(session, 'list created', String(row!.id));
  return listOf(row!, list.workspaceId);
}

async function insertKey(session: Session, workspaceId: string, key: NewKey): Promise<KeyInfo> {
  const row = await session.one(
    `INSERT INTO keys (id, hash, prefix, workspace_pk, list_id, name, permissions, created_at, expires_at)
     SELECT $1, $2, $3, pk, $4, $5, $6, ${NOW}, $7 FROM workspaces WHERE id = $8 RETURNING *`,
    randomUUID(),
    Buffer.from(key.hash),
    key.prefix,
    key.listId,
    key.name,
    key.permissions.join(' '),
    key.expiresAt,
    workspaceId,
  );
  if (row === undefined) throw new WeirError('NOT_FOUND', `there is no such workspace: ${workspaceId}`);
  await moveKeyRevision(session);
  await audit(session, 'key created', String(row.id));
  return keyOf(row, workspaceId);
}

const NO_SETTINGS: ListSettings = { format: null, family: null, action: null, maxEntries: null, confidence: null, severity: null };
