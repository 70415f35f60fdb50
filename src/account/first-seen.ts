/** Who is seen for the first time in a while is written soon, so that whoever revokes his key is told of him (SPEC D16.12); within bounds. */

/** Of one workspace, and in all, between two resets: the others wait for the next regular write. */
const MOST_OF_WORKSPACE = 20;
const MOST = 500;

export class FirstSeen<T> {
  readonly #ofWorkspace = new Map<string, number>();
  #waiting: T[] = [];
  #all = 0;
  /** Called for the first of those that wait. */
  onFirst: () => void = () => {};

  note(workspaceId: string, who: T): void {
    const known = this.#ofWorkspace.get(workspaceId) ?? 0;
    if (known >= MOST_OF_WORKSPACE || this.#all >= MOST) return;
    this.#ofWorkspace.set(workspaceId, known + 1);
    this.#all += 1;
    this.#waiting.push(who);
    if (this.#waiting.length === 1) this.onFirst();
  }

  /** Those that wait. */
  take(): T[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }

  /** All have been written: each workspace has room for others. */
  reset(): void {
    this.#waiting = [];
    this.#ofWorkspace.clear();
    this.#all = 0;
  }
}
