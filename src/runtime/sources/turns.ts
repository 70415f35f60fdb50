/**
 * Who may ask a host next (SPEC D23.14, D43.4): a host is asked by one download at a time, and of those who wait the workspace is next whose last
 * turn there is longest ago, of its sources the one that was fetched longest ago. Neither age nor number of sources helps anybody.
 */

/** One who waits for a host. */
export interface Waiting {
  readonly host: string;
  readonly workspaceId: string;
  /** Of those of a workspace the lowest is first. */
  readonly order: number;
  /** Whether it may begin at all, but for others. */
  mayBegin(): boolean;
  /** Its turn has come, until it is disposed. */
  begin(turn: Disposable): void;
}

export interface HostTurns {
  /** Those who want to begin; they take the place of those that were offered before. */
  offer(waiting: readonly Waiting[]): void;
  /** Waits for the turn. Rejects when `signal` aborts. */
  enter(one: Omit<Waiting, 'begin'>, signal: AbortSignal): Promise<Disposable>;
  isBusy(host: string): boolean;
}

/** Last turns that are remembered; who is forgotten comes first again. */
const MOST = 10_000;
/** In place of a host: any. */
const ANY = '';

export function hostTurns(): HostTurns {
  const busy = new Set<string>();
  const lastTurns = new Map<string, number>();
  const entering = new Set<Waiting>();
  let offered = new Map<string, readonly Waiting[]>();
  let turns = 0;

  const last = (host: string, { workspaceId }: Pick<Waiting, 'workspaceId'>) => lastTurns.get(`${host} ${workspaceId}`) ?? 0;
  const note = (name: string) => {
    lastTurns.delete(name);
    lastTurns.set(name, turns);
    if (lastTurns.size > MOST) lastTurns.delete(lastTurns.keys().next().value!);
  };
  const isBefore = (host: string, a: Waiting, b: Waiting) => last(host, a) - last(host, b) || a.order - b.order;

  /** Who is next at a host that is free. */
  function nextAt(host: string): Waiting | undefined {
    if (busy.has(host)) return undefined;
    const may = [...entering, ...(offered.get(host) ?? [])].filter((one) => one.host === host && one.mayBegin());
    return may.reduce<Waiting | undefined>(
      (first, one) => (first === undefined || isBefore(host, one, first) < 0 ? one : first),
      undefined,
    );
  }

  function begin(one: Waiting): void {
    const { host, workspaceId } = one;
    turns += 1;
    note(`${host} ${workspaceId}`);
    note(`${ANY} ${workspaceId}`);
    busy.add(host);
    entering.delete(one);
    let isOver = false;
    one.begin({
      [Symbol.dispose]() {
        if (isOver) return;
        isOver = true;
        busy.delete(host);
        // Who has begun already must not wait until somebody looks again.
        if ([...entering].some((each) => each.host === host)) beginAt([host]);
      },
    });
  }

  function beginAt(hosts: Iterable<string>): void {
    const firsts = [...hosts].flatMap((host) => nextAt(host) ?? []).sort((a, b) => isBefore(ANY, a, b));
    for (const one of firsts) if (!busy.has(one.host) && one.mayBegin()) begin(one);
  }

  return {
    offer(waiting) {
      offered = Map.groupBy(waiting, ({ host }) => host);
      beginAt(new Set([...offered.keys(), ...[...entering].map(({ host }) => host)]));
    },
    enter(asked, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
      const one: Waiting = { ...asked, begin: resolve };
      const giveUp = () => {
        if (entering.delete(one)) reject(signal.reason);
      };
      if (signal.aborted) reject(signal.reason);
      else {
        entering.add(one);
        signal.addEventListener('abort', giveUp, { once: true });
        beginAt([one.host]);
      }
      return promise.finally(() => signal.removeEventListener('abort', giveUp));
    },
    isBusy: (host) => busy.has(host),
  };
}
