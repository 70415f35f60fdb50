import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FeedFacts } from '../facts.ts';
import { afterBuild, type SizeState } from './feed-events.ts';

const HOUR = 3_600_000;

const facts = (entryCount: number, entryLimit: number): FeedFacts => ({ entryCount, entryLimit, nextExpiry: Number.POSITIVE_INFINITY });

/** Builds a feed with a cap of 1,000 with these numbers of entries, an hour apart: the events of each, and what is open after it. */
function history(...counts: (number | FeedFacts)[]): string[] {
  let state: SizeState | undefined;
  return counts.map((count, i) => {
    const after = afterBuild(state, typeof count === 'number' ? facts(count, 1000) : count, i * HOUR);
    state = after.state;
    const open = [state.tight, state.shrunk].flatMap((each) => (each === undefined ? [] : [each.kind]));
    return `${after.events.map(({ kind, level }) => `${kind} ${level}`).join(', ')} | ${open.join(', ')}`;
  });
}

test('D10.10 a feed that nears its cap, goes over and comes back is told at each change, and not between', () => {
  assert.deepEqual(history(900, 901, 990, 1000, 1001, 2000, 950, 900, 851, 850, 900), [
    ' | ',
    'near_cap warn | near_cap',
    ' | near_cap',
    ' | near_cap',
    'over_cap warn | over_cap',
    ' | over_cap',
    'under_cap info, shrunk warn | near_cap, shrunk',
    ' | near_cap, shrunk',
    ' | near_cap, shrunk',
    'under_cap info | shrunk',
    ' | shrunk',
  ]);
  assert.deepEqual(history(1001, 10), ['over_cap warn | over_cap', 'under_cap info, shrunk warn | shrunk']);
  assert.deepEqual(history(1001, facts(1001, 9000)), ['over_cap warn | over_cap', 'under_cap info | ']);
});

test('D10.12 a loss of half of the entries, from 100 on, is open for a day unless they come back', () => {
  assert.deepEqual(history(99, 0, 100, 51, 100, 50, 50, 51), [
    ' | ',
    ' | ',
    ' | ',
    ' | ',
    ' | ',
    'shrunk warn | shrunk',
    ' | shrunk',
    ' | ',
  ]);
  assert.deepEqual(history(800, 300, 100), [' | ', 'shrunk warn | shrunk', 'shrunk warn | shrunk']);
  assert.deepEqual(history(100, ...Array(26).fill(0)).slice(-3), [' | shrunk', ' | ', ' | ']);
});

test('D10.10, D10.12 the lines say the numbers', () => {
  const texts = (entries: number, before?: SizeState) => afterBuild(before, facts(entries, 2000), 0).events.map(({ text }) => text);
  const over = afterBuild(undefined, facts(4000, 2000), 0).state;
  assert.deepEqual(texts(1999), ['has 1,999 entries, 99% of its cap of 2,000']);
  assert.deepEqual(texts(4000), ['is over its cap of 2,000 with 4,000 entries: it is not published (413)']);
  assert.deepEqual(texts(2000, over), ['is back under its cap of 2,000: it has 2,000 entries', 'shrank from 4,000 to 2,000 entries']);
});

test('D62.6 blocks that guard rails only report are open while there are any, and logged at each change', () => {
  const warned = (...names: string[]): FeedFacts => ({ ...facts(10, 1000), ...(names.length > 0 && { warned: names }) });
  let state: SizeState | undefined;
  const texts = [warned('a'), warned('a'), warned('a', 'b', 'c', 'd'), warned()].map((content, i) => {
    const after = afterBuild(state, content, i * HOUR);
    state = after.state;
    return [after.events.map(({ kind }) => kind).join(), state.warned?.text.slice(-12), state.warned?.since];
  });
  assert.deepEqual(texts, [
    ['warned', ' networks: a', 0],
    ['', ' networks: a', 0],
    ['warned', 'c and 1 more', 0],
    ['unwarned', undefined, undefined],
  ]);
});
