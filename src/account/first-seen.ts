/** First-seen clients are written soon, within limits, so that `weir key revoke` reports them (SPEC D16.12). */

/** Per workspace and in total between two resets. Others wait for the regular write. */
const MOST_OF_WORKSPACE = 20;
const MOST = 500;

export class FirstSeen<T> {
  readonly #ofWorkspace = new Map<string, number>();
  #waiting: T[] = [];
  #all = 0;
  onFirst: () => void = () => {};

  note(workspaceId: string, client: T): void {
    const known = this.#ofWorkspace.get(workspaceId) ?? 0;
    if (known >= MOST_OF_WORKSPACE || this.#all >= MOST) return;
    this.#ofWorkspace.set(workspaceId, known + 1);
    this.#all += 1;
    this.#waiting.push(client);
    if (this.#waiting.length === 1) this.onFirst();
  }

  take(): T[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }

  /** After the regular write: renews each workspace's quota. */
  reset(): void {
    this.#waiting = [];
    this.#ofWorkspace.clear();
    this.#all = 0;
  }
}
