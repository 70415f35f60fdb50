const MOST = 50;
const OPERATORS = new Set('and or xor not in eq ne lt le gt ge contains matches wildcard strict bitwise_and true false'.split(' '));

/** Whether a position is inside a literal, raw ones included. @param {string} before The text up to it. */
function isQuoted(before) {
  const begins = /\br(#*)"|"/g;
  for (let found = begins.exec(before); found !== null; found = begins.exec(before)) {
    const isRaw = found[1] !== undefined;
    const ends = isRaw ? new RegExp(`"${found[1]}`, 'g') : /(?<!\\)(?:\\\\)*"/g;
    ends.lastIndex = begins.lastIndex;
    if (ends.exec(before) === null) return true;
    begins.lastIndex = ends.lastIndex;
  }
  return false;
}

/** Match quality; Infinity: none. @param {string} name @param {string} typed */
function rank(name, typed) {
  if (name.startsWith(typed)) return 0;
  if (name.split('.').some((part) => part.startsWith(typed))) return 1;
  if (name.split(/[._]/).some((part) => part.startsWith(typed))) return 2;
  return name.includes(typed) ? 3 : Number.POSITIVE_INFINITY;
}

/**
 * `all`: also without a typed word.
 * @param {string} text
 * @param {number} caret
 * @param {readonly RuleName[]} known
 * @param {boolean} [all]
 * @returns {Completion | undefined}
 */
export function completionAt(text, caret, known, all = false) {
  const before = text.slice(0, caret);
  const [typed = ''] = /[A-Za-z_][\w.]*$/.exec(before) ?? [];
  if ((typed === '' && !all) || isQuoted(before)) return undefined;
  const to = caret + (/^[\w.]*/.exec(text.slice(caret))?.[0].length ?? 0);
  const lower = typed.toLowerCase();
  if (!all && OPERATORS.has(lower)) return undefined;
  const names = known
    .map((each) => ({ each, at: rank(each.name, lower) }))
    .filter(({ at }) => at !== Number.POSITIVE_INFINITY)
    .toSorted((a, b) => a.at - b.at)
    .slice(0, MOST)
    .map(({ each }) => each);
  // A complete name needs no completion.
  const isComplete = names.length > 0 && names[0].name === text.slice(caret - typed.length, to) && !all;
  return names.length === 0 || isComplete ? undefined : { from: caret - typed.length, to, names };
}

/**
 * For a function the caret goes behind its parenthesis.
 * @param {string} text
 * @param {Completion} completion
 * @param {RuleName} chosen
 */
export function completed(text, { from, to }, { name, kind }) {
  const open = kind === 'function' && text[to] !== '(' ? '(' : '';
  return { text: `${text.slice(0, from)}${name}${open}${text.slice(to)}`, caret: from + name.length + (kind === 'function' ? 1 : 0) };
}

/** @param {RuleName} name */
export const typesOf = ({ kind, type, takes }) => (kind === 'field' ? type : `(${takes}) → ${type}`);
