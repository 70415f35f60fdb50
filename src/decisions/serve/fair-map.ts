/** A map with a bound that tenants share: who has most of it gives way first. */

/** Whose an entry is. */
export interface Owner {
  readonly workspaceId: string;
  readonly keyId: string;
}

export interface FairBounds {
  /** Entries of one workspace, and in all. */
  readonly ofWorkspace: number;
  readonly inAll: number;
}

/** Entries by who owns them and a name; of each owner those first that were put longest ago. */
type OfKey<V> = Map<string, V>;

/**
 * Entries of the keys of workspaces. Where a workspace has too many, its key with most forgets what it put longest ago; where all have, the
 * workspace with most does. So nobody's entries go because of somebody who has more.
 */
export class FairMap<V> {
  readonly #bounds: FairBounds;
  readonly #workspaces = new Map<string, { size: number; readonly keys: Map<string, OfKey<V>> }>();
  #size = 0;

  constructor(bounds: FairBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#size;
  }

  get({ workspaceId, keyId }: Owner, name: string): V | undefined {
    return this.#workspaces.get(workspaceId)?.keys.get(keyId)?.get(name);
  }

  /** Puts an entry, as the newest of its owner. Returns what had to go for it. */
  put({ workspaceId, keyId }: Owner, name: string, value: V): V | undefined {
    const workspace = this.#workspaces.get(workspaceId) ?? { size: 0, keys: new Map<string, OfKey<V>>() };
    this.#workspaces.set(workspaceId, workspace);
    const entries: OfKey<V> = workspace.keys.get(keyId) ?? new Map();
    workspace.keys.set(keyId, entries);
    if (!entries.delete(name)) {
      workspace.size += 1;
      this.#size += 1;
    }
    entries.set(name, value);
    if (workspace.size > this.#bounds.ofWorkspace) return this.#dropFrom(workspaceId);
    if (this.#size <= this.#bounds.inAll) return undefined;
    return this.#dropFrom(largest(this.#workspaces, ({ size }) => size));
  }

  #dropFrom(workspaceId: string): V {
    const workspace = this.#workspaces.get(workspaceId)!;
    const keyId = largest(workspace.keys, ({ size }) => size);
    const entries = workspace.keys.get(keyId)!;
    const [name, value] = entries.entries().next().value!;
    entries.delete(name);
    if (entries.size === 0) workspace.keys.delete(keyId);
    workspace.size -= 1;
    if (workspace.size === 0) this.#workspaces.delete(workspaceId);
    this.#size -= 1;
    return value;
  }
}

/** The key whose value is largest; the map is not empty. */
function largest<V>(map: ReadonlyMap<string, V>, sizeOf: (value: V) => number): string {
  let found = '';
  let most = 0;
  for (const [key, value] of map) {
    if (sizeOf(value) <= most) continue;
    most = sizeOf(value);
    found = key;
  }
  return found;
}
