/** Bracketed classes nest and have the operators &&, -- and ~~. */
import { type Atom, lexEscape } from './escape.ts';
import { charClass, literal, type Node, nest, unicodeClass } from './node.ts';
import { atEnd, bump, bumpSpace, peek, peekNext, peekNextSpace, refuse, type Scanner, skipIgnored, takeText } from './scanner.ts';
import { range, type SetOperator, type SetTree, type Tree } from './tree.ts';

const ASCII_CLASS = /\[:(\^?)(alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]/y;
/** Ranges of the largest named class. */
const ASCII_CLASS_RANGES = 4;
const OPERATORS: Readonly<Record<number, SetOperator>> = { 38: '&&', 45: '--', 126: '~~' };
const NOT_CLOSED = 'the class is not closed';

/** State of the current set. */
interface Members {
  /** Sets read so far, or the result of an operator. */
  readonly sets: SetTree[];
  /** Members, and single characters among them. */
  items: number;
  characters: number;
  /** Levels of syntax tree of the highest member. */
  height: number;
  ranges: number;
  /** Estimated size of the automaton for members beyond ASCII, bytes. */
  beyond: number;
}

/** An open class: its parent set, and the left side of its last operator. */
interface Level {
  readonly start: number;
  readonly negated: boolean;
  readonly parent: Members;
  left: Members | null;
  /** The operator after the left side. */
  op: SetOperator;
}

function startSet(): Members {
  return { sets: [], items: 0, characters: 0, height: 0, ranges: 0, beyond: 0 };
}

function add(set: Members, member: SetTree, height: number, ranges: number, beyond: number): void {
  set.sets.push(member);
  set.items++;
  set.height = Math.max(set.height, height);
  set.ranges += ranges;
  set.beyond += beyond;
}

/** A union of two or more members is one more level. */
function unionHeight(set: Members): number {
  return set.items > 1 ? set.height + 1 : set.height;
}

/** From its `[` on, without recursion at any depth. */
export function lexClass(s: Scanner): Node | null {
  const levels: Level[] = [];
  let set = startSet();
  for (;;) {
    skipIgnored(s);
    if (atEnd(s)) return refuse(s, levels[levels.length - 1].start, NOT_CLOSED);
    const code = peek(s);
    if (code === 0x5b) {
      const ascii = levels.length > 0 ? lexAsciiClass(s) : null;
      if (ascii !== null) {
        add(set, ascii, 0, ASCII_CLASS_RANGES, 0);
        continue;
      }
      const inner = open(s, levels, set);
      if (inner === null) return null;
      set = inner;
    } else if (code === 0x5d) {
      const { negated, parent, left, op } = levels.pop()!;
      bump(s);
      const combined = left === null ? set : combine(left, op, set, s.fold);
      if (levels.length === 0) return classNode(s, combined, left !== null, negated);
      add(
        parent,
        classTree(s, combined, negated),
        (left === null ? unionHeight(combined) : combined.height) + 1,
        combined.ranges + 1,
        combined.beyond,
      );
      set = parent;
    } else if ((code === 0x26 || code === 0x2d || code === 0x7e) && peekNext(s) === code) {
      takeText(s, String.fromCharCode(code, code));
      const level = levels[levels.length - 1];
      level.left = level.left === null ? { ...set, height: unionHeight(set) } : combine(level.left, level.op, set, s.fold);
      level.op = OPERATORS[code];
      set = startSet();
    } else if (!lexMember(s, set, levels)) return null;
  }
}

/** An operator is one level above its sides. */
function combine(left: Members, op: SetOperator, right: Members, fold: boolean): Members {
  const sets: SetTree[] = [{ kind: 'operation', op, left: unionOf(left), right: unionOf(right), fold }];
  const height = Math.max(left.height, unionHeight(right)) + 1;
  return {
    sets,
    items: left.items + right.items,
    characters: 0,
    height,
    ranges: left.ranges + right.ranges,
    beyond: left.beyond + right.beyond,
  };
}

function unionOf({ sets }: Members): SetTree {
  return sets.length === 1 ? sets[0] : { kind: 'union', items: sets };
}

function classTree(s: Scanner, set: Members, negated: boolean): SetTree {
  return { kind: 'class', of: unionOf(set), negated, fold: s.fold };
}

function classNode(s: Scanner, set: Members, operator: boolean, negated: boolean): Node {
  const height = (operator ? set.height : unionHeight(set)) + 1;
  const tree: Tree = { kind: 'set', set: classTree(s, set, negated), unicode: s.unicode };
  // The engine makes a literal of one character.
  if (set.items === 1 && set.characters === 1 && set.beyond === 0 && !negated && !s.fold) return nest({ ...literal('-'), tree }, height);
  const ranges = (s.fold ? 2 * set.ranges : set.ranges) + (negated ? 1 : 0);
  const node = charClass(tree, ranges);
  // With Unicode, a negation contains almost all characters beyond ASCII.
  const beyond = set.beyond + (s.unicode && negated ? 930 : 0);
  return nest(beyond === 0 ? node : unicodeClass(tree, node.bytes + beyond), height);
}

/** The bracket, `^` and the characters that are literal only here. */
function open(s: Scanner, levels: Level[], parent: Members): Members | null {
  const start = s.pos;
  const set = startSet();
  if (!bumpSpace(s)) return refuse(s, start, NOT_CLOSED);
  const negated = peek(s) === 0x5e;
  if (negated && !bumpSpace(s)) return refuse(s, start, NOT_CLOSED);
  // Leading hyphens are literal, and so is a closing bracket before any other member.
  while (peek(s) === 0x2d) {
    add(set, range(0x2d), 0, 1, 0);
    set.characters++;
    if (!bumpSpace(s)) return refuse(s, start, NOT_CLOSED);
  }
  if (set.items === 0 && peek(s) === 0x5d) {
    add(set, range(0x5d), 0, 1, 0);
    set.characters++;
    if (!bumpSpace(s)) return refuse(s, start, NOT_CLOSED);
  }
  levels.push({ start, negated, parent, left: null, op: '&&' });
  return set;
}

/** A named class such as `[:digit:]`; null if there is none. */
function lexAsciiClass(s: Scanner): SetTree | null {
  ASCII_CLASS.lastIndex = s.pos;
  const found = ASCII_CLASS.exec(s.text);
  s.steps += 10;
  if (found === null) return null;
  s.pos += found[0].length;
  return { kind: 'ascii', name: found[2], negated: found[1] !== '', fold: s.fold };
}

/** Adds one member or a range of characters. */
function lexMember(s: Scanner, set: Members, levels: readonly Level[]): boolean {
  const start = s.pos;
  const from = lexAtom(s);
  if (from === null) return false;
  skipIgnored(s);
  const unclosed = () => refuse(s, levels[levels.length - 1].start, NOT_CLOSED) !== null;
  if (atEnd(s)) return unclosed();
  const next = peek(s) === 0x2d ? peekNextSpace(s) : 0x5d;
  if (next === 0x5d || next === 0x2d) return addAtom(s, set, from, start);
  if (!bumpSpace(s)) return unclosed();
  const second = s.pos;
  const to = lexAtom(s);
  if (to === null) return false;
  if (from.kind !== 'character') return refuse(s, start, 'a range must begin with one character') !== null;
  if (to.kind !== 'character') return refuse(s, second, 'a range must end with one character') !== null;
  if (from.code > to.code) return refuse(s, start, 'the range ends before it begins') !== null;
  if (!checkCharacter(s, from, start) || !checkCharacter(s, to, second)) return false;
  add(set, range(from.code, to.code), 0, 1, to.code > 0x7f && s.unicode ? 300 : 0);
  return true;
}

function lexAtom(s: Scanner): Atom | null {
  if (peek(s) === 0x5c) return lexEscape(s);
  const code = peek(s);
  bump(s);
  return { kind: 'character', code, byte: false };
}

function addAtom(s: Scanner, set: Members, atom: Atom, start: number): boolean {
  if (atom.kind === 'assertion') return refuse(s, start, 'an assertion is not allowed in a class') !== null;
  if (atom.kind === 'class') {
    add(set, atom.set, 0, atom.node.ranges, atom.node.ranges === 0 ? atom.node.bytes : 0);
    return true;
  }
  add(set, range(atom.code), 0, 1, atom.code > 0x7f && s.unicode ? 64 : 0);
  set.characters++;
  return checkCharacter(s, atom, start);
}

/** Without the flag u a class is a set of bytes: it cannot contain other characters. */
function checkCharacter(s: Scanner, atom: Atom & { kind: 'character' }, start: number): boolean {
  if (s.unicode || atom.code < 0x80 || atom.byte) return true;
  return refuse(s, start, 'in a class, characters beyond ASCII need the flag u, as in (?u)') !== null;
}
