/**
 * `wildcard_replace`: the pattern stands for a regular expression that is anchored at the start only, with `*` as a group of
 * as few characters as possible and `?` as any character but a newline. Only that one match is replaced.
 */
import { type ByteString, encodeText } from '../../bytes.ts';
import { compileSegment, findSegment, type Segment, stepBack } from './segment.ts';

/** A part of the replacement: text, or the number of a group; -1 = a group that does not exist. */
type Part = ByteString | number;

/** Replaces in a value; `spend` is told how many bytes it makes before it makes them. */
export type Replace = (value: ByteString, spend: (bytes: number) => void) => ByteString;

/** Compiles a pattern and a replacement; `folded` = case does not matter. */
export function compileWildcardReplace(pattern: string, replacement: string, folded: boolean): Replace {
  const segments = pattern.split('*').map((text) => compileSegment(text, folded));
  const parts = parseReplacement(replacement);
  return (value, spend) => {
    const groups = match(segments, value);
    if (groups === null) return value;
    const texts = parts.map((part) => (typeof part === 'string' ? part : value.slice(...(groups[part] ?? [0, 0]))));
    const rest = value.slice(groups[0][1]);
    spend(texts.reduce((sum, text) => sum + text.length, rest.length));
    return texts.join('') + rest;
  };
}

/**
 * The whole match and the groups; null where there is none. The first place of each segment is the right one: a group that
 * could reach a later one has no newline, so the next group can reach across as well.
 */
function match(segments: readonly Segment[], value: ByteString): [start: number, end: number][] | null {
  let at = findSegment(segments[0], value, 0, true);
  if (at === -1) return null;
  const groups: [number, number][] = [[0, 0]];
  for (const segment of segments.slice(1)) {
    const end = findSegment(segment, value, at, false);
    if (end === -1) return null;
    groups.push([at, stepBack(value, end, segment.length)]);
    at = end;
  }
  groups[0][1] = at;
  return groups;
}

const REFERENCE = /\$(?:\$|\{([^}]*)\}|([0-9A-Za-z_]+))/g;
const NUMBER = /^\+?[0-9]+$/;

/** Reads `$1`, `${1}`, `$0` and `$$`; a name that is no number is a group that does not exist. */
function parseReplacement(text: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const found of text.matchAll(REFERENCE)) {
    parts.push(encodeText(text.slice(from, found.index)));
    from = found.index + found[0].length;
    if (found[0] === '$$') parts.push('$');
    else {
      const name = found[1] ?? found[2];
      parts.push(NUMBER.test(name) ? Number(name) : -1);
    }
  }
  parts.push(encodeText(text.slice(from)));
  return parts;
}
