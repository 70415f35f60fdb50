/**
 * A match anywhere in a value: by bytes, in linear time for any pattern. Its position is irrelevant, so groups and greediness do not
 * matter.
 */
import { type ByteString, isAscii } from '../bytes.ts';
import { compileSearch } from '../evaluate/search.ts';
import { checkRegex } from './check.ts';
import { lazyDfa } from './run/lazy-dfa.ts';
import { isLocal } from './run/look.ts';
import { UnknownProperty } from './run/members.ts';
import { type Program, programOf, shortest, TooLarge, takesCharacters, trimmed } from './run/program.ts';
import { simulate } from './run/simulate.ts';
import type { Tree } from './tree.ts';

export type Matcher = (value: ByteString) => boolean;

/** States of a runnable pattern. */
const MAX_STATES = 100_000;

/** Takes valid patterns (`checkRegex`); returns a text if one cannot run. */
export function compileMatcher(pattern: string): Matcher | string {
  const { tree, fault } = checkRegex(pattern);
  if (tree === undefined) return fault!;
  const least = shortest(tree);
  try {
    const matcher = plainMatcher(tree) ?? automaton(tree);
    // A shorter value cannot match.
    return least < 2 ? matcher : (value) => value.length >= least && matcher(value);
  } catch (error) {
    if (error instanceof TooLarge) return 'the regular expression is too large to be run';
    if (error instanceof UnknownProperty) return `the Unicode property ${error.message} cannot be run`;
    throw error;
  }
}

function automaton(tree: Tree): Matcher {
  const useful = trimmed(tree);
  const full = runner(programOf(useful, MAX_STATES));
  if (!takesCharacters(useful)) return full;
  const ascii = runner(programOf(useful, MAX_STATES, true));
  return (value) => (isAscii(value) ? ascii(value) : full(value));
}

const runner = (program: Program): Matcher => dfaOf(program) ?? ((value) => simulate(program, value));

function dfaOf(program: Program): Matcher | undefined {
  // Assertions are bits of one word.
  if (program.assertions.length > 30 || !program.assertions.every(isLocal)) return undefined;
  try {
    return lazyDfa(program);
  } catch (error) {
    if (error instanceof TooLarge) return undefined;
    throw error;
  }
}

/** Plain text, optionally anchored, needs no automaton. */
function plainMatcher(tree: Tree): Matcher | undefined {
  const items = tree.kind === 'sequence' ? tree.items : [tree];
  const isEdge = (item: Tree | undefined, edge: 'start' | 'end') => item?.kind === 'assertion' && item.assertion === edge;
  const [atStart, atEnd] = [isEdge(items[0], 'start'), isEdge(items.at(-1), 'end')];
  const inner = items.slice(atStart ? 1 : 0, atEnd ? -1 : undefined);
  let text = '';
  for (const item of inner.flatMap((each) => (each.kind === 'sequence' ? each.items : [each]))) {
    if (item.kind !== 'byte') return undefined;
    text += String.fromCharCode(item.byte);
  }
  if (atStart && atEnd) return (value) => value === text;
  if (atStart) return (value) => value.startsWith(text);
  if (atEnd) return (value) => value.endsWith(text);
  const find = compileSearch(text);
  return (value) => find(value, 0) !== -1;
}
