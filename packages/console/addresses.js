import { count } from './format.js';

/** @param {readonly AddressChange[]} rows @returns {[label: string, text: string][]} */
export const addressFacts = (rows) =>
  rows.map(({ action, family, before, after, widest }) => [
    `${action === 'allow' ? 'Never-blocked ' : ''}${family === 4 ? 'IPv4 addresses' : 'IPv6 networks of /64'}`,
    `${count(before)} now, ${count(after)} after${widest.length === 0 ? '' : `; widest new: ${widest.join(', ')}`}`,
  ]);
