/** Rules of a backtest and their counters (SPEC D19.14). Plain data: it crosses threads. */
import type { ByteString } from '@weir/expression/bytes.ts';
import type { View } from '../recording/view.ts';

/** In enforcement order. */
export interface TestedRule {
  readonly name: string;
  readonly expression: string;
  readonly action: string;
}

/** A matching request, with query values and cookies masked. */
export interface Sample {
  /** Position in the recording. */
  readonly at: number;
  /** Milliseconds since 1970. */
  readonly time: number | null;
  readonly client: string | null;
  readonly method: string | null;
  readonly target: string | null;
  readonly userAgent: string | null;
  readonly status: number | null;
}

export interface RuleCount {
  /** Requests matched by this rule alone. */
  matches: number;
  /** Requests decided by this rule: no earlier rule matches. */
  decides: number;
  /** Matches as seen by the agent; equals `matches` if the agent's view is the recorded one. */
  atAgent: number;
  /** Failed evaluations. */
  errors: number;
  error: string | null;
  first: number | null;
  last: number | null;
  /** Matches decided by earlier rules, by rule index. */
  readonly taken: Map<number, number>;
  samples: Sample[];
  /** Operands of the outermost `and` that were true at least once. */
  readonly seen: boolean[];
}

export interface Count {
  requests: number;
  /** Lines without a request. */
  unread: number;
  unreadReason: string | null;
  first: number | null;
  last: number | null;
  readonly rules: RuleCount[];
  /** Requests by deciding action; `none` if no rule matches. */
  readonly actions: Map<string, number>;
  /** Requests matched by two rules, by `i * rules + j`; null if there are too many rules. */
  readonly both: Map<number, number> | null;
  /** Missing fields used by rules, with the number of requests. */
  readonly lacking: Map<string, number>;
  /** By minute. */
  readonly minutes: Map<number, [requests: number, decided: number]>;
}

export interface TallyOptions {
  /** View for decisions: as recorded, or as seen by the agent. */
  readonly view: View;
  /** Country and ASN of an address (bytes), for recordings without them. */
  readonly geoOf?: ((address: ByteString) => GeoFields) | undefined;
}

export interface GeoFields {
  readonly 'ip.src.country'?: string;
  readonly 'ip.src.asn'?: number;
}

/** Maximum rules for pairwise comparison. */
const MOST_COMPARED = 500;

/** Samples per rule, and candidate matches. */
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

/** Adds the counters of another thread. */
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
