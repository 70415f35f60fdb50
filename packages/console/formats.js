/** @type {string[]} */
export const FORMATS = ['plain'];
