import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asyncOperations } from './async-operations.ts';

test('D15.55 late answers of many workspaces push out those of whoever has most, never the only one of a workspace', async () => {
  const { inTime, find } = asyncOperations({ patience: 0, now: () => 1, failed: () => ({ status: 500, body: {} }) });
  /** The id of an answer that came late. */
  async function late(workspaceId: string): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<{ status: number; body: object }>();
    const { body, until } = (await inTime({ workspaceId, keyId: 'k' }, () => promise)) as {
      body: { answer: string };
      until?: Promise<void>;
    };
    resolve({ status: 200, body: {} });
    await until;
    return body.answer;
  }
  const known = (workspaceId: string, id: string) => find({ workspaceId, keyId: 'k' }, id)?.status === 200;
  const quiet = await late('quiet');
  for (let n = 0; n < 40; n += 1) for (let each = 0; each < 8; each += 1) await late(`busy ${n}`);
  assert.ok(known('quiet', quiet));
  const own = [];
  for (let each = 0; each < 9; each += 1) own.push(await late('mine'));
  assert.deepEqual([known('mine', own[0]!), known('mine', own[8]!)], [false, true]);
});
