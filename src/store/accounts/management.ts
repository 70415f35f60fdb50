/** Organizations, workspaces, keys and lists. */
import { randomUUID } from 'node:crypto';
import type { Author } from '../../account/caller.ts';
import { BOOTSTRAP_KEY_NAME, type KeyInfo, keyState, type NewKey } from '../../account/key.ts';
import { LARGE_SETTINGS } from '../../account/large.ts';
import { LIST_SETTINGS, listState, NO_SETTINGS } from '../../account/list.ts';
import { goesWithSource } from '../../account/managed-list.ts';
import { PERMISSIONS } from '../../account/permission.ts';
import {
  type Organization,
  type Subscription,
  type Workspace,
  type WorkspacePatch,
  workspaceSettingsJson,
} from '../../account/workspace.ts';
import { isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { AccountWrites, ChangeOptions } from '../../ports/stored/account-store.ts';
import type { RuleWrites } from '../../ports/stored/rule-store.ts';
import { inChunks } from '../../schedule/chunks.ts';
import { stageSettings } from '../canary/start.ts';
import { redateDocuments } from '../document-record.ts';
import { keyOf, listOf, organizationOf, type Row, workspaceOf } from '../rows.ts';
import { forgetRepeats } from '../rules/repeats.ts';
import { type Changes, one, run, runRows, type Work } from '../work.ts';
import { revokeKeys } from './access/revoke-keys.ts';
import {
  changeWorkspace,
  create,
  feedRow,
  findWorkspace,
  holdWorkspace,
  insertList,
  moveKeyRevision,
  noSuch,
  patchColumns,
  requireState,
  tooMany,
  tooManyLists,
} from './account-statements.ts';
import { WORKSPACES } from './account-tables.ts';
import { doneOnce, remember } from './answers.ts';
import { audit, auditChange } from './audit.ts';
import { refuseName } from './feed-lists.ts';
import { removeList } from './list-deletion.ts';
import { listCount } from './lists.ts';

export type Management = Omit<
  AccountWrites,
  'createFeed' | 'updateFeed' | 'deleteFeed' | 'recordTrim' | 'restoreLists' | 'restoreKeys' | 'restoreRepeats' | 'restoreDeleted'
> &
  Pick<RuleWrites, 'dropDeadLetter' | 'noteChange' | 'adoptStream'>;

/** Author of the first key. */
const THE_SERVICE: Author = { keyId: null, actor: 'weir serve' };

/** Keys per statement. */
const TOUCHED = 100;

export const accountChanges = {
  *bootstrap(now, { hash, prefix, onlyWhenEmpty }) {
    const first = onlyWhenEmpty ? yield* one('SELECT id FROM workspaces ORDER BY pk LIMIT 1') : undefined;
    const known = first ?? (yield* one('SELECT w.id FROM keys k JOIN workspaces w ON w.pk = k.workspace_pk WHERE k.hash = $1', hash));
    // An older version stored more characters of a short key.
    if (first === undefined) yield* run('UPDATE keys SET prefix = $1 WHERE hash = $2 AND prefix <> $1', prefix, hash);
    if (known !== undefined) return { workspaceId: String(known.id), created: false };
    const workspaceId = yield* defaultWorkspace(now);
    yield* insertKey(
      now,
      workspaceId,
      {
        name: BOOTSTRAP_KEY_NAME,
        hash,
        prefix,
        permissions: PERMISSIONS,
        listId: null,
        feedId: null,
        expiresAt: null,
      },
      { by: THE_SERVICE },
    );
    return { workspaceId, created: true };
  },
  createOrganization: insertOrganization,
  *setSubscription(now, organizationId, subscription, by) {
    const before = yield* one('SELECT subscription FROM organizations WHERE id = $1', organizationId);
    if (before === undefined) throw noSuch('organization', organizationId);
    yield* run('UPDATE organizations SET subscription = $1 WHERE id = $2', subscription, organizationId);
    yield* moveKeyRevision();
    if (before.subscription !== subscription) yield* audit(now, `subscription set to ${subscription}`, organizationId, { by });
  },
  createWorkspace: insertWorkspace,
  *updateWorkspace(now, workspaceId, patch, { by, ifMatch } = {}) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    const before = workspaceSettingsJson(workspaceOf((yield* one(WORKSPACE, workspacePk))!));
    requireState(before, ifMatch);
    yield* stageSettings(now, workspaceId, workspacePk, [before, patch], by);
    const values = workspaceColumns(patch);
    const sets = values.map(([column], i) => `${column} = $${i + 2}`).join(', ');
    if (values.length > 0) yield* run(`UPDATE workspaces SET ${sets} WHERE pk = $1`, workspacePk, ...values.map(([, value]) => value));
    yield* run('UPDATE lists SET revision = revision + 1 WHERE workspace_pk = $1', workspacePk);
    yield* moveKeyRevision();
    const workspace = workspaceOf((yield* one(WORKSPACE, workspacePk))!);
    yield* auditChange(now, 'workspace changed', workspaceId, { workspacePk, by }, [before, workspaceSettingsJson(workspace)]);
    return workspace;
  },
  createKey: insertKey,
  *updateKey(now, workspaceId, id, patch, { by, ifMatch } = {}) {
    const workspacePk = yield* holdWorkspace(workspaceId);
    const row = yield* one('SELECT * FROM keys WHERE id = $1 AND workspace_pk = $2', id, workspacePk);
    if (row === undefined) throw noSuch('key', id);
    const before = keyOf(row, workspaceId);
    requireState(keyState(before), ifMatch);
    const key = { ...before, ...patch };
    yield* run('UPDATE keys SET name = $1, networks = $2 WHERE id = $3', key.name, key.networks.join(' '), id);
    yield* moveKeyRevision();
    yield* auditChange(now, 'key changed', id, { workspacePk, by }, [keyState(before), keyState(key)]);
    return key;
  },
  *revokeKey(now, id, { by } = {}) {
    const row = yield* one('SELECT workspace_pk FROM keys WHERE id = $1', id);
    if (row === undefined) return false;
    yield* revokeKeys(now, 'id', id, { workspacePk: Number(row.workspace_pk), by });
    return true;
  },
  *touchKeys(_now, used) {
    for (const piece of inChunks(used, TOUCHED)) yield* touchKeys(piece);
  },
  *createList(now, workspaceId, name, settings, maxLists = 0, { by, once, id = randomUUID() } = {}) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    if (maxLists > 0 && (yield* listCount(workspaceId)) >= maxLists) throw tooManyLists(maxLists);
    yield* refuseName('feeds', workspacePk, name);
    yield* refuseName('sources', workspacePk, name);
    const row = yield* insertList(now, workspacePk, { ...settings, id, name, isDefault: false, sourceId: null });
    const list = listOf(row, workspaceId);
    yield* audit(now, 'list created', id, { workspacePk, by, change: { before: null, after: listState(list) } });
    yield* doneOnce(now, workspacePk, once, list);
    return list;
  },
  *updateList(now, workspaceId, listId, patch, { by, ifMatch } = {}) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    const found = yield* listRow(workspacePk, listId);
    const before = listState(listOf(found, workspaceId));
    requireState(before, ifMatch);
    yield* stageSettings(now, workspaceId, workspacePk, [before, patch], by);
    const values = patchColumns(patch, LIST_SETTINGS);
    const sets = values.map(([column], i) => `${column} = $${i + 3}, `).join('');
    const row = yield* one(
      `UPDATE lists SET ${sets}revision = revision + 1 WHERE id = $1 AND workspace_pk = $2 RETURNING *`,
      listId,
      workspacePk,
      ...values.map(([, value]) => value),
    );
    const list = listOf(row!, workspaceId);
    if (found.repeat !== null && list.repeat === null) yield* forgetRepeats(Number(found.pk));
    yield* redateDocuments(now, workspacePk, Number(found.pk), found, row!);
    yield* auditChange(now, 'list changed', listId, { workspacePk, by }, [before, listState(list)]);
    return list;
  },
  *deleteList(now, workspaceId, listId, { by, ifMatch, forGood = false } = {}) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    const list = yield* listRow(workspacePk, listId);
    requireState(listState(listOf(list, workspaceId)), ifMatch);
    if (list.is_default === 1) throw new WeirError('REFUSED', 'the default list of a workspace cannot be deleted');
    if (list.source_id !== null) throw new WeirError('REFUSED', goesWithSource(String(list.name)));
    yield* removeList(now, { workspaceId, workspacePk, list, forGood, by });
  },
  *rememberAnswer(now, workspaceId, once, answer) {
    yield* remember(now, yield* findWorkspace(workspaceId), once, answer);
  },
  *dropDeadLetter(now, id, of) {
    const count = yield* run('DELETE FROM dead_letters WHERE id = $1', id);
    const workspacePk = of?.workspaceId === undefined ? null : yield* findWorkspace(of.workspaceId);
    if (count > 0) yield* audit(now, 'dead letter dropped', String(id), { workspacePk, by: of?.by });
    return count > 0;
  },
  *noteChange(now, workspaceId, event, batchId, after, by) {
    yield* audit(now, event, batchId, { workspacePk: yield* findWorkspace(workspaceId), by, change: { before: null, after } });
  },
  *adoptStream(now, streamId, ends = new Map(), by) {
    yield* run('DELETE FROM positions');
    for (const [partition, end] of ends) yield* run('INSERT INTO positions VALUES ($1, $2, $3)', streamId, partition, end);
    yield* audit(now, 'stream adopted', streamId, { by });
  },
} satisfies Changes<Management>;

const WORKSPACE = `${WORKSPACES} WHERE w.pk = $1`;

function workspaceColumns({
  protect,
  minPrefixV4,
  minPrefixV6,
  subtractAllow,
  people,
  ...large
}: WorkspacePatch): [column: string, value: string | number | null][] {
  const all = {
    protect: protect?.join(','),
    min_prefix_v4: minPrefixV4,
    min_prefix_v6: minPrefixV6,
    subtract_allow: subtractAllow,
    people: people && JSON.stringify(people),
  };
  const given = Object.entries(all).flatMap(([column, value]) =>
    value === undefined ? [] : [[column, value] as [string, string | number]],
  );
  return [...given, ...patchColumns(large, LARGE_SETTINGS)];
}

function* listRow(workspacePk: number, id: string): Work<Row> {
  const row = yield* one('SELECT * FROM lists WHERE id = $1 AND workspace_pk = $2', id, workspacePk);
  if (row === undefined) throw noSuch('list', id);
  return row;
}

function* touchKeys(used: readonly { id: string; at: number }[]): Work<void> {
  yield* runRows(
    used.map(({ id, at }) => [id, at]),
    (rows) => `WITH used (id, at) AS (VALUES ${rows}) UPDATE keys SET last_used_at = CAST(used.at AS BIGINT) FROM used
      WHERE keys.id = CAST(used.id AS TEXT) AND coalesce(keys.last_used_at, 0) < CAST(used.at AS BIGINT)`,
  );
}

function* defaultWorkspace(now: string): Work<string> {
  const workspace = yield* one("SELECT id FROM workspaces WHERE name = 'default' ORDER BY pk LIMIT 1");
  if (workspace !== undefined) return String(workspace.id);
  const organization =
    (yield* one("SELECT id FROM organizations WHERE name = 'default' ORDER BY pk LIMIT 1")) ??
    (yield* insertOrganization(now, 'default', 'active', THE_SERVICE));
  return (yield* insertWorkspace(now, String(organization.id), 'default', THE_SERVICE)).id;
}

function* insertOrganization(now: string, name: string, subscription: Subscription, by?: Author): Work<Organization> {
  const organization = organizationOf(yield* create(now, 'organizations', { id: randomUUID(), name, subscription }));
  yield* audit(now, 'organization created', organization.id, { by });
  return organization;
}

function* insertWorkspace(now: string, organizationId: string, name: string, by?: Author): Work<Workspace> {
  const organization = yield* one('SELECT pk FROM organizations WHERE id = $1', organizationId);
  if (organization === undefined) throw noSuch('organization', organizationId);
  const id = randomUUID();
  const row = yield* create(now, 'workspaces', { id, organization_pk: Number(organization.pk), name });
  const defaultList = { ...NO_SETTINGS, id: randomUUID(), name: 'default', isDefault: true, sourceId: null };
  yield* insertList(now, Number(row.pk), defaultList);
  const workspacePk = Number(row.pk);
  yield* audit(now, 'list created', defaultList.id, { workspacePk, by });
  yield* audit(now, 'workspace created', id, { workspacePk, by });
  return workspaceOf({ ...row, organization_id: organizationId });
}

/** Throws REFUSED if no key is revoked or expired. */
function* freeKeySlot(now: string, workspacePk: number, most: number): Work<void> {
  if (most === 0) return;
  const row = yield* one('SELECT count(*) AS keys FROM keys WHERE workspace_pk = $1', workspacePk);
  if (Number(row!.keys) < most) return;
  // Keeps a first key, or its BOOTSTRAP_API_KEY would be valid again. Keys that may return with their list or feed go last.
  const forgotten = yield* run(
    `DELETE FROM keys WHERE id = (SELECT id FROM keys WHERE workspace_pk = $1 AND coalesce(name, '') <> $2
       AND (revoked_at IS NOT NULL OR expires_at <= ${now}) ORDER BY CASE WHEN revoked_with IS NULL THEN 0 ELSE 1 END, coalesce(revoked_at, expires_at), id LIMIT 1)`,
    workspacePk,
    BOOTSTRAP_KEY_NAME,
  );
  if (forgotten === 0) throw tooMany(most, 'keys', 'MAX_KEYS', 'revoke one');
}

export function* insertKey(
  now: string,
  workspaceId: string,
  key: NewKey,
  { by, once, most = 0, id = randomUUID() }: ChangeOptions = {},
): Work<KeyInfo> {
  const { hash, prefix, name, permissions, listId, feedId, expiresAt, networks = [] } = key;
  const workspacePk = yield* (listId ?? feedId) === null ? findWorkspace(workspaceId) : holdWorkspace(workspaceId);
  yield* freeKeySlot(now, workspacePk, most);
  if (listId !== null) yield* listRow(workspacePk, listId);
  if (feedId !== null) yield* feedRow(workspacePk, feedId);
  const row = yield* create(now, 'keys', {
    id,
    hash,
    prefix,
    workspace_pk: workspacePk,
    list_id: listId,
    feed_id: feedId,
    name,
    permissions: permissions.join(' '),
    networks: networks.join(' '),
    expires_at: expiresAt,
  });
  yield* moveKeyRevision();
  const made = keyOf(row, workspaceId);
  const from = networks.length > 0 && { from: networks };
  const after = { name, permissions, list_id: listId, feed_id: feedId, ...from, expires_at: isoTime(expiresAt) };
  yield* audit(now, 'key created', id, { workspacePk, by, change: { before: null, after } });
  yield* doneOnce(now, workspacePk, once, made);
  return made;
}
