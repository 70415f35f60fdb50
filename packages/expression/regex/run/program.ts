/** A nondeterministic automaton over bytes (Thompson). */
import { type Assertion, EMPTY_TREE, type Tree } from '../tree.ts';
import { type CodeSet, intersection, rangesOf, union } from './code-set.ts';
import { membersOf } from './members.ts';
import { utf8Ranges } from './utf8.ts';

/** Kinds of states. */
export const MATCH = 0;
/** Reads a byte of a set and continues. */
export const BYTES = 1;
/** Continues in both of two states. */
export const SPLIT = 2;
/** Continues if an assertion is true. */
export const ASSERT = 3;

/** `next[i]`: successor of state i; `other[i]`: the second successor of a split, or the index of a set or an assertion. */
export interface Program {
  readonly kinds: Uint8Array;
  readonly next: Int32Array;
  readonly other: Int32Array;
  readonly start: number;
  /** 1 for each byte in the set. */
  readonly sets: readonly Uint8Array[];
  readonly assertions: readonly Assertion[];
}

/** Too many states: a valid pattern that cannot run here. */
export class TooLarge extends Error {}

/** At most `limit` states; `ascii`: only for values of ASCII, with characters as bytes. Throws `TooLarge` and `UnknownProperty`. */
export function programOf(tree: Tree, limit: number, ascii = false): Program {
  const builder = new Builder(limit, ascii);
  const match = builder.add(MATCH, 0, 0);
  return builder.finish(builder.build(tree, match));
}

/** Builds from the end to the start: each part is given its successor. */
class Builder {
  readonly #limit: number;
  readonly #ascii: boolean;
  readonly #kinds: number[] = [];
  readonly #next: number[] = [];
  readonly #other: number[] = [];
  readonly #sets: Uint8Array[] = [];
  readonly #setNumbers = new Map<string, number>();
  readonly #members = new Map<object, CodeSet>();
  readonly #assertions: Assertion[] = [];

  constructor(limit: number, ascii: boolean) {
    this.#limit = limit;
    this.#ascii = ascii;
  }

  add(kind: number, next: number, other: number): number {
    if (this.#kinds.length >= this.#limit) throw new TooLarge();
    this.#kinds.push(kind);
    this.#next.push(next);
    this.#other.push(other);
    return this.#kinds.length - 1;
  }

  finish(start: number): Program {
    return {
      kinds: Uint8Array.from(this.#kinds),
      next: Int32Array.from(this.#next),
      other: Int32Array.from(this.#other),
      start,
      sets: this.#sets,
      assertions: this.#assertions,
    };
  }

  /** The first state of `tree`, with successor `next`. */
  build(tree: Tree, next: number): number {
    switch (tree.kind) {
      case 'empty':
        return next;
      case 'byte':
        return this.#bytes([tree.byte, tree.byte], next);
      case 'set':
        return this.#set(tree, next);
      case 'assertion':
        return this.add(ASSERT, next, this.#assertion(tree.assertion));
      case 'sequence':
        return tree.items.reduceRight((to, item) => this.build(item, to), next);
      case 'alternation':
        return this.#alternation(tree.items, next);
      case 'repeat':
        return this.#repeat(tree, next);
    }
  }

  #repeat({ item, min, max }: Tree & { kind: 'repeat' }, next: number): number {
    let to = next;
    let least = min;
    if (max === Number.POSITIVE_INFINITY) {
      const loop = this.add(SPLIT, next, next);
      const body = this.build(item, loop);
      this.#other[loop] = body;
      to = min === 0 ? loop : body;
      least = Math.max(min - 1, 0);
    } else for (let i = min; i < max; i++) to = this.add(SPLIT, next, this.build(item, to));
    for (let i = 0; i < least; i++) to = this.build(item, to);
    return to;
  }

  /** Branches of one byte form one set. */
  #alternation(items: readonly Tree[], next: number): number {
    const single: CodeSet[] = [];
    const others: Tree[] = [];
    for (const item of items) {
      if (item.kind === 'byte') single.push([item.byte, item.byte]);
      else if (item.kind === 'set' && !item.unicode) single.push(this.#membersOf(item));
      else others.push(item);
    }
    const starts = others.map((item) => this.build(item, next));
    if (single.length > 0) starts.push(this.#bytes(union(...single), next));
    return this.#either(starts);
  }

  #either(starts: readonly number[]): number {
    return starts.reduceRight((rest, start) => this.add(SPLIT, rest, start));
  }

  #set(tree: Tree & { kind: 'set' }, next: number): number {
    const members = this.#membersOf(tree);
    if (!tree.unicode || members.every((code) => code < 0x80)) return this.#bytes(members, next);
    // Characters share the states of their last bytes.
    const tails = new Map<string, number>();
    const starts: number[] = [];
    const ascii = [...rangesOf(members)].flatMap(([first, last]) => (first < 0x80 ? [first, Math.min(last, 0x7f)] : []));
    if (ascii.length > 0) starts.push(this.#bytes(ascii, next));
    for (const [first, last] of rangesOf(members)) {
      for (const sequence of utf8Ranges(Math.max(first, 0x80), last)) {
        let to = next;
        let start = next;
        for (const [from, until] of sequence.toReversed()) {
          const key = `${from} ${until} ${to}`;
          start = tails.get(key) ?? this.#bytes([from, until], to);
          tails.set(key, start);
          to = start;
        }
        if (!starts.includes(start)) starts.push(start);
      }
    }
    // A lone surrogate is no character: the set is empty.
    return starts.length === 0 ? this.#bytes([], next) : this.#either(starts);
  }

  #membersOf(tree: Tree & { kind: 'set' }): CodeSet {
    let members = this.#members.get(tree);
    if (members === undefined) {
      members = membersOf(tree.set, tree.unicode);
      if (this.#ascii) members = intersection(members, [0, 0x7f]);
      this.#members.set(tree, members);
    }
    return members;
  }

  #bytes(members: CodeSet, next: number): number {
    const key = members.join();
    let number = this.#setNumbers.get(key);
    if (number === undefined) {
      const set = new Uint8Array(256);
      for (const [first, last] of rangesOf(members)) set.fill(1, first, last + 1);
      number = this.#sets.push(set) - 1;
      this.#setNumbers.set(key, number);
    }
    return this.add(BYTES, next, number);
  }

  #assertion(written: Assertion): number {
    const assertion = (this.#ascii ? written.replace('unicode ', '') : written) as Assertion;
    const known = this.#assertions.indexOf(assertion);
    return known === -1 ? this.#assertions.push(assertion) - 1 : known;
  }
}

/** Whether it matches characters instead of bytes. */
export function takesCharacters(tree: Tree): boolean {
  switch (tree.kind) {
    case 'set':
      return tree.unicode;
    case 'assertion':
      return tree.assertion.startsWith('unicode ');
    case 'sequence':
    case 'alternation':
      return tree.items.some(takesCharacters);
    case 'repeat':
      return takesCharacters(tree.item);
    default:
      return false;
  }
}

/** Without optional repetitions at both ends: they do not affect whether a match exists. */
export function trimmed(tree: Tree): Tree {
  return trimEnd(trimEnd(tree, 'first'), 'last');
}

function trimEnd(tree: Tree, end: 'first' | 'last'): Tree {
  if (tree.kind === 'repeat') {
    if (tree.min === 0 || isOptional(tree.item)) return EMPTY_TREE;
    return tree.min === 1 ? trimEnd(tree.item, end) : { ...tree, max: tree.min };
  }
  if (tree.kind !== 'sequence') return tree;
  const items = [...tree.items];
  const place = end === 'first' ? 0 : -1;
  while (items.length > 0) {
    const item = trimEnd(items.at(place)!, end);
    if (item.kind !== 'empty') {
      items[end === 'first' ? 0 : items.length - 1] = item;
      break;
    }
    items.splice(place, 1);
  }
  return items.length === 0 ? EMPTY_TREE : items.length === 1 ? items[0] : { kind: 'sequence', items };
}

/** Whether it matches the empty string at every position. */
function isOptional(tree: Tree): boolean {
  switch (tree.kind) {
    case 'empty':
      return true;
    case 'sequence':
      return tree.items.every(isOptional);
    case 'alternation':
      return tree.items.some(isOptional);
    case 'repeat':
      return tree.min === 0 || isOptional(tree.item);
    default:
      return false;
  }
}

/** Shortest match, bytes. */
export function shortest(tree: Tree): number {
  switch (tree.kind) {
    case 'byte':
    case 'set':
      return 1;
    case 'sequence':
      return tree.items.reduce((sum, item) => sum + shortest(item), 0);
    case 'alternation':
      return Math.min(...tree.items.map(shortest));
    case 'repeat':
      return tree.min * shortest(tree.item);
    default:
      return 0;
  }
}
