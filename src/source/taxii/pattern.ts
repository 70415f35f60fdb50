/** The unambiguous part of STIX 2.1 patterns (SPEC D23.32). */
import { formatNetwork } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';

/** Networks with reasons for skipping parts. */
export interface PatternNetworks {
  readonly networks: readonly string[];
  readonly passed: readonly string[];
}

const MOST_CHARACTERS = 100_000;
const MOST_DEPTH = 32;

/** Paths with their family; 0: either. */
const HOSTS: Readonly<Record<string, 0 | 4 | 6>> = {
  'ipv4-addr:': 4,
  'ipv6-addr:': 6,
  'network-traffic:src_ref.': 0,
  'network-traffic:dst_ref.': 0,
};
/** Behind a `…_ref`, with their family. */
const TYPES = new Map<string, 4 | 6>([
  ['ipv4-addr', 4],
  ['ipv6-addr', 6],
]);
const PROPERTY = /^(ipv[46]-addr:|network-traffic:(?:src|dst)_ref\.)(value)$|^(network-traffic:(?:src|dst)_ref\.)(type)$/;

/** An AND of ORs has their product. */
const MOST_ALTERNATIVES = 10_000;

/** An unclosed quote is one token to the end: otherwise quadratic time. */
const TOKEN =
  /\s+|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|('(?:[^'\\]|\\[\s\S]?)*(?:'|$)|[[\](),]|==?|!=|<>|[<>]=?|[\w-]+(?::[\w.\-'[\]*]+)?|[^\s])/gy;
const PATH = /^[a-z][\w-]*:/i;
/** Words combining several conditions. */
const TOGETHER: Readonly<Record<string, string>> = {
  AND: 'AND: an address together with something else',
  FOLLOWEDBY: 'FOLLOWEDBY: an address and then something else',
  WITHIN: 'WITHIN: an address within a time',
  REPEATS: 'REPEATS: an address several times',
  START: 'START: an address between two instants',
  NOT: 'NOT: all but an address',
  EXISTS: 'EXISTS: any address',
};
const OTHER_OPERATORS = new Set(['!=', '<>', '<', '>', '<=', '>=', 'LIKE', 'MATCHES', 'ISSUPERSET']);
const NO_PATTERN = 'a pattern that cannot be read';

class Passed {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Value or type of a host, or of another object (`is`: its type). */
interface Fact {
  readonly of: string | undefined;
  readonly is?: string;
  readonly value?: string;
  readonly type?: string;
}

const NONE: readonly string[] = [];

/** Each alternative of an `OR` counts separately. Any other combination skips the pattern. */
export function networksOfPattern(pattern: string): PatternNetworks {
  const networks = new Set<string>();
  const passed = new Set<string>();
  try {
    if (pattern.length > MOST_CHARACTERS) throw new Passed('a pattern that is too long');
    readAll(tokensOf(pattern), networks, passed);
    return { networks: [...networks], passed: passed.size === 0 ? NONE : [...passed] };
  } catch (error) {
    if (error instanceof Passed) return { networks: [], passed: [error.reason] };
    throw error;
  }
}

const tokensOf = (pattern: string): string[] => [...pattern.matchAll(TOKEN)].flatMap(([, token]) => (token === undefined ? [] : [token]));

function readAll(tokens: readonly string[], networks: Set<string>, passed: Set<string>): void {
  let at = 0;
  const next = () => tokens[at++] ?? '';
  const take = (token: string) => tokens[at] === token && ++at > 0;
  const expect = (token: string) => {
    if (take(token)) return;
    throw new Passed(TOGETHER[tokens[at] ?? ''] ?? NO_PATTERN);
  };

  function anyOf<T>(one: () => T[], depth: number): T[] {
    if (depth > MOST_DEPTH) throw new Passed('a pattern with too many parentheses');
    const found: T[] = [];
    do for (const each of one()) found.push(each);
    while (take('OR'));
    return found;
  }

  function observations(depth: number): Fact[][] {
    return anyOf(() => {
      const end = take('(') ? ')' : ']';
      if (end === ']') expect('[');
      const found = end === ')' ? observations(depth + 1) : comparisons(0);
      expect(end);
      return found;
    }, depth);
  }

  function comparisons(depth: number): Fact[][] {
    return anyOf(() => {
      let all = factor(depth);
      while (take('AND')) {
        const more = factor(depth);
        if (all.length * more.length > MOST_ALTERNATIVES) throw new Passed('a pattern with too many alternatives');
        all = all.flatMap((facts) => more.map((others) => [...facts, ...others]));
      }
      return all;
    }, depth);
  }

  function factor(depth: number): Fact[][] {
    if (!take('(')) return comparison();
    const found = comparisons(depth + 1);
    expect(')');
    return found;
  }

  function comparison(): Fact[][] {
    const path = next();
    if (!PATH.test(path)) throw new Passed(TOGETHER[path] ?? NO_PATTERN);
    const operator = next();
    if (operator === 'NOT' || operator === 'EXISTS') throw new Passed(TOGETHER[operator]!);
    const values = operator === 'IN' ? list() : [next()];
    const [, host, value, reference, type] = PROPERTY.exec(path) ?? [];
    const property = value ?? type;
    if (property === undefined) return [[{ of: undefined, is: path.split(':')[0]!.slice(0, 40) }]];
    if (OTHER_OPERATORS.has(operator)) throw new Passed(`the operator ${operator}`);
    if (!['=', '==', 'IN', 'ISSUBSET'].includes(operator)) throw new Passed(NO_PATTERN);
    return values.map((each) => {
      const text = /^'([\s\S]*)'$/.exec(each)?.[1];
      if (text === undefined) throw new Passed(NO_PATTERN);
      return [{ of: (host ?? reference)!, [property]: text.trim() }];
    });
  }

  function list(): string[] {
    const values: string[] = [];
    expect('(');
    do values.push(next());
    while (take(','));
    expect(')');
    return values;
  }

  const found = observations(0);
  if (at < tokens.length) throw new Passed(TOGETHER[tokens[at]!] ?? NO_PATTERN);
  for (const facts of found) {
    const network = networkOf(facts);
    if (typeof network === 'string') passed.add(network);
    else networks.add(formatNetwork(network));
  }
}

/** Or the reason for none. A type with a value of the same reference qualifies the value. */
function networkOf(facts: readonly Fact[]): Network | string {
  const [first, ...others] = facts;
  if (first === undefined) throw new Passed(NO_PATTERN);
  if (first.of === undefined && others.length === 0) return `another object: ${first.is}`;
  const types = facts.flatMap(({ type }) => type ?? []);
  const values = facts.flatMap(({ value }) => value ?? []);
  if (first.of === undefined || others.some(({ of }) => of !== first.of) || values.length > 1) throw new Passed(TOGETHER.AND!);
  if (values.length === 0) return 'a type without an address';
  const other = types.find((type) => !TYPES.has(type));
  if (other !== undefined) return `another object: ${other.slice(0, 40)}`;
  const network = parseNetwork(values[0]!);
  if (typeof network === 'string') return 'a value that is no network';
  const families = [HOSTS[first.of]!, ...types.map((type) => TYPES.get(type)!)];
  return families.every((family) => family === 0 || family === network.family) ? network : 'a value of the other family';
}
