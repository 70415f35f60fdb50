/** The networks that a STIX 2.1 pattern means, of the part of the language that can mean nothing else (SPEC D23.32). */
import { formatNetwork } from '@weir/network/format.ts';
import { parseNetwork } from '@weir/network/parse.ts';

/** What a pattern means: networks in canonical text, and why parts of it, or all of it, are passed over. */
export interface PatternNetworks {
  readonly networks: readonly string[];
  readonly passed: readonly string[];
}

/** Characters of a pattern, and nested parentheses, at most. */
const MOST_CHARACTERS = 100_000;
const MOST_DEPTH = 32;

/** Properties that hold the address of a host, and its family; 0: either. */
const ADDRESSES: Readonly<Record<string, 0 | 4 | 6>> = {
  'ipv4-addr:value': 4,
  'ipv6-addr:value': 6,
  'network-traffic:src_ref.value': 0,
  'network-traffic:dst_ref.value': 0,
};

/** What is never closed is one token to the end: each would be looked for again from behind it otherwise. */
const TOKEN =
  /\s+|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|('(?:[^'\\]|\\[\s\S]?)*(?:'|$)|[[\](),]|==?|!=|<>|[<>]=?|[\w-]+(?::[\w.\-'[\]*]+)?|[^\s])/gy;
const PATH = /^[a-z][\w-]*:/i;
/** Words that make more than one thing have to be there. */
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

/** Why a whole pattern is passed over. */
class Passed {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

/** There are many patterns of which nothing is passed over. */
const NONE: readonly string[] = [];

/** Reads a pattern. Alternatives (`OR`) count each by itself; where anything else is asked for, the whole pattern is passed over. */
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

  /** `one OR one …`, each in parentheses where it may be. */
  function alternatives(one: () => void, depth: number): void {
    if (depth > MOST_DEPTH) throw new Passed('a pattern with too many parentheses');
    do {
      if (take('(')) {
        alternatives(one, depth + 1);
        expect(')');
      } else one();
    } while (take('OR'));
  }

  function observation(): void {
    expect('[');
    alternatives(comparison, 0);
    expect(']');
  }

  function comparison(): void {
    const path = next();
    if (!PATH.test(path)) throw new Passed(TOGETHER[path] ?? NO_PATTERN);
    const operator = next();
    if (operator === 'NOT' || operator === 'EXISTS') throw new Passed(TOGETHER[operator]!);
    const values = operator === 'IN' ? list() : [next()];
    const family = Object.hasOwn(ADDRESSES, path) ? ADDRESSES[path] : undefined;
    if (family === undefined) passed.add(`another object: ${path.split(':')[0]!.slice(0, 40)}`);
    else if (OTHER_OPERATORS.has(operator)) throw new Passed(`the operator ${operator}`);
    else if (!['=', '==', 'IN', 'ISSUBSET'].includes(operator)) throw new Passed(NO_PATTERN);
    else for (const value of values) network(value, family);
  }

  function list(): string[] {
    const values: string[] = [];
    expect('(');
    do values.push(next());
    while (take(','));
    expect(')');
    return values;
  }

  function network(value: string, family: 0 | 4 | 6): void {
    const text = /^'([\s\S]*)'$/.exec(value)?.[1];
    if (text === undefined) throw new Passed(NO_PATTERN);
    const found = parseNetwork(text.trim());
    if (typeof found === 'string') passed.add('a value that is no network');
    else if (family !== 0 && found.family !== family) passed.add('a value of the other family');
    else networks.add(formatNetwork(found));
  }

  alternatives(observation, 0);
  if (at < tokens.length) throw new Passed(TOGETHER[tokens[at]!] ?? NO_PATTERN);
}
