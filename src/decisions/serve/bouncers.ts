/** Known to this process: the versions they received lately (SPEC D14.3), and the data for `weir bouncer ls`. */
import { FirstSeen } from '../../account/first-seen.ts';
import { type Bouncer, type Enforced, MOST_BOUNCERS } from '../../ports/stored/bouncer-store.ts';
import type { DecisionAnswer, DecisionMark, FeedCheck } from '../decisions.ts';
import { FairMap } from './fair-map.ts';

export type BouncerName = Pick<Bouncer, 'workspaceId' | 'feedId' | 'keyId' | 'userAgent' | 'address'>;

/**
 * A response reaches back at least so far, ms: to the fetch before the last one, and further if fetches are frequent, so several lost
 * responses in a row do no damage.
 */
const REACH = 60_000;

/** Not seen for this long, it counts as new again, ms. */
const AWAY = 300_000;

interface Pull {
  readonly mark: DecisionMark;
  /** ms, monotonic */
  readonly at: number;
}

interface Known {
  info: Bouncer;
  /** A change causes a full resync. */
  filter: string;
  /** Fully sent responses, oldest first. */
  pulls: readonly Pull[];
  /** Versions sent with their digest, oldest first; shared by all bouncers with the same answer. */
  checks: readonly FeedCheck[];
  verdict: Enforced['verdict'] | undefined;
}

/** Versions usable in a report. */
const MOST_CHECKS = 16;

/** For each sign of a bouncer; `before` undefined: this process has not seen it. */
export type BouncerWatch = (bouncer: Bouncer, before: Bouncer | undefined) => void;

export class Bouncers {
  /** A forgotten bouncer gets a full resync. */
  readonly #known = new FairMap<Known>(MOST_BOUNCERS);
  #unsaved = new Set<Known>();
  readonly #watch: BouncerWatch;
  readonly #firstSeen = new FirstSeen<Known>();

  constructor(watch: BouncerWatch = () => {}) {
    this.#watch = watch;
  }

  /** null: everything. */
  since(name: BouncerName, filter: string): DecisionMark | null {
    const known = this.#known.get(name, keyOf(name));
    return known === undefined || known.filter !== filter || known.pulls.length < 2 ? null : known.pulls[0].mark;
  }

  /** null: none with this filter. */
  last(name: BouncerName, filter: string): DecisionMark | null {
    const known = this.#known.get(name, keyOf(name));
    return known === undefined || known.filter !== filter ? null : (known.pulls.at(-1)?.mark ?? null);
  }

  /** A fully sent response; `pull` undefined: it does not advance the bouncer, such as a look-up. `wall` and `monotonic` in ms. */
  answered(
    name: BouncerName,
    { count, networks, leftOut, check }: Pick<DecisionAnswer, 'count' | 'networks' | 'leftOut' | 'check'>,
    pull: { readonly mark: DecisionMark; readonly filter: string } | undefined,
    { wall, monotonic }: { readonly wall: number; readonly monotonic: number },
  ): void {
    const counts = { decisions: count, networks, leftOutNetworks: leftOut.networks, leftOutAddresses: leftOut.addresses, refusal: null };
    const known = this.#touch(name, wall, pull === undefined ? counts : { ...counts, lastStream: wall });
    if (check !== undefined && known.checks.at(-1) !== check) known.checks = [...known.checks, check].slice(-MOST_CHECKS);
    if (pull === undefined) return;
    const before = known.filter === pull.filter ? known.pulls : [];
    known.filter = pull.filter;
    known.pulls = reaching([...before, { mark: pull.mark, at: monotonic }], monotonic);
  }

  /** `wall` in ms. */
  refused(name: BouncerName, status: number, wall: number): void {
    const before = this.#known.get(name, keyOf(name))?.info.refusal;
    const isSame = before?.status === status;
    this.#touch(name, wall, { refusal: { status, since: isSame ? before.since : wall, count: (isSame ? before.count : 0) + 1 } });
  }

  /** If its last fetch was refused. */
  refusal(name: BouncerName): number | undefined {
    return this.#known.get(name, keyOf(name))?.info.refusal?.status;
  }

  /** `metrics`: JSON. `wall` in ms. */
  reported(name: BouncerName, metrics: string, wall: number): void {
    this.#touch(name, wall, { metrics, metricsAt: wall });
  }

  /** Networks read back from its firewall. `wall` in ms. */
  enforces(name: BouncerName, { version, count, digest }: FeedCheck, wall: number): void {
    const sent = this.#known.get(name, keyOf(name))?.checks.findLast((check) => check.version === version);
    const verdict = sent === undefined ? 'unknown' : sent.count === count && sent.digest === digest ? 'same' : 'different';
    const known = this.#touch(name, wall, { enforced: { at: wall, count, verdict }, ...(verdict === 'different' && { differedAt: wall }) });
    // A change is displayed soon.
    if (known.verdict !== verdict) this.#firstSeen.note(name.workspaceId, known);
    known.verdict = verdict;
  }

  /** Bouncers since the last call; iterate once. Metrics are released as they are read. */
  takeSeen(): Iterable<Bouncer> {
    const seen = this.#unsaved;
    this.#unsaved = new Set();
    this.#firstSeen.reset();
    return drained(seen);
  }

  /** Bouncers not seen for a while before. `takeSeen` still returns them. */
  takeNew(): Bouncer[] {
    return this.#firstSeen.take().map(({ info }) => info);
  }

  onNew(call: () => void): void {
    this.#firstSeen.onFirst = call;
  }

  #touch(name: BouncerName, wall: number, change: Partial<Bouncer>): Known {
    const key = keyOf(name);
    const before = this.#known.get(name, key);
    const info = before?.info;
    const known: Known = before ?? {
      info: { ...NEW, ...name, firstSeen: wall, lastPull: wall },
      filter: '',
      pulls: [],
      checks: [],
      verdict: undefined,
    };
    known.info = { ...known.info, ...change, lastPull: wall };
    this.#unsaved.add(known);
    if (info === undefined || wall - info.lastPull > AWAY) this.#firstSeen.note(name.workspaceId, known);
    const forgotten = this.#known.put(name, key, known);
    if (forgotten !== undefined) this.#unsaved.delete(forgotten);
    this.#watch(known.info, info);
    return known;
  }
}

/** Releases metrics also of bouncers that the caller does not read. */
function* drained(seen: Set<Known>): Generator<Bouncer> {
  const take = (known: Known): Bouncer => {
    const { info } = known;
    known.info = { ...info, metrics: null, metricsAt: null, enforced: null, differedAt: null };
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

const NEW = {
  ...{ decisions: 0, networks: 0, leftOutNetworks: 0, leftOutAddresses: 0 },
  ...{ metrics: null, metricsAt: null, lastStream: null, refusal: null, enforced: null, differedAt: null },
};

const keyOf = ({ feedId, userAgent, address }: BouncerName) => JSON.stringify([feedId, userAgent, address]);

/** Fetches still needed for the next response, without repeated versions. */
function reaching(pulls: readonly Pull[], now: number): readonly Pull[] {
  let from = 0;
  while (from < pulls.length - 2 && pulls[from + 1].at <= now - REACH) from += 1;
  const recent = pulls.slice(from);
  const [before, middle, last] = recent.slice(-3);
  if (last !== undefined && isSame(before.mark, middle.mark) && isSame(middle.mark, last.mark)) recent.splice(-2, 1);
  return recent;
}

const isSame = (one: DecisionMark, other: DecisionMark) => one.builder === other.builder && one.version === other.version;
