/** Hints on regular expressions (D19.11). */
import type { Value } from '../ast.ts';
import { printValue } from '../print.ts';

/** Hints on `left matches pattern`. */
export function regexHints(left: Value, pattern: string): string[] {
  return [doubledBackslash(pattern), halfAnchored(pattern), notAnchored(left, pattern)].filter((hint) => hint !== null);
}

/** Escapes after a doubled backslash; in a class a literal backslash is plausible. */
function doubledBackslash(pattern: string): string | null {
  const outside = pattern.replace(/\[(?:\\[\s\S]|[^\]\\])*\]/g, (set) => '_'.repeat(set.length));
  const found = /(?<!\\)(?:\\\\)+(\.|[dDwWsSbB](?![A-Za-z])|\/|-)/.exec(outside);
  const calls = found === null && /\\\\\(/.test(outside) && /\\\\\)/.test(outside) ? '(' : null;
  const escaped = found?.[1] ?? calls;
  if (escaped === null || escaped === undefined) return null;
  return `\\\\${escaped} in a regular expression is a backslash in the value${escaped === '.' ? ' and any byte' : ''}: for \\${escaped} write one backslash`;
}

/** Outside of groups and classes. */
function branchesOf(pattern: string): string[] {
  const branches = [''];
  let depth = 0;
  let inClass = false;
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i];
    if (c === '|' && depth === 0 && !inClass) {
      branches.push('');
      continue;
    }
    branches[branches.length - 1] += c === '\\' ? c + (pattern[++i] ?? '') : c;
    if (inClass) inClass = c !== ']';
    else if (c === '[') inClass = true;
    else if (c === '(') depth++;
    else if (c === ')') depth--;
  }
  return branches;
}

const begins = (branch: string): boolean => /^(?:\(\?[a-zA-Z-]+\))?\^/.test(branch);
const ends = (branch: string): boolean => /(?<!\\)(?:\\\\)*\$$/.test(branch);

/** `^a|b$`: the first is anchored at the start only, the last at the end only. */
function halfAnchored(pattern: string): string | null {
  const branches = branchesOf(pattern);
  if (branches.length < 2) return null;
  const first = begins(branches[0]) && !ends(branches[0]) && branches.slice(1).every((branch) => !begins(branch));
  const last = ends(branches.at(-1)!) && branches.slice(0, -1).every((branch) => !ends(branch));
  return first && last ? '^ and $ belong to the first and the last branch only: for all of them write ^(…|…)$' : null;
}

/** Their value is a single word or name. */
const COMPLETE_FIELDS = new Set([
  'http.request.method',
  'http.request.scheme',
  'http.request.host',
  'ip.src.country',
  'ip.src.asn_country',
]);

/** An unanchored plain word or name. */
function notAnchored(left: Value, pattern: string): string | null {
  const isHost = left.source.kind === 'field' && left.source.name === 'http.request.headers' && left.indexes[0] === 'host';
  const isComplete = left.source.kind === 'field' && left.indexes.length === 0 && COMPLETE_FIELDS.has(left.source.name);
  if (!isHost && !isComplete) return null;
  if (!/^(?:\(\?i\))?(?:[A-Za-z0-9_-]|\\\.|[()|])+$/.test(pattern)) return null;
  return `the regular expression is found anywhere in ${printValue(left)}, also in a longer one: anchor it with ^ and $`;
}
