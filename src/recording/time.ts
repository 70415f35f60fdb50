/** Parses log times to milliseconds since 1970; undefined if invalid. */

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const COMMON = /^\[?([0-9]{2})\/([A-Z][a-z]{2})\/([0-9]{4}):([0-9:]{8}) ([+-][0-9]{2})([0-9]{2})\]?$/;

/** `10/Oct/2000:13:55:36 -0700`. */
export function logTime(text: string): number | undefined {
  const found = COMMON.exec(text);
  if (found === null) return undefined;
  const [, day, month, year, clock, hours, minutes] = found;
  const number = String(MONTHS.indexOf(month) + 1).padStart(2, '0');
  return known(Date.parse(`${year}-${number}-${day}T${clock}${hours}:${minutes}`));
}

// Seconds of this century have ten digits, milliseconds thirteen.
const MOST_SECONDS = 1e11;

/** Accepts seconds or milliseconds as a number, ISO 8601, and the form above. */
export function anyTime(value: unknown): number | undefined {
  const number =
    typeof value === 'number' ? value : typeof value === 'string' && /^[0-9]{9,13}(\.[0-9]+)?$/.test(value) ? Number(value) : null;
  if (number !== null) return number < MOST_SECONDS ? Math.round(number * 1000) : Math.round(number);
  if (typeof value !== 'string') return undefined;
  return logTime(value) ?? known(Date.parse(value));
}

const known = (time: number) => (Number.isNaN(time) ? undefined : time);
