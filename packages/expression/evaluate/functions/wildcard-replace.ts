/**
 * `wildcard_replace`: the pattern is a regular expression anchored at the start only. `*` is a lazy group, `?` any character except a
 * newline. Replaces only that one match.
 */
import { type ByteString, encodeText } from '../../bytes.ts';
import { compileSegment, findSegment, type Segment, stepBack } from './segment.ts';

/** Text, or a group number; -1 = an undefined group. */
type Part = ByteString | number;

/** Calls `spend` with the number of bytes before creating them. */
export type Replace = (value: ByteString, spend: (bytes: number) => void) => ByteString;

/** `folded` = case-insensitive. */
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
 * The complete match and the groups. The first position of each segment is right: a group that could reach a later one has no newline, so
 * the next group can cross it too.
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

/** Reads `$1`, `${1}`, `$0` and `$$`; a non-numeric name is an undefined group. */
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
