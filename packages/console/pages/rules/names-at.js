/** What may stand where somebody types in an expression: the names that go with the word at the caret. Pure functions. */

/** @typedef {{ name: string, kind: 'field' | 'function', type: string, takes: string | null }} ExpressionName */
/** @typedef {{ from: number, to: number, names: ExpressionName[] }} Completion What is offered in the place of a stretch of the text. */

/** Names that are offered at once. */
const MOST = 50;
/** What begins no name: operators. */
const OPERATORS = new Set('and or xor not in eq ne lt le gt ge contains matches wildcard strict bitwise_and true false'.split(' '));

/** Whether a place is within a literal in quotes, a raw one included. @param {string} before The text up to it. */
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

/** How well a name goes with what was typed; Infinity: not at all. @param {string} name @param {string} typed */
function rank(name, typed) {
  if (name.startsWith(typed)) return 0;
  if (name.split('.').some((part) => part.startsWith(typed))) return 1;
  if (name.split(/[._]/).some((part) => part.startsWith(typed))) return 2;
  return name.includes(typed) ? 3 : Number.POSITIVE_INFINITY;
}

/**
 * What is offered at a place; undefined: nothing. `all`: also where no word stands there yet.
 * @param {string} text @param {number} caret @param {readonly ExpressionName[]} known @param {boolean} [all]
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
  // What stands there as a whole needs no offer.
  const isComplete = names.length > 0 && names[0].name === text.slice(caret - typed.length, to) && !all;
  return names.length === 0 || isComplete ? undefined : { from: caret - typed.length, to, names };
}

/**
 * The text with a name in the place of what was typed, and where the caret is then: behind the parenthesis of a function.
 * @param {string} text @param {Completion} completion @param {ExpressionName} chosen
 */
export function completed(text, { from, to }, { name, kind }) {
  const open = kind === 'function' && text[to] !== '(' ? '(' : '';
  return { text: `${text.slice(0, from)}${name}${open}${text.slice(to)}`, caret: from + name.length + (kind === 'function' ? 1 : 0) };
}

/** A name with its types, as one line. @param {ExpressionName} name */
export const typesOf = ({ kind, type, takes }) => (kind === 'field' ? type : `(${takes}) → ${type}`);
