/**
 * Whether a name is probably meant to be another one: it differs in letter case, or beyond that by one character that was added,
 * left out or replaced, or by two neighbours in the wrong order. `known` is in lower case.
 */
export function isNearMiss(name: string, known: string): boolean {
  const given = name.toLowerCase();
  const shorter = Math.min(given.length, known.length);
  let start = 0;
  while (start < shorter && given[start] === known[start]) start += 1;
  let end = 0;
  while (end < shorter - start && given.at(-1 - end) === known.at(-1 - end)) end += 1;
  // What is left of both without their common beginning and end.
  const [was, is] = [given.slice(start, given.length - end), known.slice(start, known.length - end)];
  if (was.length <= 1 && is.length <= 1) return true;
  return was.length === 2 && is.length === 2 && was[0] === is[1] && was[1] === is[0];
}
