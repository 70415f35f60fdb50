/** What becomes of the addresses of a list, in words. */
import { count } from './format.js';

/** @typedef {{ action: 'block' | 'allow', family: 4 | 6, before: number, after: number, widest: string[] }} AddressChange */

/** Facts of a change. @param {readonly AddressChange[]} rows @returns {[label: string, text: string][]} */
export const addressFacts = (rows) =>
  rows.map(({ action, family, before, after, widest }) => [
    `${action === 'allow' ? 'Never-blocked ' : ''}${family === 4 ? 'IPv4 addresses' : 'IPv6 networks of /64'}`,
    `${count(before)} now, ${count(after)} then${widest.length === 0 ? '' : `; widest new: ${widest.join(', ')}`}`,
  ]);
