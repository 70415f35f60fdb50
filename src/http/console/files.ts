/** The files of the console: read once, each under an address that changes with any of them, so that browsers keep them for good. */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FORMAT_NAMES } from '../../document/formats/table.ts';
import { type File, fileOf } from '../files.ts';

/** What a browser paints first: the frame of the pages, or the form to sign in. */
export type Opening = 'shell' | 'sign-in';

/** The whole console. */
export interface ConsoleFiles {
  /** Of all files together. */
  readonly version: string;
  /** By path below the address of the version. */
  readonly files: ReadonlyMap<string, File>;
  /** The one page, at every address of the console: what is to be seen of it before its scripts run, for whoever is signed in or not. */
  readonly page: Readonly<Record<Opening, File>>;
  /** The CSP source of the page's import map. */
  readonly scriptHash: string;
}

/** Where the files are served: below it their version, then their path. */
export const FILES = '/console/files';

const FOLDER = new URL('../../../packages/console/', import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** What the modules import by name, with the file that the package has for browsers and the path under which they get it. */
const LIBRARIES: Readonly<Record<string, { readonly file: string; readonly path: string; readonly exports?: string }>> = {
  preact: { file: 'preact', path: 'lib/preact.js' },
  'preact/hooks': { file: 'preact/hooks', path: 'lib/preact-hooks.js' },
  htm: { file: 'htm', path: 'lib/htm.js' },
  'htm/preact': { file: 'htm/preact', path: 'lib/htm-preact.js' },
  // Its module is three times as large as its script.
  uplot: { file: 'uplot/dist/uPlot.iife.min.js', path: 'lib/uplot.js', exports: 'uPlot' },
};

/** The style sheets in their order. They are sent as one: nothing is painted before the last one is there. */
const STYLES = ['tokens', 'base', 'shell', 'surfaces', 'controls', 'tables', 'details', 'dialogs', 'plots', 'path', 'pages'].map(
  (name) => new URL(`styles/${name}.css`, FOLDER),
);
const STYLE = 'styles.css';
/** What the documents have besides. */
const HELP_STYLE = 'help/help.css';

const ENTRY = 'app.js';
const PAGE = 'index.html';

/** Reads the console. */
export function readConsole(): ConsoleFiles {
  const contents = new Map<string, Buffer>();
  for (const path of readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).toSorted()) {
    if (extname(path) in TYPES && extname(path) !== '.css') contents.set(path, readFileSync(new URL(path, FOLDER)));
  }
  contents.set('formats.js', Buffer.from(`export const FORMATS = ${JSON.stringify(FORMAT_NAMES)};\n`));
  for (const { file, path, exports } of Object.values(LIBRARIES)) {
    const script = readFileSync(fileURLToPath(import.meta.resolve(file)));
    contents.set(path, exports === undefined ? script : Buffer.concat([script, Buffer.from(`\nexport default ${exports};\n`)]));
  }
  const sheets = [...STYLES, import.meta.resolve('uplot/dist/uPlot.min.css')].map((sheet) => readFileSync(new URL(sheet)));
  contents.set(STYLE, Buffer.concat(sheets));
  contents.set(HELP_STYLE, readFileSync(new URL(HELP_STYLE, FOLDER)));
  const read = (name: string) => readFileSync(new URL(name, FOLDER), 'utf8');
  const openings = { shell: read('opening/shell.html'), 'sign-in': read('opening/sign-in.html') };
  const template = read(PAGE);

  const all = [...contents].flatMap(([path, bytes]) => [Buffer.from(path), bytes]);
  const version = hash('sha256', Buffer.concat([Buffer.from(template + Object.values(openings).join('')), ...all]), 'hex').slice(0, 16);
  const address = (path: string) => `${FILES}/${version}/${path}`;
  const imports = Object.fromEntries(Object.entries(LIBRARIES).map(([name, { path }]) => [name, address(path)]));
  const importMap = JSON.stringify({ imports });
  const preloads = modulesOf(contents, ENTRY).map((path) => `<link rel="modulepreload" fetchpriority="low" href="${address(path)}">`);
  const page = (opening: Opening) =>
    Buffer.from(
      template
        .replace('<!-- opening -->', openings[opening].trim())
        .replaceAll('{{files}}', address('').slice(0, -1))
        .replace('{}', importMap)
        .replace('<!-- preloads -->', preloads.join('\n')),
    );
  const html = 'text/html; charset=utf-8';
  return {
    version,
    files: new Map([...contents].map(([path, bytes]) => [path, fileOf(TYPES[extname(path)]!, bytes)])),
    page: { shell: fileOf(html, page('shell')), 'sign-in': fileOf(html, page('sign-in')) },
    scriptHash: `'sha256-${hash('sha256', importMap, 'base64')}'`,
  };
}

const IMPORT = /^(?:import|export|\}) [^'\n]*'([^'\n]+)';$/gm;

/** A module and those that it imports, and so on; not those that are imported when they are needed. */
function modulesOf(contents: ReadonlyMap<string, Buffer>, entry: string): string[] {
  const found = new Set([entry]);
  for (const path of found) {
    for (const [, name] of contents.get(path)!.toString().matchAll(IMPORT)) {
      const next = LIBRARIES[name!]?.path ?? new URL(name!, `file:///${path}`).pathname.slice(1);
      if (contents.has(next)) found.add(next);
    }
  }
  return [...found];
}
