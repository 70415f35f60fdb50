/** Conditional requests (RFC 9110, 13): pure functions of header values. */

export interface Conditions {
  readonly 'if-match'?: string | undefined;
  readonly 'if-none-match'?: string | undefined;
  readonly 'if-modified-since'?: string | undefined;
  readonly 'if-unmodified-since'?: string | undefined;
}

export interface Validators {
  /** Strong, with quotes. */
  readonly etag: string;
  /** Whole seconds since 1970. */
  readonly lastModified: number;
}

/** Order of RFC 9110, 13.2.2. `now` (ms) resolves two-digit years; called only for a date. */
export function evaluate(conditions: Conditions, { etag, lastModified }: Validators, now: () => number): 200 | 304 | 412 {
  const ifMatch = conditions['if-match'];
  if (ifMatch !== undefined) {
    if (!matches(ifMatch, etag, false)) return 412;
  } else {
    const unmodifiedSince = httpDate(conditions['if-unmodified-since'], now);
    if (unmodifiedSince !== undefined && lastModified > unmodifiedSince) return 412;
  }
  const ifNoneMatch = conditions['if-none-match'];
  if (ifNoneMatch !== undefined) return matches(ifNoneMatch, etag, true) ? 304 : 200;
  const modifiedSince = httpDate(conditions['if-modified-since'], now);
  return modifiedSince !== undefined && lastModified <= modifiedSince ? 304 : 200;
}

/** Weakness, opaque tag with quotes. */
const ENTITY_TAG = /[\t ]*(?:,[\t ]*)*(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[\t ]*(?:,|$)/y;

/** Whether `*` or a list names this strong tag. Stops at the first malformed tag. */
function matches(field: string, etag: string, weakly: boolean): boolean {
  if (field === etag || field.trim() === '*') return true;
  ENTITY_TAG.lastIndex = 0;
  for (let found = ENTITY_TAG.exec(field); found !== null; found = ENTITY_TAG.exec(field)) {
    if (found[2] === etag && (weakly || found[1] === undefined)) return true;
  }
  return false;
}

/** Weak comparison; `tag` with quotes. */
export const namesTag = (field: string, tag: string): boolean => matches(field, tag, true);

/** undefined for `*`. */
export function strongTags(field: string): string[] | undefined {
  if (field.trim() === '*') return undefined;
  const tags: string[] = [];
  ENTITY_TAG.lastIndex = 0;
  for (let found = ENTITY_TAG.exec(field); found !== null; found = ENTITY_TAG.exec(field)) if (found[1] === undefined) tags.push(found[2]!);
  return tags;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const LONG_DAY = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)';
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)';
/** IMF-fixdate, RFC 850 and asctime (RFC 9110, 5.6.7). */
const FORMS = [
  `${DAY}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT`,
  `${LONG_DAY}, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT`,
  `${DAY} ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`));

/** Whole seconds since 1970; undefined: no valid date. `now` in ms. */
export function httpDate(text: string | undefined, now: () => number): number | undefined {
  if (text === undefined) return undefined;
  for (const form of FORMS) {
    const parts = form.exec(text)?.groups;
    if (parts !== undefined) return secondsOf(parts, now());
  }
  return undefined;
}

function secondsOf(parts: Record<string, string>, now: number): number | undefined {
  const [day, hour, minute, second] = [parts.day, parts.hour, parts.minute, parts.second].map(Number);
  const month = MONTHS.indexOf(parts.month);
  const year = parts.year.length === 2 ? fullYear(Number(parts.year), now) : Number(parts.year);
  // A leap second counts as second 59.
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  if (date.getUTCMonth() !== month || date.getUTCDate() !== day) return undefined;
  return date.getTime() / 1000 + hour * 3600 + minute * 60 + Math.min(second, 59);
}

/** The current century, or the last if that is more than 50 years ahead (RFC 9110, 5.6.7). */
function fullYear(digits: number, now: number): number {
  const current = new Date(now).getUTCFullYear();
  const year = current - (current % 100) + digits;
  return year > current + 50 ? year - 100 : year;
}

export const formatHttpDate = (seconds: number): string => new Date(seconds * 1000).toUTCString();
