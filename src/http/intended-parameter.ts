/** What a misspelt parameter probably means (SPEC D5.20, D42.1). */

/** Of commands, management, signals and bouncers. */
const SAME: readonly (readonly string[])[] = [
  ['dry_run', 'preview', 'test', 'try', 'trial', 'validate', 'check', 'simulate', 'simulated', 'simulation', 'no_op', 'what_if'],
  ['list', 'list_id', 'list_name', 'feed', 'feed_id', 'feed_name'],
  ['action', 'purpose'],
  ['after', 'next', 'cursor'],
  ['expires_in', 'expiration', 'expires'],
];

/** Shorter names must match exactly: too many words are an edit away from `ip`. */
const SHORTEST = 4;
const SHORTEST_PREFIX = 3;

/**
 * undefined: another parameter, such as a cache buster. Compares the name and its parts, decoded again and without `amp;`, `[]`, an encoded
 * `=` with its value, case and punctuation. Matches prefixes of three letters, one edit, and synonyms.
 */
export function intendedParameter(name: string, known: readonly string[]): string | undefined {
  const names = new Set(readings(name).map(plain));
  names.delete('');
  const intended = (known: string, given: string) =>
    given === known ||
    (given.length >= SHORTEST_PREFIX && known.startsWith(given)) ||
    (known.length >= SHORTEST && isOneEdit(given, known));
  return known.find((each) => {
    const words = SAME.find((same) => same.includes(each)) ?? [];
    return names.values().some((given) => intended(plain(each), given) || words.some((word) => plain(word) === given));
  });
}

/** The name, and the names in it between delimiters, without values. */
function readings(name: string): string[] {
  let text = name;
  // Nobody encodes more often by mistake.
  for (let round = 0; round < 3; round += 1)
    text = text.replace(/%([2-7][\da-f])/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  const names = text.split(/[&?;]/).map((part) => part.replace(/[=:].*$/s, ''));
  return [text, ...names, ...names.flatMap((each) => each.split(/[[\].]/))];
}

/** `dryRun`, `dry-run` and `dry_run` are equal. */
const plain = (name: string): string =>
  /^[a-z\d]*$/.test(name)
    ? name
    : name
        .normalize('NFKC')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}]/gu, '');

/** One character added, removed or replaced, or two neighbours swapped. */
function isOneEdit(given: string, known: string): boolean {
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
