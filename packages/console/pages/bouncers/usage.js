/** What a bouncer has counted, of the usage metrics that it sent last. They are of the bouncer: any shape is taken. */

/** @typedef {{ name: string, value: number, unit: string }} Count */

/** Counts that are shown. */
const MOST = 40;

/** @param {unknown} value @returns {any[]} */
const listOf = (value) => (Array.isArray(value) ? value : []);

/**
 * The sums by name and labels.
 * @param {any} metrics
 * @returns {Count[]}
 */
export function countsOf(metrics) {
  const components = [...listOf(metrics?.remediation_components), metrics];
  /** @type {Map<string, Count>} */
  const sums = new Map();
  for (const component of components) {
    for (const item of listOf(component?.metrics).flatMap((each) => listOf(each?.items))) {
      if (typeof item?.name !== 'string' || typeof item.value !== 'number' || !Number.isFinite(item.value)) continue;
      const labels = Object.values(Object(item.labels)).filter((value) => typeof value === 'string');
      const name = [item.name.replaceAll('_', ' '), ...labels].join(', ').slice(0, 200);
      const before = sums.get(name);
      if (before !== undefined) before.value += item.value;
      else if (sums.size < MOST)
        sums.set(name, { name, value: item.value, unit: typeof item.unit === 'string' ? item.unit.slice(0, 40) : '' });
    }
  }
  return [...sums.values()];
}
