/** The rules of a backtest and what is kept of each while requests are read (SPEC D19.14). Plain data: it crosses threads. */
import type { ByteString } from '@weir/expression/bytes.ts';
import type { View } from '../recording/view.ts';

/** A rule, in the order of enforcement. */
export interface TestedRule {
  readonly name: string;
  readonly expression: string;
  readonly action: string;
}

/** A request that a rule matched, with query values and cookies masked. */
export interface Sample {
  /** Its place in the recording. */
  readonly at: number;
  /** Milliseconds since 1970. */
  readonly time: number | null;
  readonly client: string | null;
  readonly method: string | null;
  readonly target: string | null;
  readonly userAgent: string | null;
  readonly status: number | null;
}

/** What happened to one rule. */
export interface RuleCount {
  /** Requests that it would match if it stood alone. */
  matches: number;
  /** Requests that it decides: no rule before it matches. */
  decides: number;
  /** Requests that the agent would see as matching; as `matches` where the agent sees what was recorded. */
  atAgent: number;
  /** Evaluations that ended with an error. */
  errors: number;
  error: string | null;
  first: number | null;
  last: number | null;
  /** Of matching requests, which earlier rule decides them: by its index. */
  readonly taken: Map<number, number>;
  samples: Sample[];
  /** Of the operands of its outermost `and`, which were true of some request. */
  readonly seen: boolean[];
}

/** What came out of some requests. */
export interface Count {
  requests: number;
  /** Lines in which no request was found. */
  unread: number;
  unreadReason: string | null;
  first: number | null;
  last: number | null;
  readonly rules: RuleCount[];
  /** Requests by the action that decides them; `none` where no rule matches. */
  readonly actions: Map<string, number>;
  /** Matching requests of two rules at once, by `i * rules + j`; null when there are too many rules. */
  readonly both: Map<number, number> | null;
  /** What rules read and requests lack, with the number of requests. */
  readonly lacking: Map<string, number>;
  /** By minute: requests and those that a rule decides. */
  readonly minutes: Map<number, [requests: number, decided: number]>;
}

export interface TallyOptions {
  /** What decides: the request as recorded, or as the agent sees it. */
  readonly view: View;
  /** Country and ASN of an address (its bytes), for recordings that have none. */
  readonly geoOf?: ((address: ByteString) => GeoFields) | undefined;
}

/** What is known of an address. */
export interface GeoFields {
  readonly 'ip.src.country'?: string;
  readonly 'ip.src.asn'?: number;
}

/** Rules that are compared with each other for one containing another. */
const MOST_COMPARED = 500;

/** Samples kept of a rule, and the matches that they are chosen from. */
export const SAMPLES = 5;
export const SAMPLED = 1000;

export const emptyCount = (rules: number): Count => ({
  requests: 0,
  unread: 0,
  unreadReason: null,
  first: null,
  last: null,
  rules: Array.from({ length: rules }, () => ({
    matches: 0,
    decides: 0,
    atAgent: 0,
    errors: 0,
    error: null,
    first: null,
    last: null,
    taken: new Map(),
    samples: [],
    seen: [],
  })),
  actions: new Map(),
  both: rules <= MOST_COMPARED ? new Map() : null,
  lacking: new Map(),
  minutes: new Map(),
});

/** Adds what another thread has counted. */
export function mergeCounts(into: Count, from: Count): void {
  into.requests += from.requests;
  into.unread += from.unread;
  into.unreadReason ??= from.unreadReason;
  [into.first, into.last] = [least(into.first, from.first), most(into.last, from.last)];
  for (const [i, rule] of into.rules.entries()) mergeRule(rule, from.rules[i]);
  addAll(into.actions, from.actions);
  if (into.both !== null && from.both !== null) addAll(into.both, from.both);
  addAll(into.lacking, from.lacking);
  for (const [minute, [requests, decided]] of from.minutes) {
    const known = into.minutes.get(minute);
    into.minutes.set(minute, known === undefined ? [requests, decided] : [known[0] + requests, known[1] + decided]);
  }
}

function mergeRule(into: RuleCount, from: RuleCount): void {
  into.matches += from.matches;
  into.decides += from.decides;
  into.atAgent += from.atAgent;
  into.errors += from.errors;
  into.error ??= from.error;
  [into.first, into.last] = [least(into.first, from.first), most(into.last, from.last)];
  addAll(into.taken, from.taken);
  into.samples = [...into.samples, ...from.samples].sort((a, b) => a.at - b.at).slice(0, SAMPLES);
  for (const [i, seen] of from.seen.entries()) into.seen[i] = (into.seen[i] ?? false) || seen;
}

function addAll<K>(into: Map<K, number>, from: ReadonlyMap<K, number>): void {
  for (const [key, count] of from) into.set(key, (into.get(key) ?? 0) + count);
}

export const least = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : Math.min(a, b));
export const most = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : Math.max(a, b));
