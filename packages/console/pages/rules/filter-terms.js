/** The filter of rules as one line of text, such as `list:scanners wider:/16 reason~masscan changed<1d`, and as query of the address. */

/** @type {readonly FilterTerm[]} */
export const TERMS = [
  { word: 'list:', field: 'list', about: 'name of the list', of: 'access' },
  { word: 'is:', field: 'address', match: 'exact', about: 'exactly this address, network, ASN or country', of: 'access' },
  { word: 'in:', field: 'address', match: 'covered', about: 'networks inside this one', of: 'access' },
  { word: 'around:', field: 'address', match: 'covering', about: 'networks containing this address', of: 'access' },
  { word: 'wider:', field: 'wider', about: 'networks wider than /16', of: 'access' },
  { word: 'target:', field: 'target_kind', about: 'ip, asn or country', of: 'access' },
  { word: 'confidence:', field: 'confidence', about: 'low, medium, high or critical', of: 'access' },
  { word: 'severity:', field: 'severity', about: 'low, medium, high or critical', of: 'access' },
  { word: 'action:', field: 'action', about: 'block, allow, …' },
  { word: 'reason~', field: 'reason_contains', about: 'a part of the reason' },
  { word: 'reason:', field: 'reason', about: 'the exact reason' },
  { word: 'label:', field: 'label', about: 'name:value' },
  { word: 'changed<', field: 'since', about: 'changed less than 1h, 1d or 7d ago' },
  { word: 'expires<', field: 'expires_before', about: 'expiring within 1h, 1d or 7d' },
  { word: 'expires>', field: 'expires_from', about: 'expiring later than in 1d, or never' },
  { word: 'key:', field: 'key', about: 'name of the key of the last change' },
  { word: 'person:', field: 'person', about: 'author of the last change' },
  { word: 'batch:', field: 'batch', about: 'id of the batch of the last change' },
];

const PART = /[^\s"]*"[^"]*"?|\S+/g;

/** @param {string} text @returns {string[]} */
export const partsOf = (text) => text.match(PART) ?? [];

/** @param {boolean} isAccess */
export const termsOf = (isAccess) => TERMS.filter(({ of }) => isAccess || of === undefined);

/** Fields of the query, `match` included. */
export const FIELDS = ['match', ...new Set(TERMS.map(({ field }) => field))];

/**
 * A word alone is a target, or a part of the reason.
 * @param {string} text @param {boolean} isAccess @returns {{ query: Record<string, string>, faults: string[] }}
 */
export function readFilter(text, isAccess) {
  /** @type {Record<string, string>} */
  const query = {};
  /** @type {string[]} */
  const faults = [];
  const put = (
    /** @type {string} */ part,
    /** @type {string} */ field,
    /** @type {string} */ value,
    /** @type {string | undefined} */ match,
  ) => {
    if (query[field] === undefined || field === 'label') query[field] = query[field] === undefined ? value : `${query[field]}\n${value}`;
    else faults.push(`${part}: only one condition of its kind`);
    if (match !== undefined) query.match ??= match;
  };
  for (const part of partsOf(text)) {
    const term = termsOf(isAccess).find(({ word }) => part.toLowerCase().startsWith(word));
    const value = bare(part.slice(term?.word.length ?? 0));
    if (value === '') {
      if (term !== undefined) faults.push(`${part} has no value`);
      continue;
    }
    const [, name] = /^([a-z_]+)[:~<>](?![:\d])/i.exec(part) ?? [];
    if (term !== undefined) put(part, term.field, value, term.match);
    else if (isAccess && isTarget(value)) put(part, 'address', value, /[.:]/.test(value) ? 'covering' : 'exact');
    else if (name !== undefined && !part.startsWith('"')) faults.push(`${name} is not a condition`);
    else put(part, 'reason_contains', value, undefined);
  }
  return { query, faults };
}

const isTarget = (/** @type {string} */ value) => /^(\d+(\.\d+){1,3}(\/\d+)?|[\da-f]*:[\da-f:.]*(\/\d+)?|as\d+|[a-z]{2})$/i.test(value);

/** @param {string} value */
const bare = (value) => value.replaceAll('"', '').trim();

/** @param {(field: string) => string | null} get @param {boolean} isAccess @returns {string} */
export function writeFilter(get, isAccess) {
  const match = get('match');
  return termsOf(isAccess)
    .flatMap((term) => {
      const value = get(term.field);
      if (value === null || value === '' || (term.match !== undefined && term.match !== matchOf(value, match))) return [];
      return value.split('\n').map((each) => `${term.word}${/[\s"]/.test(each) ? `"${bare(each)}"` : each}`);
    })
    .join(' ');
}

/** @param {string} address @param {string | null | undefined} match */
export const matchOf = (address, match) => (/[.:]/.test(address) ? (match ?? 'covering') : 'exact');
