/** Modules in packs: three responses instead of fifty, half the bytes (SPEC D18.91). Each becomes a function that runs on first use. */

export type Modules = ReadonlyMap<string, string>;

/** A module used by so many lazy modules goes into the entry pack. */
const SHARED = 6;

export const packOf = (path: string): string => path.replaceAll('/', '-');

/** One pack for the entry with its imports and widely used modules; one for each lazy module with imports not yet loaded. */
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
  const there = (path: string): ReadonlySet<string> => {
    if (path === entry) return new Set();
    const known = opened.filter(({ later }) => later.has(path)).map((importer) => importer.paths.union(there(importer.path)));
    return known.reduce((all, each) => all.intersection(each));
  };
  return new Map(
    opened.map(({ path, paths }) => {
      const joined = [...paths.difference(there(path))].map((each) => functionOf(modules, each));
      return [packOf(path), [path === entry ? headOf(graph, entry) : IMPORTS(entry), ...joined, ''].join('\n')];
    }),
  );
}

type Graph = ReadonlyMap<string, { readonly imports: readonly string[]; readonly later: readonly string[] }>;

const IMPORT = /^import \{([^}]*)\} from '([^']+)';$/gm;
const LATER = /\bimport\('(\.[^']+)'\)/g;
const EXPORT = /^export (const|class|(?:async )?function\*?) (\w+)/gm;

const pathFrom = (path: string, name: string): string => (name.startsWith('.') ? new URL(name, `file:///${path}`).pathname.slice(1) : name);

const namesIn = (path: string, text: string) => ({
  imports: [...text.matchAll(IMPORT)].map(([, , name]) => pathFrom(path, name!)),
  later: [...text.matchAll(LATER)].map(([, name]) => pathFrom(path, name!)),
});

const neededLater = (graph: Graph, paths: Iterable<string>): ReadonlySet<string> =>
  new Set([...paths].flatMap((path) => graph.get(path)!.later));

function closureOf(graph: Graph, paths: readonly string[]): ReadonlySet<string> {
  const found = new Set(paths);
  for (const path of found) for (const each of graph.get(path)!.imports) if (graph.has(each)) found.add(each);
  return found;
}

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

const IMPORTS = (entry: string) => `import { $define, $use, $load } from './${packOf(entry)}';`;
