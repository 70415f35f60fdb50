/** What the service tells of the worth of lists, and how it is said. */
import { duration } from '../../format.js';
import { link } from '../../router.js';

/** @typedef {{ entries: number, addresses_v4: number, addresses_v6: number }} Share */
/** @typedef {{ of: number, before: number, after: number, never: number, lead_seconds: number | null }} Witness */
/** @typedef {{ days: number, count: number, first: string | null }} Detected */
/**
 * @typedef {Share & { id: string, name: string, source: boolean, added: number, gone: number, unique: Share, idle: boolean,
 *   copies: { name: string, entries: number }[], detections: Witness, never_block: { count: number },
 *   overlaps: (Share & { name: string })[], hits: number }} WorthList
 */
/** @typedef {{ at: string, detections: Detected, lists: WorthList[], lists_left_out: number, dropped: { hits: number } }} Worth */
/**
 * @typedef {Omit<WorthList, 'never_block'> & { at: string, detected: Detected, left_out: number, protected: string[],
 *   days: { day: string, added: number, expired: number, removed: number, undone: number, hits: number }[],
 *   never_block: { count: number, first: { list: string, value: string }[] },
 *   feeds: { kind: string, name: string, action: string, entries: number, entries_without: number, costs: number, entry_limit: number }[] }} OneWorth
 */

/** @param {{ id: string }} list */
export const linkToWorth = ({ id }) => link('/worth', id);

/** How long before half of the detections were listed. @param {number} seconds */
export const earlierText = (seconds) => `by ${duration(seconds * 1000)}`;

/** `75%` of a list; `<1%` of what is not none. @param {number} part @param {number} whole */
export const shareText = (part, whole) => {
  if (part === 0 || whole === 0) return '–';
  const share = Math.floor((100 * part) / whole);
  return share === 0 ? '<1%' : `${share}%`;
};
