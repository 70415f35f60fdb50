export const LIST_ACTIONS = ['block', 'allow', 'unblock'] as const;
export type ListAction = (typeof LIST_ACTIONS)[number];

/** `other`: neither block nor allow, such as a captcha. */
export type Verdict = ListAction | 'other';

/** Valid in every column; `verdictOf` accepts more in verdict columns. */
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
/** Words such as `passed` may mean anything in a column without a meaning (`spf`, `login`). */
const LISTS: Readonly<Record<Verdict, string>> = {
  block: 'blacklist blacklisted blocklist blocklisted denylist denylisted',
  allow: 'whitelist whitelisted allowlist allowlisted safelist safelisted exempt falsepositive',
  unblock: '',
  other: '',
};
const LIST_WORDS = verdicts(LISTS);
const CLEAR_WORDS = verdicts(CLEAR);
const WORDS = verdicts(CLEAR, OTHERS);

const wordOf = (text: string) => text.toLowerCase().replace(/[^a-z\d]/g, '');

const ENDS = new Set(
  'revoked deleted delete removed remove del inactive disabled expired archived withdrawn retired delisted unlisted falsepos'.split(' '),
);

/** Whether the row is no longer enforced, or removed. */
export const isEnd = (text: string): boolean => ENDS.has(wordOf(text));

/** Ignores case and punctuation; undefined if unknown. */
export const verdictOf = (text: string): Verdict | undefined => WORDS.get(wordOf(text));

/** For columns such as `status`: only unambiguous words. */
export const clearVerdictOf = (text: string): Verdict | undefined => CLEAR_WORDS.get(wordOf(text));

/** For columns without a known meaning. */
export const listVerdictOf = (text: string): Verdict | undefined => LIST_WORDS.get(wordOf(text));

/** Words negating a block. */
const NEGATION = /^(except(ions?|ed)?|exclu(de|ded|sions?)|ignored?|skip(ped)?|exempt(ed|ions?)?|safe|not?|never)$/i;

/** `never_block` and `ignoreIps` are exceptions. */
export function verdictAmongWords(name: string): string | undefined {
  const words = name.slice(0, 200).split(/[^\p{L}]+|(?<=[a-z])(?=[A-Z])/u);
  return words.find((word) => NEGATION.test(word)) !== undefined ? 'except' : words.find((word) => clearVerdictOf(word) !== undefined);
}
