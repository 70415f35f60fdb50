/** Bounded: the owner of the most entries loses entries first. */

export interface Owner {
  readonly workspaceId: string;
  readonly keyId: string;
}

export interface FairBounds {
  /** Limits per workspace and in total. */
  readonly ofWorkspace: number;
  readonly inAll: number;
}

/** Each owner's oldest first. */
type OfKey<V> = Map<string, V>;

/**
 * A full workspace evicts the oldest entry of its largest key; a full map evicts from the largest workspace. No owner loses entries to a
 * larger one.
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

  /** Becomes its owner's newest. Returns the evicted value. */
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

/** The map must not be empty. */
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
