const COUNT = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 0 });
const DATE_TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** `131,072` @param {number} value */
export const count = (value) => COUNT.format(value);
/** `131K` @param {number} value */
export const shortCount = (value) => SHORT.format(value);
/** `97%`; `100%` only for exactly 1. @param {number} share */
export const percent = (share) => (share > 0.99 && share < 1 ? '99%' : PERCENT.format(share));
/** In the reader's time zone. @param {string | number} at */
export const dateTime = (at) => DATE_TIME.format(new Date(at));
/** In UTC, `4 May`. @param {string | number} at */
export const day = (at) => DAY.format(new Date(at));
/** In UTC, `4 May 2026`. @param {string | number} at */
export const dayOf = (at) => DATE.format(new Date(at));
/** Adds a missing full stop. @param {string} text */
export const sentence = (text) => (/[.!?]$/.test(text) ? text : `${text}.`);
/** `1 rule`, `3 rules` @param {number} value @param {string} one @param {string} [many] */
export const counted = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;
/** `, and 3 more` @param {number} all @param {number} named */
export const andMore = (all, named) => (all > named ? `, and ${count(all - named)} more` : '');

const UNITS = /** @type {const} */ ([
  ['y', 365 * 86_400_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
]);

/** Blocks without an end last 100 years; from this length on the console shows `never`, ms. */
const FOR_GOOD = 50 * 365 * 86_400_000;

/** @param {number} ms */
export const isForGood = (ms) => ms >= FOR_GOOD;

/** `never` for rules without an end. @param {string | null} until */
export const endText = (until) => (until === null || isForGood(Date.parse(until) - Date.now()) ? 'never' : dateTime(until));

/** Time left, rounded up to its second unit: a new block of 7 days reads `7 d`, not `6 d 23 h`. @param {number} ms */
export function timeLeft(ms) {
  const unit = UNITS.findIndex(([, length]) => ms >= length);
  const step = UNITS[Math.min(UNITS.length - 1, Math.max(0, unit) + 1)][1];
  return duration(Math.ceil(ms / step) * step);
}

/** The two largest units: `2 h 5 min`, `40 s`. @param {number} ms */
export function duration(ms) {
  const largest = UNITS.findIndex(([, length]) => ms >= length);
  if (largest < 0) return '0 s';
  const [unit, length] = UNITS[largest];
  const amount = Math.floor(ms / length);
  const smaller = UNITS[largest + 1];
  const rest = smaller === undefined ? 0 : Math.floor((ms - amount * length) / smaller[1]);
  return rest === 0 || (unit === 'd' && amount > 9) || (unit === 'y' && amount > 9)
    ? `${amount} ${unit}`
    : `${amount} ${unit} ${rest} ${smaller?.[0]}`;
}

/** `5 min ago` @param {number} at ms @param {number} now ms */
export function ago(at, now) {
  const passed = now - at;
  if (passed < 5000) return 'just now';
  const [unit, length] = /** @type {readonly [string, number]} */ (UNITS.find(([, each]) => passed >= each));
  return `${Math.floor(passed / length)} ${unit} ago`;
}

/** `12.3 KiB` @param {number} bytes */
export function size(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  const step = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  return `${step === 0 ? bytes : (bytes / 1024 ** step).toFixed(1)} ${units[step]}`;
}

const SECONDS = { h: 3600, d: 86_400 };
/** Choices of durations such as `7d`, as numbers of seconds. @param {string[]} texts @returns {Option[]} */
export const durations = (...texts) =>
  texts.map((text) => {
    const number = Number.parseInt(text, 10);
    const unit = /** @type {keyof typeof SECONDS} */ (text.at(-1));
    return { value: String(number * SECONDS[unit]), label: number === 365 ? '1 year' : counted(number, unit === 'h' ? 'hour' : 'day') };
  });
