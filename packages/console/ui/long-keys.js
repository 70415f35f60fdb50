/**
 * undefined: the key moves nowhere.
 * @param {string} key
 * @param {number} index
 * @param {{ rows: number, page: number }} of Rows that there are, and of a page.
 */
export function goalOf(key, index, { rows, page }) {
  /** @type {Record<string, number>} */
  const goals = { ArrowDown: index + 1, ArrowUp: index - 1, PageDown: index + page, PageUp: index - page, Home: 0, End: rows - 1 };
  const goal = goals[key];
  return goal === undefined ? undefined : Math.min(Math.max(0, goal), rows - 1);
}
