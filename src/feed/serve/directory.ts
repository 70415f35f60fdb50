import type { AccessList } from '../../account/list.ts';
import type { WorkspaceDirectory } from '../../ports/rule-store.ts';
import { canonicalFormat, DEFAULT_VARIANT, FAMILIES, type Family, type Variant } from '../variant.ts';

/** A feed by name: the workspace's (`listId` null) or one list's, with what applies where a request says nothing. */
interface NamedFeed {
  readonly kind: 'named';
  readonly listId: string | null;
  readonly revision: number;
  readonly defaults: Variant;
}

export type Resolution =
  | NamedFeed
  | { readonly kind: 'unknown_list' }
  /** The UUIDs of the lists that have the name. */
  | { readonly kind: 'ambiguous'; readonly lists: readonly string[] };

const UNKNOWN: Resolution = { kind: 'unknown_list' };
const UUID_LENGTH = 36;

/** Which feeds a workspace has and under which names, as read in one go (spec 4.4). */
export class Directory {
  /** The store's clock at the read, ms. */
  readonly takenAt: number;
  readonly #workspace: NamedFeed;
  readonly #byId: ReadonlyMap<string, NamedFeed>;
  readonly #byName = new Map<string, Resolution>();

  constructor(workspace: WorkspaceDirectory) {
    this.takenAt = workspace.takenAt;
    this.#workspace = { kind: 'named', listId: null, revision: workspace.revision, defaults: DEFAULT_VARIANT };
    this.#byId = new Map(workspace.lists.map((list) => [list.id, namedList(list)]));
    for (const [name, lists] of Map.groupBy(workspace.lists, ({ name }) => name)) {
      const ids = lists.map(({ id }) => id);
      this.#byName.set(name, ids.length === 1 ? this.#byId.get(ids[0])! : { kind: 'ambiguous', lists: ids.sort() });
    }
  }

  /** The feed behind a UUID or a name; null is the workspace's. A UUID wins; names are compared exactly. */
  resolve(ref: string | null): Resolution {
    if (ref === null) return this.#workspace;
    const byId = ref.length === UUID_LENGTH ? this.#byId.get(ref.toLowerCase()) : undefined;
    return byId ?? this.#byName.get(ref) ?? UNKNOWN;
  }

  /** The feed of a list by its id. */
  feed(listId: string | null): NamedFeed | undefined {
    return listId === null ? this.#workspace : this.#byId.get(listId);
  }
}

function namedList(list: AccessList): NamedFeed {
  const defaults: Variant = {
    format: canonicalFormat(list.format ?? DEFAULT_VARIANT.format) ?? DEFAULT_VARIANT.format,
    family: FAMILIES.find((family): family is Family => family === list.family) ?? DEFAULT_VARIANT.family,
    action: list.action ?? DEFAULT_VARIANT.action,
  };
  return { kind: 'named', listId: list.id, revision: list.revision, defaults };
}
