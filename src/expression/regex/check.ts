/**
 * Checks the syntax of a regular expression as the enforcement engine reads it: Rust's regex syntax with Unicode off.
 * The pattern is never run. The work is linear in its length, and nothing recurses.
 */
import { encodeCodePoint } from '../bytes.ts';
import { lexClass } from './class.ts';
import { type Atom, lexEscape } from './escape.ts';
import { lexGroup } from './group.ts';
import {
  type Alternation,
  ASSERTION,
  addBranch,
  append,
  BYTE,
  capture,
  charClass,
  DIRECTIVE,
  FOLDED_BYTE,
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
import { atEnd, bump, bumpSpace, isWhiteSpace, peek, refuse, type Scanner, skipIgnored } from './scanner.ts';

interface RegexVerdict {
  /** What is wrong, on one line; null when nothing is. */
  readonly fault: string | null;
  /** Characters looked at, a measure of the work. */
  readonly steps: number;
}

/** An open group: what stood before it, and the flags to restore behind it. */
interface Frame {
  readonly start: number;
  readonly capturing: boolean;
  readonly verbose: boolean;
  readonly unicode: boolean;
  readonly fold: boolean;
  readonly sequence: Sequence;
  readonly alternation: Alternation | null;
}

export function checkRegex(pattern: string): RegexVerdict {
  const s: Scanner = { text: pattern, pos: 0, steps: 0, fault: null, verbose: false, unicode: false, fold: false, names: new Set() };
  const node = read(s);
  if (node !== null && node.height > MAX_HEIGHT) s.fault = `the regular expression is nested deeper than ${MAX_HEIGHT} levels`;
  else if (node !== null && node.bytes > MAX_BYTES)
    s.fault = 'the regular expression is too large once its repetitions are written out (10 MiB)';
  return { fault: s.fault, steps: s.steps + 1 };
}

function read(s: Scanner): Node | null {
  const frames: Frame[] = [];
  let sequence = startSequence();
  let alternation: Alternation | null = null;
  for (;;) {
    skipIgnored(s);
    if (atEnd(s)) break;
    switch (peek(s)) {
      case 0x28: {
        const frame = { start: s.pos, verbose: s.verbose, unicode: s.unicode, fold: s.fold, sequence, alternation };
        const group = lexGroup(s);
        if (group === null) return null;
        if (group === 'flags') append(sequence, DIRECTIVE);
        else {
          frames.push({ ...frame, capturing: group === 'capture' });
          sequence = startSequence();
          alternation = null;
        }
        break;
      }
      case 0x29: {
        const frame = frames.pop();
        if (frame === undefined) return refuse(s, s.pos, 'the parenthesis closes no group');
        const inner = finish(sequence, alternation);
        ({ sequence, alternation } = frame);
        s.verbose = frame.verbose;
        s.unicode = frame.unicode;
        s.fold = frame.fold;
        bump(s);
        append(sequence, frame.capturing ? capture(inner) : nest(inner));
        break;
      }
      case 0x7c:
        if (alternation === null) alternation = startAlternation(finishSequence(sequence));
        else addBranch(alternation, finishSequence(sequence));
        sequence = startSequence();
        bump(s);
        break;
      case 0x5b: {
        const node = lexClass(s);
        if (node === null) return null;
        append(sequence, node);
        break;
      }
      case 0x3f:
        if (!repeatLast(s, sequence, 0, 1)) return null;
        break;
      case 0x2a:
        if (!repeatLast(s, sequence, 0, Number.POSITIVE_INFINITY)) return null;
        break;
      case 0x2b:
        if (!repeatLast(s, sequence, 1, Number.POSITIVE_INFINITY)) return null;
        break;
      case 0x7b:
        if (!repeatCounted(s, sequence)) return null;
        break;
      default: {
        const node = lexPrimitive(s);
        if (node === null) return null;
        append(sequence, node);
      }
    }
  }
  if (frames.length > 0) return refuse(s, frames[frames.length - 1].start, 'the group is not closed');
  return finish(sequence, alternation);
}

function finish(sequence: Sequence, alternation: Alternation | null): Node {
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

/** A 32-bit number with white space around it. */
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
  if (code === 0x5e || code === 0x24) return ASSERTION;
  if (code === 0x2e) return s.unicode ? unicodeClass(1_000) : charClass(2);
  return code < 0x80 && !s.fold ? BYTE : atomNode(s, { kind: 'character', code, byte: false });
}

function atomNode(s: Scanner, atom: Atom): Node {
  if (atom.kind !== 'character') return atom.node;
  const lower = atom.code | 0x20;
  if (s.fold && lower >= 0x61 && lower <= 0x7a && atom.code < 0x80) {
    // K and S also have a third form, beyond ASCII.
    return s.unicode && (lower === 0x6b || lower === 0x73) ? unicodeClass(236) : FOLDED_BYTE;
  }
  if (atom.byte && !s.unicode) return literal(1);
  return literal(encodeCodePoint(atom.code).length);
}
