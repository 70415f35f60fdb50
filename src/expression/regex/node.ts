/**
 * What the checker keeps of a piece of pattern: how deep its syntax tree is and about how many bytes
 * the engine's automaton takes for it. No tree is kept, so nothing can recurse over one.
 */
export interface Node {
  /** Levels of syntax tree above the leaves, as the engine counts them. */
  readonly height: number;
  /** Estimated bytes of automaton; Infinity is possible. */
  readonly bytes: number;
  /** Ranges of the character class that it is, 0 when it is none. */
  readonly ranges: number;
  /** It can match nothing. */
  readonly nullable: boolean;
  /** It matches nothing else: an assertion, an empty group. */
  readonly empty: boolean;
  /** Flags such as `(?i)`, which no repetition can follow. */
  readonly directive: boolean;
}

/** The engine refuses deeper patterns. */
export const MAX_HEIGHT = 250;
/** And automata above this size. */
export const MAX_BYTES = 10 * 1024 * 1024;

// A state of the engine's automaton, a transition of a class, a branch.
const STATE = 32;
const TRANSITION = 8;
const BRANCH = 4;
const MAX_RANGES = 128;

function leaf(bytes: number, ranges: number, empty: boolean): Node {
  return { height: 0, bytes, ranges, nullable: empty, empty, directive: false };
}

const EMPTY = leaf(STATE, 0, true);
export const ASSERTION = EMPTY;
export const BYTE = leaf(STATE, 1, false);
/** An ASCII letter that matches both cases. */
export const FOLDED_BYTE = charClass(2);
export const DIRECTIVE: Node = { ...EMPTY, bytes: 0, directive: true };

/** A character of so many bytes. */
export function literal(bytes: number): Node {
  return bytes === 1 ? BYTE : leaf(bytes * STATE, 0, false);
}

/** A set of so many ranges of bytes. */
export function charClass(ranges: number): Node {
  const most = Math.min(Math.max(ranges, 1), MAX_RANGES);
  return leaf(2 * STATE + most * TRANSITION, most, false);
}

/** A set of characters beyond ASCII, which the engine spells out in bytes. */
export function unicodeClass(bytes: number): Node {
  return leaf(bytes, 0, false);
}

export function nest(node: Node, height = node.height + 1): Node {
  return { ...node, height, directive: false };
}

export function capture(node: Node): Node {
  return { ...nest(node), bytes: node.bytes + 2 * STATE, ranges: 0 };
}

/** `node{min,max}`; max may be Infinity. */
export function repeat(node: Node, min: number, max: number): Node {
  // What matches only the empty string gains nothing from being repeated.
  const [least, most] = node.empty ? [Math.min(min, 1), Math.min(max, 1)] : [min, max];
  return {
    height: node.height + 1,
    bytes: repeatedBytes(node, least, most),
    ranges: 0,
    nullable: least === 0 || node.nullable,
    empty: node.empty || most === 0,
    directive: false,
  };
}

function repeatedBytes(node: Node, min: number, max: number): number {
  const choice = STATE + 2 * BRANCH;
  if (max === 0) return STATE;
  if (max === Number.POSITIVE_INFINITY) return Math.max(1, min) * node.bytes + choice + (min === 0 && node.nullable ? choice + STATE : 0);
  return min * node.bytes + (max === min ? 0 : STATE + (max - min) * (node.bytes + choice));
}

/** A sequence under construction; its last piece is kept apart because a repetition may follow it. */
export interface Sequence {
  count: number;
  last: Node;
  /** Over all pieces but the last. */
  height: number;
  bytes: number;
  nullable: boolean;
  empty: boolean;
}

export function startSequence(): Sequence {
  return { count: 0, last: EMPTY, height: 0, bytes: 0, nullable: true, empty: true };
}

export function append(sequence: Sequence, node: Node): void {
  if (sequence.count > 0) {
    const { last } = sequence;
    sequence.height = Math.max(sequence.height, last.height);
    sequence.bytes += last.bytes;
    sequence.nullable &&= last.nullable;
    sequence.empty &&= last.empty;
  }
  sequence.count++;
  sequence.last = node;
}

export function finishSequence(sequence: Sequence): Node {
  const { last } = sequence;
  if (sequence.count <= 1) return last;
  return {
    height: 1 + Math.max(sequence.height, last.height),
    bytes: sequence.bytes + last.bytes,
    ranges: 0,
    nullable: sequence.nullable && last.nullable,
    empty: sequence.empty && last.empty,
    directive: false,
  };
}

/** Branches under construction; `count` 0 until there is a second one. */
export interface Alternation {
  count: number;
  height: number;
  bytes: number;
  /** 0 once a branch is no class. */
  ranges: number;
  nullable: boolean;
  empty: boolean;
}

export function startAlternation(first: Node): Alternation {
  return { count: 1, height: first.height, bytes: first.bytes, ranges: first.ranges, nullable: first.nullable, empty: first.empty };
}

export function addBranch(alternation: Alternation, node: Node): void {
  alternation.count++;
  alternation.height = Math.max(alternation.height, node.height);
  alternation.bytes += node.bytes;
  alternation.ranges = alternation.ranges === 0 || node.ranges === 0 ? 0 : alternation.ranges + node.ranges;
  alternation.nullable ||= node.nullable;
  alternation.empty &&= node.empty;
}

export function finishAlternation(alternation: Alternation): Node {
  const height = alternation.height + 1;
  // The engine makes one class of branches that are classes.
  if (alternation.ranges > 0) return nest(charClass(alternation.ranges), height);
  const { count, nullable, empty } = alternation;
  return { height, bytes: alternation.bytes + 2 * STATE + count * BRANCH, ranges: 0, nullable, empty, directive: false };
}
