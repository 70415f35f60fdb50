import { count, percent } from '../../format.js';

/** @param {readonly number[]} values */
export const sum = (values) => values.reduce((total, value) => total + value, 0);

/** A count next to that of the period before: `before 1,200, +25%`. @param {number} now @param {number} before */
export function compared(now, before) {
  if (now === before) return 'as before';
  const share = before === 0 ? '' : `, ${now > before ? '+' : '−'}${percent(Math.abs(now - before) / before)}`;
  return `before ${count(before)}${share}`;
}
