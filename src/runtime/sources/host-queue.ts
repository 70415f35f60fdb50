/**
 * Per host (SPEC D23.14, D43.4), one at a time: first the workspace that had its turn longest ago, then its source fetched longest ago:
 * neither age nor number of sources matters.
 */

export interface Candidate {
  readonly host: string;
  readonly workspaceId: string;
  /** Lowest first within a workspace. */
  readonly order: number;
  /** Ignores the turn. */
  mayBegin(): boolean;
  /** Ends when `turn` is disposed. */
  begin(turn: Disposable): void;
}

export interface HostQueue {
  offer(candidates: readonly Candidate[]): void;
  /** At the turn of a running download. Rejects when `signal` aborts. */
  enter(candidate: Omit<Candidate, 'begin'>, signal: AbortSignal): Promise<Disposable>;
  isBusy(host: string): boolean;
}

/** Remembered turns; a forgotten workspace comes first. */
const MOST = 10_000;
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
        // A running download does not wait for the next offer.
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
