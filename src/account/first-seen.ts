/** First-seen clients are written soon, within limits: `weir key revoke` reports them (SPEC D16.12). */

/** Per workspace and in total between two resets. Others wait for the regular write. */
const MOST_OF_WORKSPACE = 20;
const MOST = 500;

export class FirstSeen<T> {
  readonly #ofWorkspace = new Map<string, number>();
  #waiting = new Set<T>();
  #all = 0;
  onFirst: () => void = () => {};

  note(workspaceId: string, client: T): void {
    if (this.#waiting.has(client)) return;
    const known = this.#ofWorkspace.get(workspaceId) ?? 0;
    if (known >= MOST_OF_WORKSPACE || this.#all >= MOST) return;
    this.#ofWorkspace.set(workspaceId, known + 1);
    this.#all += 1;
    this.#waiting.add(client);
    if (this.#waiting.size === 1) this.onFirst();
  }

  take(): T[] {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    return waiting;
  }

  /** After the regular write: renews each workspace's quota. */
  reset(): void {
    this.#waiting.clear();
    this.#ofWorkspace.clear();
    this.#all = 0;
  }
}
