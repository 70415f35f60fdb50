/** One character added, removed or replaced, or two neighbours swapped. */
export function isOneEdit(given: string, known: string): boolean {
  const shorter = Math.min(given.length, known.length);
  let start = 0;
  while (start < shorter && given[start] === known[start]) start += 1;
  let end = 0;
  while (end < shorter - start && given.at(-1 - end) === known.at(-1 - end)) end += 1;
  // Without the common prefix and suffix.
  const [was, is] = [given.slice(start, given.length - end), known.slice(start, known.length - end)];
  if (was.length <= 1 && is.length <= 1) return true;
  return was.length === 2 && is.length === 2 && was[0] === is[1] && was[1] === is[0];
}
