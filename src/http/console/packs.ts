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
  const graph: Graph = new Map([...modules].map(([path, text]) => [path, namesIn(path, text)]));
  const started = closureOf(graph, [entry]);
  const closures = new Map<string, ReadonlySet<string>>([[entry, started]]);
  for (const [, paths] of closures) {
    for (const path of neededLater(graph, paths)) if (!closures.has(path)) closures.set(path, closureOf(graph, [path]));
  }
  const uses = Map.groupBy(
    [...closures.values()].flatMap((paths) => [...paths]),
    (path) => path,
  );
  const shared = [...uses].filter(([, each]) => each.length >= SHARED).map(([path]) => path);
  closures.set(entry, closureOf(graph, [...started, ...shared]));

  const opened = [...closures].map(([path, paths]) => ({ path, paths, later: neededLater(graph, paths) }));
  /** What is there wherever a module is imported when it is needed. */
  const there = (path: string): ReadonlySet<string> => {
    if (path === entry) return new Set();
    const known = opened.filter(({ later }) => later.has(path)).map((importer) => importer.paths.union(there(importer.path)));
    return known.reduce((all, each) => all.intersection(each));
  };
  return new Map(
    opened.map(({ path, paths }) => {
      const joined = [...paths.difference(there(path))].map((each) => functionOf(modules, each));
      return [packOf(path), [path === entry ? headOf(graph, entry) : TAKEN(entry), ...joined, ''].join('\n')];
    }),
  );
}

/** What each module imports, and what it imports when that is needed; libraries by their names. */
type Graph = ReadonlyMap<string, { readonly imports: readonly string[]; readonly later: readonly string[] }>;

const IMPORT = /^import \{([^}]*)\} from '([^']+)';$/gm;
const LATER = /\bimport\('(\.[^']+)'\)/g;
const EXPORT = /^export (const|class|(?:async )?function\*?) (\w+)/gm;

const pathFrom = (path: string, name: string): string => (name.startsWith('.') ? new URL(name, `file:///${path}`).pathname.slice(1) : name);

const namesIn = (path: string, text: string) => ({
  imports: [...text.matchAll(IMPORT)].map(([, , name]) => pathFrom(path, name!)),
  later: [...text.matchAll(LATER)].map(([, name]) => pathFrom(path, name!)),
});

/** What some modules import when it is needed. */
const neededLater = (graph: Graph, paths: Iterable<string>): ReadonlySet<string> =>
  new Set([...paths].flatMap((path) => graph.get(path)!.later));

/** Modules and those that they import, and so on. */
function closureOf(graph: Graph, paths: readonly string[]): ReadonlySet<string> {
  const found = new Set(paths);
  for (const path of found) for (const each of graph.get(path)!.imports) if (graph.has(each)) found.add(each);
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
function headOf(graph: Graph, entry: string): string {
  const libraries = [...new Set([...graph.values()].flatMap(({ imports }) => imports))].filter((name) => !graph.has(name));
  return `${libraries.map((name, i) => `import * as $${i} from '${name}';`).join('\n')}
const [$known, $made] = [new Map(), new Map()];
export const $define = (path, make) => void ($known.has(path) || $known.set(path, make));
export const $use = (path) => $made.get(path) ?? $made.set(path, $known.get(path)()).get(path);
export const $load = (pack, path) => import('./' + pack).then(() => $use(path));
${libraries.map((name, i) => `$define('${name}', () => $${i});`).join('\n')}
queueMicrotask(() => $use('${entry}'));`;
}

const TAKEN = (entry: string) => `import { $define, $use, $load } from './${packOf(entry)}';`;
