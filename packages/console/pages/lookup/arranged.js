/** The order of nodes and the bundles of edges in a path. Pure functions. */

/** Passes over the columns, there and back. */
const PASSES = 4;

/** Sorts each column by barycentre, the mean place of a node's neighbours, and bundles edges. @param {Omit<PathModel, 'bundles'>} model @returns {PathModel} */
export function arranged({ columns, edges }) {
  const lists = columns.map(({ nodes }) => [...nodes]);
  for (let pass = 0; pass < PASSES; pass += 1) {
    const isForth = pass % 2 === 0;
    for (let i = 1; i < lists.length; i += 1) {
      const [at, from] = isForth ? [i, i - 1] : [lists.length - 1 - i, lists.length - i];
      lists[at] = byBarycentre(lists[at], new Map(lists[from].map(({ id }, place) => [id, place])), edges);
    }
  }
  return { columns: columns.map((column, i) => ({ ...column, nodes: lists[i] })), edges, bundles: bundlesOf(edges) };
}

/** Nodes without neighbours keep their place. @param {PathStep[]} nodes @param {Map<string, number>} places @param {Edge[]} edges */
function byBarycentre(nodes, places, edges) {
  const means = new Map(
    nodes.map(({ id }, place) => {
      const near = edges.flatMap(({ from, to }) => (to === id ? (places.get(from) ?? []) : from === id ? (places.get(to) ?? []) : []));
      return [id, near.length === 0 ? place : near.reduce((sum, each) => sum + each, 0) / near.length];
    }),
  );
  return nodes.toSorted((a, b) => (means.get(a.id) ?? 0) - (means.get(b.id) ?? 0));
}

/** Nodes with the same edges, of the same kinds, share a bundle: m + n lines instead of m × n. @param {Edge[]} edges @returns {Bundle[]} */
function bundlesOf(edges) {
  const kindOf = (/** @type {Edge} */ { tone, goes }) => `${tone} ${goes ? 'goes' : ''}`;
  const sets = groups(edges, ({ from }) => from);
  const alike = groups([...sets.entries()], ([, of]) => JSON.stringify(of.map((edge) => [edge.to, kindOf(edge)]).sort()));
  return [...alike.values()].flatMap((nodes) => {
    const of = nodes.flatMap(([, each]) => each);
    return [...groups(of, kindOf)].map(([kind, same]) => ({
      from: [...new Set(same.map(({ from }) => from))],
      to: [...new Set(same.map(({ to }) => to))],
      kind,
    }));
  });
}

/** @template T @param {readonly T[]} items @param {(item: T) => string} keyOf @returns {Map<string, T[]>} */
function groups(items, keyOf) {
  /** @type {Map<string, T[]>} */
  const found = new Map();
  for (const item of items) found.set(keyOf(item), [...(found.get(keyOf(item)) ?? []), item]);
  return found;
}
