import { count } from '../format.js';

const MINUTES = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const DAYS = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** @param {number} at seconds @param {boolean} days */
export const instantText = (at, days) => (days ? DAYS : MINUTES).format(at * 1000);

/**
 * `14:05: 12 accepted, 0 failed`
 * @param {readonly number[]} times
 * @param {readonly Series[]} series
 * @param {number} i
 * @param {boolean} days
 */
export function readingAt(times, series, i, days) {
  const values = series.flatMap(({ label, values: all }) =>
    all[i] === null || all[i] === undefined ? [] : [`${count(/** @type {number} */ (all[i]))} ${label}`],
  );
  return `${instantText(/** @type {number} */ (times[i]), days)}: ${values.length === 0 ? 'unknown' : values.join(', ')}`;
}

/**
 * Both points included: each covers the time before it, or its UTC day.
 * @param {readonly number[]} times
 * @param {number} a
 * @param {number} b
 * @param {boolean} days
 * @returns {[from: number, to: number]} seconds
 */
export function spanOf(times, a, b, days) {
  const [first, last] = [Math.min(a, b), Math.max(a, b)];
  const step = times.length > 1 ? /** @type {number} */ (times[1]) - /** @type {number} */ (times[0]) : 3600;
  const [from, to] = [/** @type {number} */ (times[first]), /** @type {number} */ (times[last])];
  return days ? [from, to + 86_400] : [from - step, to];
}

/** @param {readonly number[]} times @param {number | undefined} span @param {boolean} days @returns {[from: number, to: number]} */
export function visibleRange(times, span, days) {
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0];
  if (span !== undefined) return [last - span, last];
  const around = (days ? 7 * 86_400 : 3600) / 2;
  return first === last ? [first - around, last + around] : [first, last];
}

/** @param {KeyboardEvent} event @param {{ at: number, from: number }} now @param {number} length */
export function moved({ key, shiftKey }, { at, from }, length) {
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: length - 1, PageUp: at - 10, PageDown: at + 10 }[key];
  if (to === undefined) return undefined;
  const next = Math.min(length - 1, Math.max(0, to));
  return { at: next, from: shiftKey ? from : next };
}
