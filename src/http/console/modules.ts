/** Reads the console's page table, and strips what browsers do not need. */

const ROW = /^ *\['(\/[^']*)',[^\n]*\(\) => import\('\.\/([^']+)'\)\],?$/gm;

/** Modules of pages by path below /console, from pages.js. */
export const pageModules = (rows: string): ReadonlyMap<string, string> =>
  new Map([...rows.matchAll(ROW)].map(([, path, module]) => [path!, module!]));

/** Same rule as `pageOf` of pages.js. */
export const pageAt = (pages: Iterable<string>, path: string): string | undefined =>
  [...pages].find((page) => path === page || (page !== '/' && path.startsWith(`${page}/`)));

const [BLOCK, LINE] = ['/\\*\\*(?:(?!\\*/)[\\s\\S])*\\*/', '//'];
const COMMENTS = new RegExp(`^[ \\t]*(?:${BLOCK}[ \\t]*|${LINE} .*)\\n|${BLOCK} ?`, 'gm');

/** Strips comments on lines of their own, and types before a parenthesis: a fifth of the bytes. */
export const withoutComments = (text: string): string => text.replace(COMMENTS, '');
