/** Finds the parameter that a misspelt one probably means (SPEC D5.20, D42.1). */
import { isOneEdit } from '../text/one-edit.ts';

/** Synonyms of commands, management, signals and bouncers. */
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
