/** As the enforcement engine: Rust's regex syntax with Unicode off. Linear in the pattern's length, without recursion or matching. */
import { encodeCodePoint } from '../bytes.ts';
import { isWhiteSpace } from '../white-space.ts';
import { lexClass } from './class.ts';
import { type Atom, lexEscape } from './escape.ts';
import { lexGroup } from './group.ts';
import {
  type Alternation,
  addBranch,
  append,
  assertion,
  capture,
  charClass,
  DIRECTIVE,
  finishAlternation,
  finishSequence,
  literal,
  MAX_BYTES,
  MAX_HEIGHT,
  type Node,
  nest,
  repeat,
  type Sequence,
  startAlternation,
  startSequence,
  unicodeClass,
} from './node.ts';
import { atEnd, bump, bumpSpace, type Flags, flagsOf, peek, refuse, type Scanner, skipIgnored } from './scanner.ts';
import { range, type SetTree, type Tree } from './tree.ts';

interface RegexVerdict {
  /** On one line; null if valid. */
  readonly fault: string | null;
  /** Undefined if invalid. */
  readonly tree: Tree | undefined;
  readonly steps: number;
}

/** With the sequence and alternation of the innermost group. */
interface Parts {
  readonly groups: OpenGroup[];
  sequence: Sequence;
  alternation: Alternation | null;
}

/** With the outer state: the parts before it and the flags. */
interface OpenGroup {
  readonly start: number;
  readonly capturing: boolean;
  readonly flags: Flags;
  readonly sequence: Sequence;
  readonly alternation: Alternation | null;
}

const NO_FLAGS: Flags = { verbose: false, unicode: false, fold: false, multiLine: false, dotAll: false, crlf: false };

/** Never throws. */
export function checkRegex(pattern: string): RegexVerdict {
  const s: Scanner = { text: pattern, pos: 0, steps: 0, fault: null, ...NO_FLAGS, names: new Set() };
  const node = read(s);
  if (node !== null && node.height > MAX_HEIGHT) s.fault = `the regular expression is nested deeper than ${MAX_HEIGHT} levels`;
  else if (node !== null && node.bytes > MAX_BYTES)
    s.fault = 'the regular expression is too large once its repetitions are written out (10 MiB)';
  return { fault: s.fault, steps: s.steps + 1, tree: s.fault === null ? node?.tree : undefined };
}

function read(s: Scanner): Node | null {
  const parts: Parts = { groups: [], sequence: startSequence(), alternation: null };
  for (skipIgnored(s); !atEnd(s); skipIgnored(s)) if (!readPart(s, parts)) return null;
  const open = parts.groups.at(-1);
  return open === undefined ? finish(parts) : refuse(s, open.start, 'the group is not closed');
}

/** False: the part is faulty. */
function readPart(s: Scanner, parts: Parts): boolean {
  switch (peek(s)) {
    case 0x28: // (
      return openGroup(s, parts);
    case 0x29: // )
      return closeGroup(s, parts);
    case 0x7c: // |
      return endBranch(s, parts);
    case 0x3f: // ?
      return repeatLast(s, parts.sequence, 0, 1);
    case 0x2a: // *
      return repeatLast(s, parts.sequence, 0, Number.POSITIVE_INFINITY);
    case 0x2b: // +
      return repeatLast(s, parts.sequence, 1, Number.POSITIVE_INFINITY);
    case 0x7b: // {
      return repeatCounted(s, parts.sequence);
    case 0x5b: // [
      return appendUnlessNull(parts.sequence, lexClass(s));
    default:
      return appendUnlessNull(parts.sequence, lexPrimitive(s));
  }
}

function appendUnlessNull(sequence: Sequence, node: Node | null): boolean {
  if (node === null) return false;
  append(sequence, node);
  return true;
}

function openGroup(s: Scanner, parts: Parts): boolean {
  const { pos: start } = s;
  const flags = flagsOf(s);
  const group = lexGroup(s);
  if (group === null) return false;
  const { groups, sequence, alternation } = parts;
  if (group === 'flags') append(sequence, DIRECTIVE);
  else {
    groups.push({ start, capturing: group === 'capture', flags, sequence, alternation });
    parts.sequence = startSequence();
    parts.alternation = null;
  }
  return true;
}

function closeGroup(s: Scanner, parts: Parts): boolean {
  const group = parts.groups.pop();
  if (group === undefined) return refuse(s, s.pos, 'the parenthesis closes no group') !== null;
  const inner = finish(parts);
  parts.sequence = group.sequence;
  parts.alternation = group.alternation;
  Object.assign(s, group.flags);
  bump(s);
  append(parts.sequence, group.capturing ? capture(inner) : nest(inner));
  return true;
}

function endBranch(s: Scanner, parts: Parts): boolean {
  const branch = finishSequence(parts.sequence);
  if (parts.alternation === null) parts.alternation = startAlternation(branch);
  else addBranch(parts.alternation, branch);
  parts.sequence = startSequence();
  bump(s);
  return true;
}

/** Of the innermost group or of the complete pattern. */
function finish({ sequence, alternation }: Parts): Node {
  const last = finishSequence(sequence);
  if (alternation === null) return last;
  addBranch(alternation, last);
  return finishAlternation(alternation);
}

function isRepeatable(s: Scanner, sequence: Sequence): boolean {
  if (sequence.count > 0 && !sequence.last.directive) return true;
  return refuse(s, s.pos, 'there is nothing to repeat') !== null;
}

function repeatLast(s: Scanner, sequence: Sequence, min: number, max: number): boolean {
  if (!isRepeatable(s, sequence)) return false;
  sequence.last = repeat(sequence.last, min, max);
  if (bump(s) && peek(s) === 0x3f) bump(s);
  return true;
}

/** `{n}`, `{n,}` or `{n,m}`. */
function repeatCounted(s: Scanner, sequence: Sequence): boolean {
  const start = s.pos;
  const unclosed = () => refuse(s, start, 'the repetition is not closed; a literal brace is written \\{') !== null;
  if (!isRepeatable(s, sequence)) return false;
  if (!bumpSpace(s)) return unclosed();
  const min = lexDecimal(s);
  if (min === null) return false;
  let max = min;
  if (peek(s) === 0x2c) {
    if (!bumpSpace(s)) return unclosed();
    const most = peek(s) === 0x7d ? Number.POSITIVE_INFINITY : lexDecimal(s);
    if (most === null) return false;
    max = most;
  }
  if (peek(s) !== 0x7d) return unclosed();
  if (bumpSpace(s) && peek(s) === 0x3f) bump(s);
  if (min > max) return refuse(s, start, 'the repetition ends before it begins') !== null;
  sequence.last = repeat(sequence.last, min, max);
  return true;
}

/** 32 bits, with the white space around it. */
function lexDecimal(s: Scanner): number | null {
  while (isWhiteSpace(peek(s))) bump(s);
  const start = s.pos;
  let value = 0;
  while (peek(s) >= 0x30 && peek(s) <= 0x39) {
    value = Math.min(value * 10 + peek(s) - 0x30, 2 ** 32);
    bumpSpace(s);
  }
  if (s.pos === start) return refuse(s, start, 'expected a number in the repetition; a literal brace is written \\{');
  if (value >= 2 ** 32) return refuse(s, start, 'the number is too large');
  while (isWhiteSpace(peek(s))) bumpSpace(s);
  return value;
}

function lexPrimitive(s: Scanner): Node | null {
  const code = peek(s);
  if (code === 0x5c) {
    const atom = lexEscape(s);
    return atom === null ? null : atomNode(s, atom);
  }
  bump(s);
  if (code === 0x5e) return assertion(s.multiLine ? (s.crlf ? 'crlf start' : 'line start') : 'start');
  if (code === 0x24) return assertion(s.multiLine ? (s.crlf ? 'crlf end' : 'line end') : 'end');
  if (code === 0x2e) return dot(s);
  return code < 0x80 && !s.fold ? literal(String.fromCharCode(code)) : atomNode(s, { kind: 'character', code, byte: false });
}

/** `.`: everything except line ends, or everything. */
function dot(s: Scanner): Node {
  const ends = s.dotAll ? [] : s.crlf ? [range(0x0a), range(0x0d)] : [range(0x0a)];
  const set: SetTree = { kind: 'class', of: { kind: 'union', items: ends }, negated: true, fold: false };
  const tree: Tree = { kind: 'set', set, unicode: s.unicode };
  return s.unicode ? unicodeClass(tree, 1_000) : charClass(tree, 2);
}

function atomNode(s: Scanner, atom: Atom): Node {
  if (atom.kind !== 'character') return atom.node;
  const tree: Tree = { kind: 'set', set: { kind: 'class', of: range(atom.code), negated: false, fold: true }, unicode: s.unicode };
  const lower = atom.code | 0x20;
  if (s.fold && lower >= 0x61 && lower <= 0x7a && atom.code < 0x80) {
    // K and S have a third form beyond ASCII: the Kelvin sign and the long s.
    return s.unicode && (lower === 0x6b || lower === 0x73) ? unicodeClass(tree, 236) : charClass(tree, 2);
  }
  if (atom.byte && !s.unicode) return literal(String.fromCharCode(atom.code));
  const node = literal(encodeCodePoint(atom.code));
  return s.fold && s.unicode ? { ...node, tree } : node;
}
