/** What the modules of the console say of the pages, and what of them browsers need not read. */

const ROW = /\bpath: '([^']+)',[^{}]*\bload: \(\) => import\('\.\/([^']+)'\)/g;

/** The module of each page by its path below /console, as the rows of pages.js name them. */
export const pageModules = (rows: string): ReadonlyMap<string, string> =>
  new Map([...rows.matchAll(ROW)].map(([, path, module]) => [path!, module!]));

/** The page that a path below /console is of, as `pageOf` of pages.js finds it; undefined: of none. */
export const pageAt = (pages: Iterable<string>, path: string): string | undefined =>
  [...pages].find((page) => path === page || (page !== '/' && path.startsWith(`${page}/`)));

const [BLOCK, LINE] = ['/\\*\\*(?:(?!\\*/)[\\s\\S])*\\*/', '//'];
const COMMENTS = new RegExp(`^[ \\t]*(?:${BLOCK}[ \\t]*|${LINE} .*)\\n|${BLOCK} ?`, 'gm');

/** A module without its comments, a fifth of it: those that stand on lines of their own, and types before a parenthesis. */
export const withoutComments = (text: string): string => text.replace(COMMENTS, '');
