import { randomBytes, randomUUID } from 'node:crypto';
import type { SavedFeed } from '../account/feed.ts';
import type { SavedKey } from '../account/key.ts';
import type { SavedList } from '../account/list.ts';
import type { AccountWrites } from '../ports/stored/account-store.ts';
import { changeWorkspace, findWorkspace, insertList, listColumns, moveKeyRevision } from './accounts/account-statements.ts';
import { audit } from './accounts/audit.ts';
import { refuseName } from './accounts/feed-lists.ts';
import { changeFeed, insertFeed } from './accounts/feeds.ts';
import { findFeed } from './accounts/lists.ts';
import { requireCanaryQuota } from './canary/feeds.ts';
import type { Row } from './rows.ts';
import { restoreRepeats } from './rules/repeats.ts';
import { all, type Changes, one, run, type Work } from './work.ts';

export const restoreChanges = {
  *restoreLists(now, workspaceId, lists, feeds = [], by) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    const ids = new Map<string, string>();
    for (const list of lists) ids.set(list.id, yield* restoreList(now, workspacePk, list));
    const here = (id: string) => ids.get(id) ?? id;
    for (const feed of feeds) {
      ids.set(
        feed.id,
        yield* restoreFeed(now, workspacePk, {
          ...feed,
          lists: feed.lists?.map(here) ?? null,
          always: feed.always.map(here),
        }),
      );
    }
    yield* moveKeyRevision();
    yield* audit(now, 'lists restored', workspaceId, { workspacePk, by });
    return ids;
  },
  *restoreKeys(now, workspaceId, keys, by) {
    const workspacePk = yield* findWorkspace(workspaceId);
    const known: string[] = [];
    for (const key of keys) if (!(yield* restoreKey(now, workspacePk, key))) known.push(key.id);
    yield* moveKeyRevision();
    yield* audit(now, 'keys restored', workspaceId, { workspacePk, by });
    return known;
  },
  restoreRepeats,
} satisfies Changes<Pick<AccountWrites, 'restoreLists' | 'restoreKeys' | 'restoreRepeats'>>;

/** Returns its id here. */
function* restoreList(now: string, workspacePk: number, list: SavedList): Work<string> {
  yield* refuseName('feeds', workspacePk, list.name);
  const rows = yield* all(
    'SELECT pk, id, workspace_pk, is_default, canary_keys FROM lists WHERE id = $1 OR (workspace_pk = $2 AND is_default = 1)',
    list.id,
    workspacePk,
  );
  const { own, id } = placeOf(list, workspacePk, rows);
  if (own === undefined) {
    yield* insertList(now, workspacePk, { ...list, id, isDefault: false, sourceId: null });
    return id;
  }
  yield* requireCanaryQuota(workspacePk, list.canaryKeys, own.canaryKeys);
  const columns = Object.entries(listColumns({ ...list, id }));
  const sets = columns.map(([column], i) => `${column} = $${i + 2}, `).join('');
  yield* run(`UPDATE lists SET ${sets}revision = revision + 1 WHERE pk = $1`, own.pk, ...columns.map(([, value]) => value));
  yield* run('UPDATE keys SET list_id = $1 WHERE list_id = $2', id, own.id);
  return id;
}

/**
 * The row to update and its id, `own`; undefined: a new row. `rows`: the lists with the given id, and the default list, to which a default
 * list maps. An id of another workspace is replaced.
 */
function placeOf(list: SavedList, workspacePk: number, rows: readonly Row[]) {
  const isOwn = (row: Row) =>
    Number(row.workspace_pk) === workspacePk && (list.isDefault ? Number(row.is_default) === 1 : Number(row.is_default) === 0);
  const row = rows.find(isOwn);
  const own = row && { pk: Number(row.pk), id: String(row.id), canaryKeys: row.canary_keys };
  const used = rows.some((other) => other.id === list.id && Number(other.pk) !== own?.pk);
  return { own, id: used ? (own?.id ?? randomUUID()) : list.id };
}

/** Returns its id here. */
function* restoreFeed(now: string, workspacePk: number, feed: SavedFeed): Work<string> {
  const own = yield* findFeed(workspacePk, feed.id, feed.name);
  if (own === undefined) {
    const used = yield* one('SELECT id FROM feeds WHERE id = $1', feed.id);
    const id = used === undefined ? feed.id : randomUUID();
    yield* insertFeed(now, workspacePk, { ...feed, id });
    return id;
  }
  const { id: _, ...patch } = feed;
  yield* changeFeed(now, workspacePk, own, patch);
  return String(own.id);
}

/** False: the hash is known. If it is another workspace's, a revoked key without a usable secret keeps the name of the sender. */
function* restoreKey(now: string, workspacePk: number, key: SavedKey): Work<boolean> {
  const known = yield* one('SELECT workspace_pk FROM keys WHERE hash = $1', key.hash);
  const used = yield* one('SELECT id FROM keys WHERE id = $1', key.id);
  if (known === undefined) yield* insertKey(workspacePk, { ...key, id: used === undefined ? key.id : randomUUID() });
  else if (Number(known.workspace_pk) !== workspacePk && used === undefined) {
    const at = Number((yield* one(`SELECT ${now} AS now`))!.now);
    yield* insertKey(workspacePk, { ...key, hash: randomBytes(32), revokedAt: key.revokedAt ?? at });
  }
  return known === undefined;
}

function* insertKey(workspacePk: number, key: SavedKey): Work<void> {
  yield* run(
    `INSERT INTO keys (id, hash, prefix, workspace_pk, list_id, feed_id, name, permissions, created_at, expires_at, revoked_at, last_used_at, networks)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    key.id,
    key.hash,
    key.prefix,
    workspacePk,
    key.listId,
    key.feedId,
    key.name,
    key.permissions.join(' '),
    key.createdAt,
    key.expiresAt,
    key.revokedAt,
    key.lastUsedAt,
    key.networks.join(' '),
  );
}
