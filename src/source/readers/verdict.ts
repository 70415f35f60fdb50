/** The verdict of a row or line: whether its source lets the address through (SPEC D40.8). */

/** What an entry asks for: a rule, or the end of those that block its value. */
export const LIST_ACTIONS = ['block', 'allow', 'unblock'] as const;
export type ListAction = (typeof LIST_ACTIONS)[number];

/** `other`: what is done to the address is neither a block nor an allow, such as a captcha. */
export type Verdict = ListAction | 'other';

/** Words that mean a verdict in any column; the others of `verdictOf` only where a verdict has to stand. */
const CLEAR: Readonly<Record<Verdict, string>> = {
  block:
    'block blocked deny denied drop dropped reject rejected ban banned blacklist blacklisted blocklist blocklisted denylist denylisted discard discarded',
  allow:
    'allow allowed accept accepted permit permitted pass passed whitelist whitelisted allowlist allowlisted safelist safelisted bypass bypassed benign harmless trusted exempt falsepositive',
  unblock: 'unblock unblocked unban unbanned',
  other: 'captcha throttle throttled ratelimit ratelimited challenge challenged',
};
const OTHERS: Readonly<Record<Verdict, string>> = {
  block: 'malicious shun shunned blackhole sinkhole refuse refused discardall denyall dropall rejectall prevent prevented',
  allow: 'ok dunno relay clean good safe trust permitall acceptall allowall',
  unblock: '',
  other: 'none noaction simulate simulated log logged monitor monitored audit alert alerted detect detected ignore ignored skip except',
};
const verdicts = (...tables: readonly Readonly<Record<Verdict, string>>[]): ReadonlyMap<string, Verdict> =>
  new Map(
    tables.flatMap((table) =>
      Object.entries(table).flatMap(([verdict, words]) => words.split(' ').map((word) => [word, verdict as Verdict])),
    ),
  );
const CLEAR_WORDS = verdicts(CLEAR);
const WORDS = verdicts(CLEAR, OTHERS);

const wordOf = (text: string) => text.toLowerCase().replace(/[^a-z\d]/g, '');

/** What becomes of an entry that is none any more. */
const ENDS = new Set(
  'revoked deleted delete removed remove del inactive disabled expired archived withdrawn retired delisted unlisted falsepos'.split(' '),
);

/** Whether a text says that its row is no longer enforced, or is removed. */
export const isEnd = (text: string): boolean => ENDS.has(wordOf(text));

/** The verdict that a text is, in any letter case and with any marks; undefined where it is none. */
export const verdictOf = (text: string): Verdict | undefined => WORDS.get(wordOf(text));

/** The same in a column that need not hold verdicts, such as `status`: only words that mean nothing else. */
export const clearVerdictOf = (text: string): Verdict | undefined => CLEAR_WORDS.get(wordOf(text));

/** Words that turn what follows them into what is not blocked. */
const NEGATION = /^(except(ions?|ed)?|exclu(de|ded|sions?)|ignored?|skip(ped)?|exempt(ed|ions?)?|safe|not?|never)$/i;

/** The verdict that a heading or the name of a list has among its words: `never_block` and `ignoreIps` are exceptions. */
export function verdictAmongWords(name: string): string | undefined {
  const words = name.slice(0, 200).split(/[^\p{L}]+|(?<=[a-z])(?=[A-Z])/u);
  return words.find((word) => NEGATION.test(word)) !== undefined ? 'except' : words.find((word) => clearVerdictOf(word) !== undefined);
}
