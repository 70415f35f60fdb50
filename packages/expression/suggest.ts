/** Messages for names unknown to the scheme. */
import { ALIASES, WORDS } from './aliases.ts';
import { quote } from './cursor.ts';
import type { Scheme } from './scheme.ts';

/** No name is longer, so a longer one has no similar name. */
const LONGEST = 128;

/** Adds a hint: the kind that has the name, or a similar name. */
export function unknownName(name: string, scheme: Scheme): string {
  const word = WORDS.get(name);
  if (word !== undefined) return word;
  if (/^[0-9]/.test(name)) return `expected a field or a function, found ${quote(name)}: a name begins with a letter`;
  const { called, withoutHttp } = scheme;
  if (withoutHttp !== undefined && name.startsWith('http.') && ![...scheme.names.keys()].some((known) => known.startsWith('http.'))) {
    return `${quote(name)} cannot be used in ${called}: ${withoutHttp}`;
  }
  const foreign = scheme.elsewhere.get(name);
  if (foreign !== undefined) return `${quote(name)} is a ${foreign.definition.kind} of ${foreign.called}, not of ${called}`;
  const similar = nearest(name, scheme);
  return `unknown field or function ${quote(name)}${similar === null ? '' : `; did you mean ${similar}?`}`;
}

function nearest(name: string, scheme: Scheme): string | null {
  if (name.length > LONGEST) return null;
  const alias = ALIASES.get(name);
  if (alias !== undefined && scheme.names.has(/^[\w.]+/.exec(alias)![0])) return alias;
  const known = [...scheme.names.keys()];
  const lower = name.toLowerCase();
  let best: string | null = null;
  let least = name.length < 5 ? 2 : 3;
  for (const candidate of known) {
    const distance = editDistance(lower, candidate, least);
    if (distance < least) [best, least] = [candidate, distance];
  }
  if (best !== null && least < 2) return best;
  const entry = entryOf(name, scheme);
  if (entry !== null || best !== null) return entry ?? best;
  // A part of a name: `request.path`, or `http.request` alone.
  const ending = known.filter((candidate) => candidate.endsWith(`.${lower}`));
  if (ending.length === 1) return ending[0];
  return known.find((candidate) => candidate.startsWith(`${lower}.`)) ?? null;
}

/** A map entry in field notation: for `http.request.headers.accept`, `http.request.headers["accept"]`. */
function entryOf(name: string, scheme: Scheme): string | null {
  for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1)) {
    const known = scheme.names.get(name.slice(0, dot));
    if (known?.kind === 'field') return known.type.kind === 'Map' ? `${known.name}["${name.slice(dot + 1)}"]` : known.name;
  }
  return null;
}

/** Number of insertions, deletions and substitutions between two words, at most `limit`. */
function editDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) >= limit) return limit;
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const substituted = row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, row[j] + 1, next[j - 1] + 1));
    }
    if (Math.min(...next) >= limit) return limit;
    row = next;
  }
  return Math.min(limit, row[to.length]);
}
