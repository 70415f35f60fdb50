/** The formats of feeds. weir sends this module made anew from its own table (http/console/files.ts). @type {string[]} */
export const FORMATS = ['plain'];
