import { feedRevision } from '../../account/feed.ts';
import type { AccessList } from '../../account/list.ts';
import { formatOf } from '../formats/table.ts';
import { DEFAULT_VARIANT, FAMILIES, type Family, type Variant } from '../variant.ts';

/** The feed that a name stands for: the workspace's (`feedId` null) or one list's. */
export interface NamedFeed {
  readonly kind: 'named';
  readonly feedId: string | null;
  /** Moves with everything that the feed shows. */
  readonly revision: number;
  /** What applies where a request says nothing (spec 4.4.3). */
  readonly defaults: Variant;
}

/** What a name stands for in a workspace. */
export type Resolution =
  | NamedFeed
  | { readonly kind: 'unknown_list' }
  /** The UUIDs of the lists that have the name. */
  | { readonly kind: 'ambiguous'; readonly lists: readonly string[] };

/** What a name stands for that these lists have (spec 4.4), in a workspace of this revision. */
export function resolutionOf(lists: readonly AccessList[], workspaceRevision: number): Resolution {
  if (lists.length === 0) return { kind: 'unknown_list' };
  return lists.length === 1 ? namedList(lists[0], workspaceRevision) : { kind: 'ambiguous', lists: lists.map(({ id }) => id).sort() };
}

/** The workspace's own feed. */
export const workspaceFeed = (revision: number): NamedFeed => ({ kind: 'named', feedId: null, revision, defaults: DEFAULT_VARIANT });

function namedList(list: AccessList, workspaceRevision: number): NamedFeed {
  const defaults: Variant = {
    format: formatOf(list.format ?? DEFAULT_VARIANT.format) ?? DEFAULT_VARIANT.format,
    family: FAMILIES.find((family): family is Family => family === list.family) ?? DEFAULT_VARIANT.family,
    action: list.action ?? DEFAULT_VARIANT.action,
  };
  return { kind: 'named', feedId: list.id, revision: feedRevision(list, list.revision, workspaceRevision), defaults };
}
