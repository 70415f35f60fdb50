const MOST = 40;

/** @param {unknown} value @returns {any[]} */
const listOf = (value) => (Array.isArray(value) ? value : []);

/** Sums of the counters a bouncer reported, by name and labels. Unknown shapes are ignored. @param {any} metrics @returns {UsageCount[]} */
export function countsOf(metrics) {
  const components = [...listOf(metrics?.remediation_components), metrics];
  /** @type {Map<string, UsageCount>} */
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
