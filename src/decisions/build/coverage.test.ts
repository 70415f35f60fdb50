import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMPLETING_LIST, coverageOf, SEVERAL } from './coverage.ts';

/** A repeatable source of numbers. */
function numbers(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test('D14.5, D31.2 a network expires with its first address, whichever rules lie in each other, is of one list or of several, and has one that completes it', () => {
  const below = numbers(7);
  for (let round = 0; round < 2000; round++) {
    const rules = Array.from({ length: 1 + below(8) }, () => {
      const size = 2 ** below(5);
      const start = below(32 / size) * size;
      return { start, end: start + size, expires: below(4) === 0 ? Number.POSITIVE_INFINITY : 1 + below(9), list: 1 + below(3) };
    });
    /** What covers each of 32 addresses. */
    const addresses = Array.from({ length: 32 }, (_, at) => rules.filter(({ start, end }) => start <= at && at < end));
    const networks: { start: number; end: number }[] = [];
    for (let at = 0; at < 32; ) {
      const size = [8, 4, 2, 1].find((wide) => at % wide === 0 && addresses.slice(at, at + wide).every((covering) => covering.length > 0));
      if (size !== undefined && below(5) > 0) networks.push({ start: at, end: at + size });
      at += size ?? 1;
    }
    rules.sort((a, b) => a.start - b.start || b.end - a.end);
    const covering = {
      starts: rules.map(({ start }) => start),
      ends: rules.map(({ end }) => end),
      expires: rules.map(({ expires }) => expires),
      lists: rules.map(({ list }) => list),
    };
    const bounds = { starts: networks.map(({ start }) => start), ends: networks.map(({ end }) => end) };
    const { expires, lists } = coverageOf<number>(covering, bounds);
    const { lists: completing } = coverageOf<number>(covering, bounds, COMPLETING_LIST);
    for (const [i, { start, end }] of networks.entries()) {
      const within = addresses.slice(start, end);
      assert.equal(expires[i], Math.min(...within.map((each) => Math.max(...each.map(({ expires }) => expires)))), `round ${round}`);
      const of = new Set(within.flat().map(({ list }) => list));
      assert.equal(lists[i], of.size === 1 ? [...of][0] : SEVERAL, `round ${round}`);
      const isComplete = (list: number) => within.every((each) => each.some((rule) => rule.list <= list));
      assert.equal(completing[i], [1, 2, 3].find(isComplete), `round ${round}`);
    }
  }
});
