import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryFolder } from '../../test/support/folder.ts';
import { keyParts } from '../account/key.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import { ensureFirstKey } from './first-key.ts';

const BOOTSTRAP = 'a-bootstrap-key-of-more-than-24-characters';
const OTHER = 'another-key-of-more-than-24-characters';

test('D2.14 a BOOTSTRAP_API_KEY that is another key of the store, or that is revoked, is warned of; its text is not shown', async (t) => {
  const store = await openSqliteStore(temporaryFolder(t));
  t.after(() => store.close());
  const start = async (key: string) => {
    const lines: string[] = [];
    await ensureFirstKey(key, store, Date.now(), (_level, line) => lines.push(line));
    return lines.filter((line) => line.startsWith('BOOTSTRAP_API_KEY'));
  };
  assert.deepEqual([await start(BOOTSTRAP), await start(BOOTSTRAP)], [[], []]);

  const [{ id: workspaceId }] = await store.workspaces();
  const parts = { name: null, permissions: ['feed:read'], listId: null, feedId: null, expiresAt: null } as const;
  const other = await store.createKey(workspaceId, { ...parts, ...keyParts(OTHER) });
  assert.deepEqual(await start(OTHER), [
    `BOOTSTRAP_API_KEY is the key ${other.id}, which existed before; its workspace and permissions are unchanged: feed:read`,
  ]);

  const own = (await store.keys(workspaceId)).find(({ name }) => name === 'bootstrap')!;
  await store.revokeKey(own.id);
  assert.deepEqual(await start(BOOTSTRAP), [`BOOTSTRAP_API_KEY is the key ${own.id}, which is revoked`]);
});
