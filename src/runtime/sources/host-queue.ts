/**
 * The order in which downloads ask a host (SPEC D23.14, D43.4). One download asks a host at a time. The next is the workspace whose last turn at
 * that host is longest ago, and of its sources the one that was fetched longest ago, so that neither the age nor the number of sources counts.
 */

/** A download that waits for a host. */
export interface Candidate {
  readonly host: string;
  readonly workspaceId: string;
  /** The lowest of a workspace is first. */
  readonly order: number;
  /** Whether it may begin, apart from its turn. */
  mayBegin(): boolean;
  /** Called at its turn, which ends when `turn` is disposed. */
  begin(turn: Disposable): void;
}

export interface HostQueue {
  /** Begins what may begin; the candidates replace those of the last call. */
  offer(candidates: readonly Candidate[]): void;
  /** Resolves at the turn of a download that has begun already. Rejects when `signal` aborts. */
  enter(candidate: Omit<Candidate, 'begin'>, signal: AbortSignal): Promise<Disposable>;
  isBusy(host: string): boolean;
}

/** The number of last turns that the queue remembers; a forgotten workspace comes first again. */
const MOST = 10_000;
/** Stands for any host. */
const ANY = '';

export function hostQueue(): HostQueue {
  const busy = new Set<string>();
  const lastTurns = new Map<string, number>();
  const entering = new Set<Candidate>();
  let offered = new Map<string, readonly Candidate[]>();
  let turns = 0;

  const lastTurn = (host: string, { workspaceId }: Candidate) => lastTurns.get(`${host} ${workspaceId}`) ?? 0;
  const note = (name: string) => {
    lastTurns.delete(name);
    lastTurns.set(name, turns);
    if (lastTurns.size > MOST) lastTurns.delete(lastTurns.keys().next().value!);
  };
  const compare = (host: string, a: Candidate, b: Candidate) => lastTurn(host, a) - lastTurn(host, b) || a.order - b.order;

  function nextAt(host: string): Candidate | undefined {
    if (busy.has(host)) return undefined;
    const ready = [...entering, ...(offered.get(host) ?? [])].filter((one) => one.host === host && one.mayBegin());
    return ready.reduce<Candidate | undefined>(
      (first, one) => (first === undefined || compare(host, one, first) < 0 ? one : first),
      undefined,
    );
  }

  function begin(one: Candidate): void {
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
        // A download that is under way must not wait for the next offer.
        if ([...entering].some((each) => each.host === host)) beginAt([host]);
      },
    });
  }

  function beginAt(hosts: Iterable<string>): void {
    const firsts = [...hosts].flatMap((host) => nextAt(host) ?? []).sort((a, b) => compare(ANY, a, b));
    for (const one of firsts) if (!busy.has(one.host) && one.mayBegin()) begin(one);
  }

  return {
    offer(candidates) {
      offered = Map.groupBy(candidates, ({ host }) => host);
      beginAt(new Set([...offered.keys(), ...[...entering].map(({ host }) => host)]));
    },
    enter(candidate, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
      const one: Candidate = { ...candidate, begin: resolve };
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
