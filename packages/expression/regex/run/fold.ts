/** Simple case folding (Unicode, CaseFolding.txt, C and S). */
import { type CodeSet, codeSet, rangesOf, union } from './code-set.ts';

const ASCII_LETTERS: CodeSet = [0x41, 0x5a, 0x61, 0x7a];

/** Adds the other case of ASCII letters. */
export function foldAscii(set: CodeSet): CodeSet {
  const added: [number, number][] = [];
  for (const [first, last] of rangesOf(set)) {
    for (const [from, to] of rangesOf(ASCII_LETTERS)) {
      const other = from === 0x41 ? 0x20 : -0x20;
      if (first <= to && last >= from) added.push([Math.max(first, from) + other, Math.min(last, to) + other]);
    }
  }
  return union(set, codeSet(added));
}

/** Adds all cases of letters. */
export function foldUnicode(set: CodeSet): CodeSet {
  const added: [number, number][] = [];
  for (const orbit of orbits()) {
    if (orbit.some((code) => contains(set, code))) added.push(...orbit.map((code): [number, number] => [code, code]));
  }
  return added.length === 0 ? set : union(set, codeSet(added));
}

function contains(set: CodeSet, code: number): boolean {
  let [low, high] = [0, set.length / 2];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (set[2 * middle + 1] < code) low = middle + 1;
    else high = middle;
  }
  return 2 * low < set.length && set[2 * low] <= code;
}

/** Pairs that fold to the same character although neither maps to the other. */
const PAIRS = [
  [0xfb05, 0xfb06],
  [0x0390, 0x1fd3],
  [0x03b0, 0x1fe3],
] as const;

const made: { orbits?: readonly (readonly number[])[] } = {};

/** Groups of case variants, two or more each. Computed once, from the platform's case mappings. */
function orbits(): readonly (readonly number[])[] {
  made.orbits ??= makeOrbits();
  return made.orbits;
}

function makeOrbits(): number[][] {
  const groups = new Map<number, number[]>();
  const join = (a: number, b: number) => {
    if (a === b || !sameFolding(a, b)) return;
    const [one, other] = [groups.get(a) ?? [a], groups.get(b) ?? [b]];
    if (one === other) return;
    const all = [...new Set([...one, ...other])];
    for (const code of all) groups.set(code, all);
  };
  for (let code = 0x41; code <= 0x1ffff; code++) {
    if (code === 0xd800) code = 0xe000;
    const character = String.fromCodePoint(code);
    for (const other of [character.toLowerCase(), character.toUpperCase()]) {
      if (other !== character && [...other].length === 1) join(code, other.codePointAt(0)!);
    }
  }
  for (const [a, b] of PAIRS) join(a, b);
  return [...new Set(groups.values())];
}

/** Whether the platform folds both to one letter; the dotless i and similar letters do not fold. */
function sameFolding(a: number, b: number): boolean {
  if (a < 0x80 && b < 0x80) return true;
  if (PAIRS.some(([one, other]) => one === a && other === b)) return true;
  return new RegExp(`^\\u{${a.toString(16)}}$`, 'iu').test(String.fromCodePoint(b));
}
