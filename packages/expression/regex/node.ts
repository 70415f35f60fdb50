import type { ByteString } from '../bytes.ts';
import { type Assertion, bytesTree, EMPTY_TREE, type Tree } from './tree.ts';

/**
 * Properties of a part of a pattern: its syntax tree with its height, and the estimated size of the engine's automaton. A tree may be very
 * deep before its height is checked, so nothing recurses over it until then.
 */
export interface Node {
  readonly tree: Tree;
  /** Levels of the syntax tree above the leaves, as the engine counts them. */
  readonly height: number;
  /** Estimated size of the automaton; can be Infinity. */
  readonly bytes: number;
  /** Ranges of a character class; 0 for anything else. */
  readonly ranges: number;
  /** The empty string may match. */
  readonly nullable: boolean;
  /** Only the empty string matches: an assertion or an empty group. */
  readonly empty: boolean;
  /** Flags such as `(?i)`; they cannot be repeated. */
  readonly directive: boolean;
}

export const MAX_HEIGHT = 250;
/** The engine's limit for an automaton. */
export const MAX_BYTES = 10 * 1024 * 1024;

// Sizes in the engine's automaton, in bytes: a state, a transition of a class, a branch.
const STATE = 32;
const TRANSITION = 8;
const BRANCH = 4;
const MAX_RANGES = 128;

function leaf(tree: Tree, bytes: number, ranges: number, empty: boolean): Node {
  return { tree, height: 0, bytes, ranges, nullable: empty, empty, directive: false };
}

const EMPTY = leaf(EMPTY_TREE, STATE, 0, true);
/** Flags such as `(?i)`. */
export const DIRECTIVE: Node = { ...EMPTY, bytes: 0, directive: true };

/** Such as `^` or `\b`. */
export function assertion(assertion: Assertion): Node {
  return { ...EMPTY, tree: { kind: 'assertion', assertion } };
}

export function literal(bytes: ByteString): Node {
  return leaf(bytesTree(bytes), bytes.length * STATE, bytes.length === 1 ? 1 : 0, false);
}

export function charClass(tree: Tree, ranges: number): Node {
  const most = Math.min(Math.max(ranges, 1), MAX_RANGES);
  return leaf(tree, 2 * STATE + most * TRANSITION, most, false);
}

/** Includes characters beyond ASCII; `bytes`: approximate size of its automaton. */
export function unicodeClass(tree: Tree, bytes: number): Node {
  return leaf(tree, bytes, 0, false);
}

/** Adds a level. */
export function nest(node: Node, height = node.height + 1): Node {
  return { ...node, height, directive: false };
}

export function capture(node: Node): Node {
  return { ...nest(node), bytes: node.bytes + 2 * STATE, ranges: 0 };
}

/** `node{min,max}`; `max` can be Infinity. */
export function repeat(node: Node, min: number, max: number): Node {
  // Repeating the empty string adds nothing.
  const [least, most] = node.empty ? [Math.min(min, 1), Math.min(max, 1)] : [min, max];
  return {
    tree: most === 0 ? EMPTY_TREE : { kind: 'repeat', item: node.tree, min: least, max: most },
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

/** Its last part is separate, because a repetition may follow. */
export interface Sequence {
  count: number;
  last: Node;
  /** All parts except the last. */
  readonly trees: Tree[];
  height: number;
  bytes: number;
  nullable: boolean;
  empty: boolean;
}

export function startSequence(): Sequence {
  return { count: 0, last: EMPTY, trees: [], height: 0, bytes: 0, nullable: true, empty: true };
}

export function append(sequence: Sequence, node: Node): void {
  if (sequence.count > 0) {
    const { last } = sequence;
    sequence.trees.push(last.tree);
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
    tree: { kind: 'sequence', items: [...sequence.trees, last.tree] },
    height: 1 + Math.max(sequence.height, last.height),
    bytes: sequence.bytes + last.bytes,
    ranges: 0,
    nullable: sequence.nullable && last.nullable,
    empty: sequence.empty && last.empty,
    directive: false,
  };
}

export interface Alternation {
  readonly trees: Tree[];
  height: number;
  bytes: number;
  /** 0 unless all branches are classes. */
  ranges: number;
  nullable: boolean;
  empty: boolean;
}

export function startAlternation(first: Node): Alternation {
  return {
    trees: [first.tree],
    height: first.height,
    bytes: first.bytes,
    ranges: first.ranges,
    nullable: first.nullable,
    empty: first.empty,
  };
}

export function addBranch(alternation: Alternation, node: Node): void {
  alternation.trees.push(node.tree);
  alternation.height = Math.max(alternation.height, node.height);
  alternation.bytes += node.bytes;
  alternation.ranges = alternation.ranges === 0 || node.ranges === 0 ? 0 : alternation.ranges + node.ranges;
  alternation.nullable ||= node.nullable;
  alternation.empty &&= node.empty;
}

export function finishAlternation(alternation: Alternation): Node {
  const height = alternation.height + 1;
  const { trees: items, nullable, empty } = alternation;
  const tree: Tree = { kind: 'alternation', items };
  // If all branches are classes, the engine makes one class of them.
  if (alternation.ranges > 0) return nest(charClass(tree, alternation.ranges), height);
  return { tree, height, bytes: alternation.bytes + 2 * STATE + items.length * BRANCH, ranges: 0, nullable, empty, directive: false };
}
