import { duration } from '../../format.js';
import { link } from '../../router.js';

/** @param {{ id: string }} list */
export const linkToOverlap = ({ id }) => link('/worth', id);

/** @param {number} seconds */
export const earlierText = (seconds) => duration(seconds * 1000);

/** `75%`; `<1%` for a non-empty share. @param {number} part @param {number} total */
export const shareText = (part, total) => {
  if (part === 0 || total === 0) return '–';
  const share = Math.floor((100 * part) / total);
  return share === 0 ? '<1%' : `${share}%`;
};
