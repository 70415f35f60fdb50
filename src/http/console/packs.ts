/**
 * The modules of the console, joined: what a page needs at once comes in three answers rather than in fifty, and in half of the bytes, since
 * texts that are alike are compressed together (SPEC D18.91). Each module is a function of its own, which is run when it is used first.
 */

/** Texts of modules by their path. */
export type Modules = ReadonlyMap<string, string>;

/** Modules that are imported when they are needed, and use another one, for that to come with the entry. */
const SHARED = 6;

/** The pack of a module that is imported when it is needed. */
export const packOf = (path: string): string => path.replaceAll('/', '-');

/**
 * Packs by their name: one of the entry, with what it imports and what most others do, and one of each module that is imported when it is
 * needed, with all that it imports and that is not there yet wherever that is.
 */
export function packsOf(modules: Modules, entry: string): ReadonlyMap<string, string> {
  const started = closureOf(modules, entry);
  const closures = new Map<string, ReadonlySet<string>>([[entry, started]]);
  for (const [, paths] of closures) {
    for (const path of [...paths].flatMap((each) => neededLater(modules, each))) {
      if (!closures.has(path)) closures.set(path, closureOf(modules, path));
    }
  }
  const uses = Map.groupBy(
    [...closures.values()].flatMap((paths) => [...paths]),
    (path) => path,
  );
  const shared = [...uses].filter(([, each]) => each.length >= SHARED).map(([path]) => path);
  closures.set(entry, new Set([...started, ...shared].flatMap((path) => [...closureOf(modules, path)])));

  /** What is there wherever a module is imported when it is needed. */
  const there = (path: string): ReadonlySet<string> => {
    if (path === entry) return new Set();
    const importers = [...closures].filter(([, paths]) => [...paths].some((each) => neededLater(modules, each).includes(path)));
    const known = importers.map(([importer, paths]) => paths.union(there(importer)));
    return known.reduce((all, each) => all.intersection(each));
  };
  return new Map(
    [...closures].map(([path, paths]) => {
      const joined = [...paths.difference(there(path))].map((each) => functionOf(modules, each));
      return [packOf(path), [path === entry ? headOf(modules, entry) : TAKEN(entry), ...joined, ''].join('\n')];
    }),
  );
}

const IMPORT = /^import \{([^}]*)\} from '([^']+)';$/gm;
const LATER = /\bimport\('(\.[^']+)'\)/g;
const EXPORT = /^export (const|class|(?:async )?function\*?) (\w+)/gm;

const isLibrary = (name: string) => !name.startsWith('.');
const pathFrom = (path: string, name: string): string => (isLibrary(name) ? name : new URL(name, `file:///${path}`).pathname.slice(1));

/** What a module imports. */
const importsOf = (modules: Modules, path: string): string[] => [...modules.get(path)!.matchAll(IMPORT)].map(([, , name]) => name!);
/** The modules that one imports when they are needed. */
const neededLater = (modules: Modules, path: string): string[] =>
  [...modules.get(path)!.matchAll(LATER)].map(([, name]) => pathFrom(path, name!));

/** A module and those that it imports, and so on. */
function closureOf(modules: Modules, path: string): ReadonlySet<string> {
  const found = new Set([path]);
  for (const each of found) {
    for (const name of importsOf(modules, each)) if (!isLibrary(name)) found.add(pathFrom(each, name));
  }
  return found;
}

/** A module as a function that returns what it exports. */
function functionOf(modules: Modules, path: string): string {
  const exports: string[] = [];
  const body = modules
    .get(path)!
    .replace(IMPORT, (_, names: string, name: string) => `const {${names.replace(/ as /g, ': ')}} = $use('${pathFrom(path, name)}');`)
    .replace(LATER, (_, name: string) => `$load('${packOf(pathFrom(path, name))}', '${pathFrom(path, name)}')`)
    .replace(EXPORT, (_, declared: string, name: string) => {
      exports.push(name);
      return `${declared} ${name}`;
    });
  if (/^(?:import|export) /m.test(body)) throw new Error(`${path}: an import or export is written as no other is`);
  return `$define('${path}', () => {\n${body.trim()}\nreturn { ${exports.join(', ')} };\n});`;
}

/** What runs modules, before those of the entry; the entry itself is run at the end. */
function headOf(modules: Modules, entry: string): string {
  const libraries = [...new Set([...modules.keys()].flatMap((path) => importsOf(modules, path)).filter(isLibrary))];
  return `${libraries.map((name, i) => `import * as $${i} from '${name}';`).join('\n')}
const [$known, $made] = [new Map(), new Map()];
export const $define = (path, make) => void ($known.has(path) || $known.set(path, make));
export const $use = (path) => $made.get(path) ?? $made.set(path, $known.get(path)()).get(path);
export const $load = (pack, path) => import('./' + pack).then(() => $use(path));
${libraries.map((name, i) => `$define('${name}', () => $${i});`).join('\n')}
queueMicrotask(() => $use('${entry}'));`;
}

const TAKEN = (entry: string) => `import { $define, $use, $load } from './${packOf(entry)}';`;
