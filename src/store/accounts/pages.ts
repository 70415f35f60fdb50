import type { ComposedFeed } from '../../account/feed.ts';
import type { KeyInfo } from '../../account/key.ts';
import type { AccessList } from '../../account/list.ts';
import type { NamedKind, NamedThing, Page, PageRequest } from '../../ports/stored/account-store.ts';
import { pageOf } from '../../ports/stored/paginate.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import { keyOf, listOf, type Row, textOrNull } from '../rows.ts';
import { all, type Work } from '../work.ts';
import { feedsOf } from './feeds.ts';
import { IN_ORDER, MEMBERS } from './members.ts';

const LISTS = `SELECT l.* FROM lists l WHERE l.workspace_pk = ${WORKSPACE_PK} AND l.pk > $2 ORDER BY l.pk LIMIT $3`;
const FEEDS = `SELECT f.* FROM feeds f WHERE f.workspace_pk = ${WORKSPACE_PK} AND f.pk > $2 ORDER BY f.pk LIMIT $3`;
const KEYS = `SELECT k.* FROM keys k WHERE k.workspace_pk = ${WORKSPACE_PK} AND k.created_at >= $2 AND (k.created_at > $2 OR k.id > $3)
  ORDER BY k.created_at, k.id LIMIT $4`;

const placeOf = (row: Row) => String(row.pk);
const mapped = <T>({ items, next }: Page<Row>, of: (row: Row) => T): Page<T> => ({ items: items.map(of), next });

export function* listPage(workspaceId: string, { after, limit }: PageRequest): Work<Page<AccessList>> {
  const rows = yield* all(LISTS, workspaceId, Number(after ?? 0), limit + 1);
  return mapped(pageOf(rows, limit, placeOf), (row) => listOf(row, workspaceId));
}

export function* feedPage(workspaceId: string, { after, limit }: PageRequest): Work<Page<ComposedFeed>> {
  const { items, next } = pageOf(yield* all(FEEDS, workspaceId, Number(after ?? 0), limit + 1), limit, placeOf);
  const range = `${MEMBERS} f.workspace_pk = ${WORKSPACE_PK} AND f.pk BETWEEN $2 AND $3${IN_ORDER}`;
  const members = items.length === 0 ? [] : yield* all(range, workspaceId, Number(items[0]!.pk), Number(items.at(-1)!.pk));
  return { items: feedsOf(items, workspaceId, members), next };
}

export function* keyPage(workspaceId: string, { after, limit }: PageRequest): Work<Page<KeyInfo>> {
  const [at, id] =
    after === null ? [Number.MIN_SAFE_INTEGER, ''] : [Number(after.slice(0, after.indexOf(':'))), after.slice(after.indexOf(':') + 1)];
  const rows = yield* all(KEYS, workspaceId, at, id, limit + 1);
  return mapped(
    pageOf(rows, limit, (row) => `${row.created_at}:${row.id}`),
    (row) => keyOf(row, workspaceId),
  );
}

const COLUMNS: Readonly<Record<NamedKind, string>> = {
  lists: 'name, source_id',
  feeds: 'name, NULL AS source_id',
  keys: 'coalesce(name, prefix) AS name, NULL AS source_id',
};

export function* namesOf(workspaceId: string, kind: NamedKind): Work<NamedThing[]> {
  const rows = yield* all(`SELECT id, ${COLUMNS[kind]} FROM ${kind} WHERE workspace_pk = ${WORKSPACE_PK}`, workspaceId);
  return rows.map(({ id, name, source_id }) => ({ id: String(id), name: String(name), sourceId: textOrNull(source_id) }));
}
