/** What this process knows of each bouncer: which versions it was told lately (SPEC D14.3), and what `weir bouncer ls` shows. */
import type { Bouncer } from '../../ports/bouncer-store.ts';
import type { DecisionAnswer, DecisionMark } from '../decisions.ts';

/** A bouncer: a client with a key, by what it calls itself and where it is. */
export type BouncerName = Pick<Bouncer, 'workspaceId' | 'feedId' | 'keyId' | 'userAgent' | 'address'>;

/**
 * How far an answer reaches back at least, ms: to the pull before the last one in any case, and further where pulls are frequent, so that
 * several answers in a row may be lost.
 */
const REACH = 60_000;
/** Bouncers that are known; the one that has not pulled for longest is forgotten first, and is told everything when it comes back. */
const MOST_BOUNCERS = 10_000;

interface Pull {
  readonly mark: DecisionMark;
  /** ms, monotonic */
  readonly at: number;
}

interface Known {
  info: Bouncer;
  /** The filter of its pulls: with another one it is told everything. */
  filter: string;
  /** Pulls whose answers were sent whole, oldest first. */
  pulls: readonly Pull[];
  isSaved: boolean;
}

/** Is told of each sign of a bouncer, and what it was like before; undefined for one that this process has not seen. */
export type BouncerWatch = (bouncer: Bouncer, before: Bouncer | undefined) => void;

export class Bouncers {
  /** By when they pulled last, oldest first. */
  readonly #known = new Map<string, Known>();
  readonly #watch: BouncerWatch;

  constructor(watch: BouncerWatch = () => {}) {
    this.#watch = watch;
  }

  /** The version from which on a bouncer has to be told what has changed; null: everything. */
  since(name: BouncerName, filter: string): DecisionMark | null {
    const known = this.#known.get(keyOf(name));
    return known === undefined || known.filter !== filter || known.pulls.length < 2 ? null : known.pulls[0].mark;
  }

  /**
   * Notes an answer that was sent whole; `pull` is undefined for one that does not move what the bouncer knows, such as a look-up. `wall` and
   * `monotonic` in ms.
   */
  answered(
    name: BouncerName,
    { count, networks, leftOut }: Pick<DecisionAnswer, 'count' | 'networks' | 'leftOut'>,
    pull: { readonly mark: DecisionMark; readonly filter: string } | undefined,
    { wall, monotonic }: { readonly wall: number; readonly monotonic: number },
  ): void {
    const counts = { decisions: count, networks, leftOutNetworks: leftOut.networks, leftOutAddresses: leftOut.addresses };
    const known = this.#touch(name, wall, counts);
    if (pull === undefined) return;
    const before = known.filter === pull.filter ? known.pulls : [];
    known.filter = pull.filter;
    known.pulls = reaching([...before, { mark: pull.mark, at: monotonic }], monotonic);
  }

  /** Notes usage metrics, as JSON. `wall` in ms. */
  reported(name: BouncerName, metrics: string, wall: number): void {
    this.#touch(name, wall, { metrics, metricsAt: wall });
  }

  /** The bouncers that were seen since the last call. */
  takeSeen(): Bouncer[] {
    const seen = [...this.#known.values()].filter(({ isSaved }) => !isSaved);
    for (const known of seen) known.isSaved = true;
    return seen.map(({ info }) => info);
  }

  #touch(name: BouncerName, wall: number, change: Partial<Bouncer>): Known {
    const key = keyOf(name);
    const before = this.#known.get(key);
    const info = before?.info;
    const known: Known = before ?? { info: { ...NEW, ...name, firstSeen: wall, lastPull: wall }, filter: '', pulls: [], isSaved: false };
    known.info = { ...known.info, ...change, lastPull: wall };
    known.isSaved = false;
    this.#known.delete(key);
    this.#known.set(key, known);
    if (this.#known.size > MOST_BOUNCERS) this.#known.delete(this.#known.keys().next().value!);
    this.#watch(known.info, info);
    return known;
  }
}

const NEW = { decisions: 0, networks: 0, leftOutNetworks: 0, leftOutAddresses: 0, metrics: null, metricsAt: null };

const keyOf = ({ keyId, feedId, userAgent, address }: BouncerName) => JSON.stringify([keyId, feedId, userAgent, address]);

/** The pulls without those that the next answer need not reach back to. */
function reaching(pulls: readonly Pull[], now: number): readonly Pull[] {
  let from = 0;
  while (from < pulls.length - 2 && pulls[from + 1].at <= now - REACH) from += 1;
  return pulls.slice(from);
}
