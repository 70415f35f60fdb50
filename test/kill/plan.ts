/** What is done in a round, all of it from a seed: plain data, so that it can be printed, done again and made smaller. */
import { type Random, seededRandom } from '../support/random.ts';
import type { Entry } from './model.ts';

/** What a client of one list does next. */
export type Act = { /** ms after the one before. */ readonly after: number } & What;
type What =
  | {
      readonly do: 'post';
      readonly v1: boolean;
      readonly entries: readonly Entry[] /** It is not sent again where no answer came. */;
      readonly once: boolean;
    }
  | { readonly do: 'undo' /** How many batches back. */; readonly back: number /** The undo is undone as well. */; readonly twice: boolean }
  | { readonly do: 'clear'; readonly group: string };

/** A change of what is set, or of what the source publishes. */
export type Change =
  | { readonly set: 'feed' | 'workspace'; readonly field: string; readonly value: unknown }
  | { readonly source: readonly number[] };

export interface Harm {
  /** ms after the beginning of the round. */
  readonly at: number;
  readonly harm: string;
  /** The part or link that it is done to. */
  readonly to: string;
  /** How long, ms. */
  readonly ms: number;
  /** By which the clock is off from then on, ms. */
  readonly off?: number;
}

export interface Round {
  readonly seed: number;
  /** By list. */
  readonly acts: Readonly<Record<string, readonly Act[]>>;
  readonly changes: readonly Change[];
  readonly harms: readonly Harm[];
}

/** What can be harmed in a world: by kind of harm, the names of parts or links. */
export type Targets = Readonly<Record<string, readonly string[]>>;

export const LISTS = ['north', 'south', 'brief'] as const;
/** The rules of this list expire while the run goes on. */
export const BRIEF = 'brief';

/** The n-th round of an episode. */
export function planRound(seed: number, n: number, targets: Targets): Round {
  const random = seededRandom(seed * 1000 + n);
  const acts = Object.fromEntries(
    LISTS.map((list, at) => [
      list,
      Array.from({ length: 3 + random.below(6) }, (_, act) => ({ after: random.below(500), ...planAct(random, list, at, n, act) })),
    ]),
  );
  return {
    seed,
    acts,
    changes: Array.from({ length: random.below(5) }, () => planChange(random)),
    harms: Array.from({ length: 1 + random.below(3) }, () => planHarm(random, targets)).sort((a, b) => a.at - b.at),
  };
}

function planAct(random: Random, list: string, at: number, n: number, act: number): What {
  // One group a round, so that a deletion without an answer can be told from others.
  const group = GROUPS[n % GROUPS.length]!;
  const chance = random.below(20);
  if (chance < 3 && list !== BRIEF) return { do: 'undo', back: random.below(5), twice: random.below(4) === 0 };
  if (chance < 4 && list !== BRIEF) return { do: 'clear', group };
  const v1 = list !== BRIEF && random.below(5) === 0;
  // Of each batch of a list in a round the number of entries is another: that tells batches apart that nobody was told the id of.
  const entries = Array.from({ length: 2 + act }, (_, entry) => {
    const name = `${list} ${n}.${act}.${entry}`;
    return list === BRIEF ? briefEntry(random, name) : v1 ? event(random, at, name) : envelope(random, list, at, name, entry === 0);
  });
  return { do: 'post', v1, entries, once: random.below(4) === 0 };
}

const GROUPS = ['a', 'b', 'c'];
/** Longer than the clock is ever set forward. */
const LONG = 100 * 86_400;

/** Hosts and networks that meet one another. */
const target = (random: Random, at: number): string =>
  random.pick([
    () => `20.${at}.0.${random.below(32)}`,
    () => `20.${at}.0.${4 * random.below(8)}/30`,
    () => `20.${at}.0.${16 * random.below(2)}/28`,
    () => `2a00:${at + 1}::${random.below(8).toString(16)}`,
  ])();

function event(random: Random, at: number, name: string): Entry {
  const action = random.pick(['block', 'block', 'unblock']);
  return { type: 'access_rules', action, ip: target(random, at), expiration: LONG, description: name };
}

/** `isFirst`: it concerns the list, so that the batch tells of which it is (D38.1). */
function envelope(random: Random, list: string, at: number, reason: string, isFirst: boolean): Entry {
  const [chance, isDelete] = [random.below(10), random.below(4) === 0];
  const common = { op: isDelete ? 'delete' : 'upsert', reason, expires_in: LONG, labels: { group: random.pick(GROUPS) } };
  const action = random.pick(['block', 'block', 'block', 'allow']);
  if (chance < 2 && !isFirst) {
    const rule = { type: 'custom', action, expression: 'ip.src == 192.0.2.1' };
    return { ...common, kind: random.pick(['waf_rule', 'smart_firewall_rule']), rule_ref: `${list}-${random.below(6)}`, rule };
  }
  const ref = chance < 6 ? {} : { rule_ref: `r${random.below(12)}` };
  return { ...common, ...ref, kind: 'access_rule', rule: { target: { ip: target(random, at) }, action } };
}

/** Told by an instant, which the sender puts in: so many seconds from then on. Each is a rule of its own. */
function briefEntry(random: Random, name: string): Entry {
  const rule = { target: { ip: `20.9.${random.below(4)}.${random.below(256)}` } };
  return {
    kind: 'access_rule',
    op: 'upsert',
    rule_ref: name.replace(' ', '-'),
    reason: name,
    seconds: random.pick([300, 1800, 7200]),
    rule,
  };
}

const FEED: Readonly<Record<string, readonly unknown[]>> = {
  lists: [['north'], ['north', 'south'], ['north', 'brief', 'fixed']],
  family: [null, 'v4', 'v6'],
  subtract_allow: ['off', 'on', 'workspace'],
  max_entries: [null, null, 4],
};
const WORKSPACE: Readonly<Record<string, readonly unknown[]>> = {
  protect: [[], ['9.9.64.0/24'], ['9.9.128.0/18', '9.9.1.1/32']],
  subtract_allow: ['off', 'on'],
};

function planChange(random: Random): Change {
  if (random.below(3) === 0) return { source: Array.from({ length: 40 }, (_, n) => n).filter(() => random.below(3) > 0) };
  const set = random.pick(['feed', 'workspace'] as const);
  const fields = set === 'feed' ? FEED : WORKSPACE;
  const field = random.pick(Object.keys(fields));
  return { set, field, value: random.pick(fields[field]!) };
}

/** Of the stops of the only weir one in so many is so many times as long: up to a minute. */
const LONG_STOP = { of: 'weir', oneIn: 6, times: 20 };
const SECOND = 1000;
const HOUR = 3_600_000;
const OFFSETS = [0, 0, -1.5 * SECOND, 1.5 * SECOND, -60 * SECOND, 60 * SECOND, -HOUR, HOUR, 24 * HOUR];

function planHarm(random: Random, targets: Targets): Harm {
  const harm = random.pick(Object.keys(targets));
  const [at, to, ms] = [random.below(1500), random.pick(targets[harm]!), 100 + random.below(random.pick([300, 1500, 3000]))];
  if (harm === 'clock') return { at, harm, to, ms, off: random.pick(OFFSETS) };
  return { at, harm, to, ms: harm === 'pause' && to === LONG_STOP.of && ms % LONG_STOP.oneIn === 0 ? ms * LONG_STOP.times : ms };
}
