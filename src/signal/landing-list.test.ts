import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Caller } from '../account/caller.ts';
import { landingList } from './landing-list.ts';

const caller = (given: Partial<Caller> = {}) => ({ workspaceId: 'w', listId: null, ...given }) as Caller;
const list = { id: 'l1', name: 'edge', sourceId: null };

/** A store that is there, away, or hangs. */
function storeWith(lists: readonly object[]) {
  const state: { is: 'there' | 'away' | 'hanging'; lists: readonly object[] } = { is: 'there', lists };
  const answer = async <T>(value: () => T): Promise<T> => {
    if (state.is === 'away') throw new Error('the store is away');
    if (state.is === 'hanging') return new Promise(() => {});
    return value();
  };
  const store = { defaultList: () => answer(() => 'd'), findNamed: () => answer(() => ({ lists: state.lists })) };
  return { state, landing: landingList(store as never, () => {}) };
}

test('D34.4 signals for a list that was found before are taken while the store is away or hangs; others are refused', async () => {
  const { state, landing } = storeWith([list]);
  assert.equal(await landing(caller(), 'edge'), 'l1');
  for (const is of ['away', 'hanging'] as const) {
    state.is = is;
    assert.equal(await landing(caller(), 'edge'), 'l1');
    assert.equal(((await landing(caller({ listId: 'l2' }), 'edge')) as { code: string }).code, 'FORBIDDEN');
  }
  state.is = 'away';
  for (const [who, asked] of [
    [caller(), 'other'],
    [caller({ workspaceId: 'v' }), 'edge'],
  ] as const)
    assert.equal(((await landing(who, asked)) as { code: string }).code, 'STORE_UNAVAILABLE');
});

test('D39.3 a list that was found by its name is known by its id while the store is away, and no more where it was gone', async () => {
  const { state, landing } = storeWith([list]);
  await landing(caller(), 'edge');
  state.is = 'away';
  assert.equal(await landing(caller(), 'l1'), 'l1');
  state.is = 'there';
  state.lists = [];
  await landing(caller(), 'edge');
  state.is = 'away';
  assert.equal(((await landing(caller(), 'l1')) as { code: string }).code, 'STORE_UNAVAILABLE');
});

test('D34.4 what is known of a list is what the store told last', async () => {
  const { state, landing } = storeWith([list]);
  await landing(caller(), 'edge');
  state.lists = [{ ...list, sourceId: 's' }];
  await landing(caller(), 'edge');
  state.is = 'away';
  assert.equal(((await landing(caller(), 'edge')) as { code: string }).code, 'REFUSED');
  state.is = 'there';
  state.lists = [];
  assert.equal(((await landing(caller(), 'edge')) as { code: string }).code, 'NOT_FOUND');
  state.is = 'away';
  assert.equal(((await landing(caller(), 'edge')) as { code: string }).code, 'STORE_UNAVAILABLE');
});
