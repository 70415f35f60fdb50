/** What every store driver must do with changes that are made together (SPEC D28.4). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { NO_SETTINGS } from '../../src/account/list.ts';
import type { ChangeCall } from '../../src/ports/stored/transaction-store.ts';
import { fixture, KEY, type StoreDriver } from './store.ts';

export function togetherConformance(driver: StoreDriver): void {
  const { name } = driver;

  test(`D28.4 store ${name}: changes that are made together are all made or none, of the state that they are for, and one act`, async (t) => {
    const { store, workspace } = await fixture(t, driver);
    const state = async () => (await store.workspaceState(workspace.id))!;
    const by = { keyId: 'k', actor: 'Жанна', act: randomUUID() };
    const [list, key] = [randomUUID(), randomUUID()];
    const calls: ChangeCall[] = [
      { call: 'updateWorkspace', args: [workspace.id, { minPrefixV4: 8 }, { by }] },
      { call: 'createList', args: [workspace.id, 'edge', NO_SETTINGS, 0, { by, id: list }] },
      { call: 'createFeed', args: [workspace.id, { ...NO_SETTINGS, name: 'device', lists: [list] }, { by }] },
      { call: 'createKey', args: [workspace.id, { ...KEY, hash: Buffer.from('fw'), name: 'fw', listId: list }, { by, id: key }] },
    ];
    const before = await state();
    const taken: ChangeCall = { call: 'createFeed', args: [workspace.id, { ...NO_SETTINGS, name: 'edge', lists: null }, { by }] };
    await assert.rejects(store.changeInOneTransaction(workspace.id, before.tag, [...calls, taken], by), { code: 'REFUSED' });
    await assert.rejects(store.changeInOneTransaction(workspace.id, '"x"', calls, by), { code: 'CHANGED' });
    assert.deepEqual(await state(), before);

    await store.changeInOneTransaction(workspace.id, before.tag, calls, by);
    const after = await state();
    assert.notEqual(after.tag, before.tag);
    assert.equal(after.workspace.minPrefixV4, 8);
    assert.deepEqual([after.feeds[0]!.lists, after.keys[0]!.id, after.keys[0]!.listId], [[list], key, list]);
    const { items } = await store.auditPage(workspace.id, { after: null, limit: 5 });
    assert.deepEqual(
      items.map(({ event, by: { actor, act } }) => [event, actor, act]),
      ['settings applied', 'key created', 'feed created', 'list created', 'workspace changed'].map((event) => [event, 'Жанна', by.act]),
    );
    await assert.rejects(store.changeInOneTransaction(workspace.id, before.tag, [], by), { code: 'CHANGED' });
    await store.touchKeys([{ id: key, at: 5 }]);
    assert.equal((await state()).tag, after.tag, 'that a key is used changes nothing');
    assert.equal(await store.workspaceState(randomUUID()), undefined);
  });
}
