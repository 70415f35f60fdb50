import { iso31661 } from 'iso-3166/1.js';

const CODES: ReadonlySet<string> = new Set(iso31661.map((entry) => entry.alpha2));

/** Whether `code` is an assigned ISO 3166-1 alpha-2 code in upper case. XK (Kosovo) is user-assigned, so it is not. */
export const isCountry = (code: string): boolean => CODES.has(code);
