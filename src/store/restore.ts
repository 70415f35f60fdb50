import { randomUUID } from 'node:crypto';
import type { SavedList } from '../account/list.ts';
import type { Row } from './rows.ts';

/** Where a restored list goes: onto the row `own`, or, without one, into a new row; and the id that it has from then on. */
interface ListPlace {
  readonly own: { readonly pk: number; readonly id: string } | undefined;
  readonly id: string;
}

/**
 * The place of a restored list. `rows` are the lists (pk, id, workspace_pk, is_default) that have its id and the workspace's default one:
 * the default list stands for the workspace's own, another for the workspace's list of that id; an id that a third list has is not taken.
 */
export function placeOf(list: SavedList, workspacePk: number, rows: readonly Row[]): ListPlace {
  const isOwn = (row: Row) =>
    Number(row.workspace_pk) === workspacePk && (list.isDefault ? Number(row.is_default) === 1 : Number(row.is_default) === 0);
  const row = rows.find(isOwn);
  const own = row && { pk: Number(row.pk), id: String(row.id) };
  const taken = rows.some((other) => other.id === list.id && Number(other.pk) !== own?.pk);
  return { own, id: taken ? (own?.id ?? randomUUID()) : list.id };
}
