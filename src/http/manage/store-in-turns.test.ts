import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeInTurns } from './store-in-turns.ts';

test('D36.3 whoever waits for the same goes on in a turn of his own: each call of the store takes one', async () => {
  const turns: (() => void)[] = [];
  const called: string[] = [];
  const store = {
    async workspace(id: string) {
      called.push(id);
      return id;
    },
    rules: () => 'page by page',
  };
  const one = () => storeInTurns(store as never, () => new Promise<void>((turn) => turns.push(turn)));
  const asked = ['a', 'b'].map((id) => one().workspace(id));
  assert.deepEqual(called, []);
  turns.shift()!();
  assert.equal(await asked[0], 'a');
  assert.deepEqual(called, ['a']);
  turns.shift()!();
  assert.equal(await asked[1], 'b');
  assert.equal(one().rules as unknown, store.rules);
});
