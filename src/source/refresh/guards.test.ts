import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_GUARDS } from '../../account/source.ts';
import type { SyncPlan } from '../sync.ts';
import { type ContentFacts, guardFaults } from './guards.ts';

const NOTHING = { present: 0, added: 0, changed: 0, removed: 0, unchanged: 0, kept: 0, listed: 0, failed: 0, refused: 0, expired: 0 };
const FACTS: ContentFacts = { wider: { count: 0, first: '' }, wide: undefined, broadBefore: false, undone: undefined, hadContent: false };
const judged = (plan: Partial<SyncPlan>, facts: Partial<ContentFacts> = {}, guards: Partial<typeof DEFAULT_GUARDS> = {}) =>
  guardFaults(
    { ...NOTHING, addresses: [], passed: {}, faults: [], isLarge: false, wide: 0, ...plan },
    { ...FACTS, ...facts },
    { ...DEFAULT_GUARDS, ...guards },
  );

test('D23.16 a refresh is judged by what would be removed and added, not by sizes', () => {
  const before = { present: 1000, unchanged: 1000 };
  assert.deepEqual(judged({ ...before, added: 500 }), []);
  assert.match(judged({ ...before, added: 501 })[0]!, /501 would be added to the 1000/);
  assert.deepEqual(judged({ ...before, removed: 500, unchanged: 500 }), []);
  // As many as before, and yet others.
  assert.equal(judged({ present: 1000, removed: 600, added: 600, unchanged: 400 }).length, 2);
  assert.deepEqual(judged({ ...before, added: 5000 }, {}, { changePercent: 500 }), []);
});

test('D23.16 few may come to a small list, a first content may be of any size, and one that may be empty may lose few', () => {
  assert.deepEqual(judged({ present: 3, unchanged: 3, added: 100 }), []);
  assert.deepEqual(judged({ added: 100_000 }), []);
  assert.equal(judged({ present: 5, removed: 4, unchanged: 1 }).length, 1);
  assert.deepEqual(judged({ present: 5, removed: 5 }, {}, { mayBeEmpty: true }), []);
  assert.equal(judged({ present: 500, removed: 500 }, {}, { mayBeEmpty: true }).length, 1);
});

test('D23.16 an empty content is held unless it may be empty, and so is one of which nothing can be taken', () => {
  assert.match(judged({})[0]!, /it is empty/);
  assert.deepEqual(judged({}, {}, { mayBeEmpty: true }), []);
  assert.match(judged({ refused: 10 }).join(), /it is empty.*guard rails refuse 10 of 10/);
});

test('D23.16 what guard rails refuse and what cannot be read have a share each', () => {
  assert.deepEqual(judged({ added: 90, refused: 10 }), []);
  assert.match(judged({ added: 89, refused: 11 })[0]!, /guard rails refuse 11 of 100 entries, more than 10 %/);
  const faults = [{ place: 'line 7', message: 'is no address' }];
  assert.match(judged({ added: 99, failed: 1, faults })[0]!, /1 of 100 entries cannot be used, more than 0 %: line 7: is no address/);
  assert.deepEqual(judged({ added: 99, failed: 1, faults }, {}, { faultsPercent: 1 }), []);
});

test('D23.16 wide networks, whole countries and ASNs, and what follows an undone refresh wait for somebody', () => {
  assert.match(judged({ added: 9 }, { wider: { count: 2, first: '0.0.0.0/1' } })[0]!, /2 networks are wider.*0\.0\.0\.0\/1/);
  assert.match(judged({ added: 9 }, { wide: '1 country, 900 networks' })[0]!, /1 country, 900 networks/);
  assert.deepEqual(judged({ added: 9 }, { wide: '1 country, 900 networks', broadBefore: true }), []);
  assert.match(judged({ added: 9 }, { undone: 'by batch x' })[0]!, /the last refresh was undone by batch x/);
});

test('D44.2 a refresh that changes most of the addresses waits, in a row of its own beside what is said of entries', () => {
  const addresses = [
    { action: 'block', family: 4, before: 2000, after: 2 ** 24, added: 2 ** 24, removed: 2000, widest: ['60.0.0.0/8'] },
  ] as const;
  const [fault, ...others] = judged({ present: 2000, unchanged: 2000, added: 1, addresses });
  assert.match(fault!, /IPv4 addresses instead of 2,000 .*60\.0\.0\.0\/8\), more than 50 %$/);
  assert.deepEqual(others, []);
  assert.deepEqual(judged({ added: 1, addresses }), [], 'the first one');
});

test('D44.12 a content that the list has already never waits, whatever was undone, is wide, or is empty by now', () => {
  const facts = { undone: 'by batch x', wider: { count: 1, first: '0.0.0.0/0' }, wide: '1 country' };
  assert.deepEqual(judged({ present: 9, unchanged: 9 }, facts), []);
  assert.equal(judged({ present: 9, unchanged: 9, changed: 1 }, facts).length, 3);
  assert.deepEqual([judged({}, { hadContent: true }), judged({}).length], [[], 1]);
  // What it has besides, and the list does not, is judged.
  assert.equal(judged({ present: 9, unchanged: 9, failed: 1 }, facts).length, 1);
});
