/** Read once. The version in their address changes with any of them, so browsers cache them for good. */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type File, fileOf } from '../files.ts';
import { packOf, packsOf } from './packs.ts';
import { tableModules } from './tables.ts';

/** The first paint: the frame of the pages, or the sign-in form. */
export type Opening = 'shell' | 'sign-in';

interface ConsoleFiles {
  readonly version: string;
  readonly files: ReadonlyMap<string, File>;
  page(opening: Opening, path: string): File;
  readonly scriptHashes: readonly string[];
}

export const FILES = '/console/files';

const FOLDER = new URL('../../../packages/console/', import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const LIBRARIES: Readonly<Record<string, { readonly file: string; readonly path: string; readonly exports?: string }>> = {
  preact: { file: 'preact', path: 'lib/preact.js' },
  'preact/hooks': { file: 'preact/hooks', path: 'lib/preact-hooks.js' },
  htm: { file: 'htm', path: 'lib/htm.js' },
  'htm/preact': { file: 'htm/preact', path: 'lib/htm-preact.js' },
  // The module build is three times as large.
  uplot: { file: 'uplot/dist/uPlot.iife.min.js', path: 'lib/uplot.js', exports: 'uPlot' },
};

/** In cascade order. Sent as one file: browsers paint nothing before the last one. */
const STYLES = ['tokens', 'base', 'shell', 'surfaces', 'controls', 'tables', 'details', 'dialogs', 'plots', 'path', 'pages'].map(
  (name) => new URL(`styles/${name}.css`, FOLDER),
);
const STYLE = 'styles.css';
/** Inline, to run before the first paint: sets the colour theme and starts early requests. */
const THEME = 'opening/theme.js';
const FIRST = [THEME, 'opening/early.js'];
const HELP_STYLE = 'help/help.css';

const ENTRY = 'app.js';
const SIGN_IN = 'sign-in.js';
const PAGE = 'index.html';

export function readConsole(): ConsoleFiles {
  const read = (name: string) => readFileSync(new URL(name, FOLDER), 'utf8');
  const texts = new Map<string, string>();
  const contents = new Map<string, Buffer>();
  for (const path of readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).toSorted()) {
    if (extname(path) === '.js') texts.set(path, withoutComments(read(path)));
    else if (extname(path) === '.svg') contents.set(path, readFileSync(new URL(path, FOLDER)));
  }
  for (const [path, text] of tableModules()) texts.set(path, text);
  for (const [path, text] of packsOf(texts, ENTRY)) contents.set(path, Buffer.from(text));
  for (const { file, path, exports } of Object.values(LIBRARIES)) {
    const script = readFileSync(fileURLToPath(import.meta.resolve(file)));
    contents.set(path, exports === undefined ? script : Buffer.concat([script, Buffer.from(`\nexport default ${exports};\n`)]));
  }
  const sheets = [...STYLES, import.meta.resolve('uplot/dist/uPlot.min.css')].map((sheet) => readFileSync(new URL(sheet), 'utf8'));
  contents.set(STYLE, Buffer.from(sheets.join('\n').replace(STYLE_COMMENTS, '')));
  for (const path of [HELP_STYLE, THEME]) contents.set(path, readFileSync(new URL(path, FOLDER)));
  const openings = { shell: read('opening/shell.html'), 'sign-in': read('opening/sign-in.html') };
  const template = read(PAGE);
  const first = FIRST.map((path) => texts.get(path)!.trim());

  const pieces = [template, ...Object.values(openings), ...first, ...[...contents].flat()];
  const version = hash('sha256', Buffer.concat(pieces.map((piece) => Buffer.from(piece))), 'hex').slice(0, 16);
  const address = (path: string) => `${FILES}/${version}/${path}`;
  const imports = Object.fromEntries(Object.entries(LIBRARIES).map(([name, { path }]) => [name, address(path)]));
  const importMap = JSON.stringify({ imports });
  const pages = pageModules(texts.get('pages.js')!);
  const made = new Map<string, File>();
  const make = (opening: Opening, page: string | undefined) => {
    const firstPage = opening === 'sign-in' ? SIGN_IN : pages.get(page ?? '');
    const packs = [ENTRY, ...(firstPage === undefined ? [] : [firstPage])].map(packOf);
    const needed = [...packs, ...Object.values(LIBRARIES).flatMap(({ path, exports }) => (exports === undefined ? path : []))];
    const text = template
      .replace('<!-- opening -->', openings[opening].trim())
      .replaceAll('{{files}}', address('').slice(0, -1))
      .replace('{}', importMap)
      .replace(
        '<!-- preloads -->',
        needed.map((path) => `<link rel="modulepreload" fetchpriority="low" href="${address(path)}">`).join('\n'),
      )
      // Without a session there is nothing to request early.
      .replace('<!-- first -->', () =>
        (opening === 'shell' ? first : first.slice(0, 1)).map((script) => `<script>${script}</script>`).join('\n'),
      );
    return fileOf('text/html; charset=utf-8', Buffer.from(text));
  };
  return {
    version,
    files: new Map([...contents].map(([path, bytes]) => [path, fileOf(TYPES[extname(path)]!, bytes)])),
    page(opening, path) {
      const page = opening === 'sign-in' ? undefined : pageAt(pages.keys(), path);
      const place = `${opening} ${page}`;
      const file = made.get(place) ?? make(opening, page);
      made.set(place, file);
      return file;
    },
    scriptHashes: [importMap, ...first].map((script) => `'sha256-${hash('sha256', script, 'base64')}'`),
  };
}

const ROW = /^ *\['(\/[^']*)',[^\n]*\(\) => import\('\.\/([^']+)'\)\],?$/gm;

/** Modules of pages by path below /console, from pages.js. */
export const pageModules = (rows: string): ReadonlyMap<string, string> =>
  new Map([...rows.matchAll(ROW)].map(([, path, module]) => [path!, module!]));

/** Same rule as `pageOf` of pages.js. */
export const pageAt = (pages: Iterable<string>, path: string): string | undefined =>
  [...pages].find((page) => path === page || (page !== '/' && path.startsWith(`${page}/`)));

const [BLOCK, LINE] = ['/\\*\\*(?:(?!\\*/)[\\s\\S])*\\*/', '//'];
const COMMENTS = new RegExp(`^[ \\t]*(?:${BLOCK}[ \\t]*|${LINE} .*)\\n|${BLOCK} ?`, 'gm');

/** In style sheets, with indentation and blank lines. */
const STYLE_COMMENTS = /^\s+|\/\*[\s\S]*?\*\/\s*/gm;

/** On lines of their own, and types before a parenthesis: a fifth of the bytes. */
export const withoutComments = (text: string): string => text.replace(COMMENTS, '');
