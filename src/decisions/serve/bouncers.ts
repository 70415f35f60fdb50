/** What this process knows of each bouncer: which versions it was told lately (SPEC D14.3), and what `weir bouncer ls` shows. */
import { FirstSeen } from '../../account/first-seen.ts';
import { type Bouncer, MOST_BOUNCERS } from '../../ports/stored/bouncer-store.ts';
import type { DecisionAnswer, DecisionMark } from '../decisions.ts';
import { FairMap } from './fair-map.ts';

/** A bouncer: a client with a key, by what it calls itself and where it is. */
export type BouncerName = Pick<Bouncer, 'workspaceId' | 'feedId' | 'keyId' | 'userAgent' | 'address'>;

/**
 * How far an answer reaches back at least, ms: to the pull before the last one in any case, and further where pulls are frequent, so that
 * several answers in a row may be lost.
 */
const REACH = 60_000;

/** Who has not been seen for so long is a newcomer again, ms. */
const AWAY = 300_000;

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
}

/** Is told of each sign of a bouncer, and what it was like before; undefined for one that this process has not seen. */
export type BouncerWatch = (bouncer: Bouncer, before: Bouncer | undefined) => void;

export class Bouncers {
  /** Who is forgotten is told everything when it comes back. */
  readonly #known = new FairMap<Known>(MOST_BOUNCERS);
  #unsaved = new Set<Known>();
  readonly #watch: BouncerWatch;
  readonly #firstSeen = new FirstSeen<Known>();

  constructor(watch: BouncerWatch = () => {}) {
    this.#watch = watch;
  }

  /** The version from which on a bouncer has to be told what has changed; null: everything. */
  since(name: BouncerName, filter: string): DecisionMark | null {
    const known = this.#known.get(name, keyOf(name));
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
    const known = this.#touch(name, wall, pull === undefined ? counts : { ...counts, lastStream: wall });
    if (pull === undefined) return;
    const before = known.filter === pull.filter ? known.pulls : [];
    known.filter = pull.filter;
    known.pulls = reaching([...before, { mark: pull.mark, at: monotonic }], monotonic);
  }

  /** Notes usage metrics, as JSON. `wall` in ms. */
  reported(name: BouncerName, metrics: string, wall: number): void {
    this.#touch(name, wall, { metrics, metricsAt: wall });
  }

  /** The bouncers that were seen since the last call, to be read once, each taken as it is read. Their metrics are not kept here any longer. */
  takeSeen(): Iterable<Bouncer> {
    const seen = this.#unsaved;
    this.#unsaved = new Set();
    this.#firstSeen.reset();
    return takenFrom(seen);
  }

  /** Those of them that were not seen for a while before; they stay among the others. */
  takeNew(): Bouncer[] {
    return this.#firstSeen.take().map(({ info }) => info);
  }

  /** `call` is called when there are some. */
  onNew(call: () => void): void {
    this.#firstSeen.onFirst = call;
  }

  #touch(name: BouncerName, wall: number, change: Partial<Bouncer>): Known {
    const key = keyOf(name);
    const before = this.#known.get(name, key);
    const info = before?.info;
    const known: Known = before ?? { info: { ...NEW, ...name, firstSeen: wall, lastPull: wall }, filter: '', pulls: [] };
    known.info = { ...known.info, ...change, lastPull: wall };
    this.#unsaved.add(known);
    if (info === undefined || wall - info.lastPull > AWAY) this.#firstSeen.note(name.workspaceId, known);
    const forgotten = this.#known.put(name, key, known);
    if (forgotten !== undefined) this.#unsaved.delete(forgotten);
    this.#watch(known.info, info);
    return known;
  }
}

/** What is known of each, which then has no metrics; so have those that nobody reads any more. */
function* takenFrom(seen: Set<Known>): Generator<Bouncer> {
  const take = (known: Known): Bouncer => {
    const { info } = known;
    known.info = { ...info, metrics: null, metricsAt: null };
    return info;
  };
  try {
    for (const known of seen) {
      seen.delete(known);
      yield take(known);
    }
  } finally {
    seen.forEach(take);
  }
}

const NEW = { decisions: 0, networks: 0, leftOutNetworks: 0, leftOutAddresses: 0, metrics: null, metricsAt: null, lastStream: null };

const keyOf = ({ feedId, userAgent, address }: BouncerName) => JSON.stringify([feedId, userAgent, address]);

/** The pulls without those that the next answer need not reach back to, or that end with the same version as the one before and the one after. */
function reaching(pulls: readonly Pull[], now: number): readonly Pull[] {
  let from = 0;
  while (from < pulls.length - 2 && pulls[from + 1].at <= now - REACH) from += 1;
  const kept = pulls.slice(from);
  const [before, middle, last] = kept.slice(-3);
  if (last !== undefined && isSame(before.mark, middle.mark) && isSame(middle.mark, last.mark)) kept.splice(-2, 1);
  return kept;
}

const isSame = (one: DecisionMark, other: DecisionMark) => one.builder === other.builder && one.version === other.version;
