/** Step of renumbered orders, leaving space for later rules. */
const STEP = 10;

const orderOf = (/** @type {Ordered} */ { order }) => order ?? Number.POSITIVE_INFINITY;
/** @param {Ordered} a @param {Ordered} b */
const isBefore = (a, b) => (orderOf(a) === orderOf(b) ? (a.rule_ref ?? '') < (b.rule_ref ?? '') : orderOf(a) < orderOf(b));

/** @param {readonly Ordered[]} rules */
function endOf(rules) {
  let at = rules.length;
  while (at > 0 && orderOf(rules[at - 1]) === Number.POSITIVE_INFINITY && (at === rules.length || isBefore(rules[at - 1], rules[at])))
    at -= 1;
  return at;
}

/** Positions of the longest run that is already in order. @param {readonly Ordered[]} rules @returns {number[]} */
function longestRun(rules) {
  const end = endOf(rules);
  const isIn = (i) => i >= end || orderOf(rules[i]) !== Number.POSITIVE_INFINITY;
  /** @type {{ length: number, before: number }[]} */
  const best = [];
  for (let i = 0; i < rules.length; i += 1) {
    best.push({ length: isIn(i) ? 1 : 0, before: -1 });
    for (let j = 0; j < i; j += 1)
      if (isIn(i) && isIn(j) && best[j].length >= best[i].length && isBefore(rules[j], rules[i]))
        best[i] = { length: best[j].length + 1, before: j };
  }
  const longest = Math.max(0, ...best.map(({ length }) => length));
  /** @type {number[]} */
  const places = [];
  if (longest === 0) return places;
  for (let at = best.findIndex(({ length }) => length === longest); at >= 0; at = best[at].before) places.unshift(at);
  return places;
}

/** Evenly spaced integers between two; undefined where too few exist. @param {number} low @param {number} high @param {number} many */
function between(low, high, many) {
  if (low === Number.POSITIVE_INFINITY) return undefined;
  if (high === Number.POSITIVE_INFINITY) {
    const from = low === Number.NEGATIVE_INFINITY ? 0 : low;
    return Array.from({ length: many }, (_, i) => from + STEP * (i + 1));
  }
  if (low === Number.NEGATIVE_INFINITY) return Array.from({ length: many }, (_, i) => high - STEP * (many - i));
  if (high - low - 1 < many) return undefined;
  return Array.from({ length: many }, (_, i) => low + Math.floor(((high - low) * (i + 1)) / (many + 1)));
}

/**
 * New orders by position, for rules in the wanted order. Changes as few rules as possible; renumbers all where no integers are free.
 * @param {readonly Ordered[]} rules In the order that is wanted.
 * @returns {Map<number, number>} The new order by the place of the rule.
 */
export function newOrders(rules) {
  const anchors = longestRun(rules);
  /** @type {Map<number, number>} */
  const changes = new Map();
  let before = -1;
  for (const anchor of [...anchors, rules.length]) {
    const many = anchor - before - 1;
    if (many > 0) {
      const low = before < 0 ? Number.NEGATIVE_INFINITY : orderOf(rules[before]);
      const orders = between(low, anchor === rules.length ? Number.POSITIVE_INFINITY : orderOf(rules[anchor]), many);
      if (orders === undefined) return renumbered(rules);
      for (const [i, order] of orders.entries()) changes.set(before + 1 + i, order);
    }
    before = anchor;
  }
  return changes;
}

/** @param {readonly Ordered[]} rules */
const renumbered = (rules) =>
  new Map(rules.flatMap(({ order }, i) => (order === STEP * (i + 1) ? [] : [/** @type {[number, number]} */ ([i, STEP * (i + 1)])])));
