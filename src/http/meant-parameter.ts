/** Which parameter an unknown one is probably meant to be, for every address that reads parameters (SPEC D5.20, D42.1). */

/** Words for the same thing at different entry points: commands, management, signals, bouncers. */
const SAME: readonly (readonly string[])[] = [
  ['dry_run', 'preview', 'test', 'try', 'trial', 'validate', 'check', 'simulate', 'simulated', 'simulation', 'no_op', 'what_if'],
  ['list', 'list_id', 'list_name', 'feed', 'feed_id', 'feed_name'],
  ['after', 'next', 'cursor'],
  ['expires_in', 'expiration', 'expires'],
];

/** Shorter names of ours are only recognized as they are: one edit makes `ip` of too many words. */
const SHORTEST = 4;
const SHORTEST_PREFIX = 3;

/**
 * The known parameter that an unknown name is probably meant to be; undefined when it may be anything else, such as what a cache appends.
 * The name, decoded once as in any query, is meant to be one that it, or a part of it, is: after decoding it again, without `amp;`, `[]`
 * and a value behind an encoded `=`, whatever its letter case and punctuation; by its first three letters or more; by one edit; by the
 * word of another entry point.
 */
export function meantParameter(name: string, known: readonly string[]): string | undefined {
  const names = new Set(readings(name).map(plain));
  names.delete('');
  const meant = (known: string, given: string) =>
    given === known ||
    (given.length >= SHORTEST_PREFIX && known.startsWith(given)) ||
    (known.length >= SHORTEST && isOneEdit(given, known));
  return known.find((each) => {
    const words = SAME.find((same) => same.includes(each)) ?? [];
    return names.values().some((given) => meant(plain(each), given) || words.some((word) => plain(word) === given));
  });
}

/** A name as a whole, and the names that stand in it between marks, without their values. */
function readings(name: string): string[] {
  let text = name;
  // A query that was encoded more often than that is nobody's mistake.
  for (let round = 0; round < 3; round += 1)
    text = text.replace(/%([2-7][\da-f])/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  const names = text.split(/[&?;]/).map((part) => part.replace(/[=:].*$/s, ''));
  return [text, ...names, ...names.flatMap((each) => each.split(/[[\].]/))];
}

/** A name without letter case and punctuation: `dryRun`, `dry-run` and `dry_run` are one. */
const plain = (name: string): string =>
  /^[a-z\d]*$/.test(name)
    ? name
    : name
        .normalize('NFKC')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Whether one text is the other with one character added, left out or replaced, or with two neighbours exchanged. */
function isOneEdit(given: string, known: string): boolean {
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
