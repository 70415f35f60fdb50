/** Lists that come by themselves (SPEC D23.10 and following), from good, careless and hostile servers, over the embedded engine. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { temporaryFolder } from '../support/folder.ts';
import { address, list, listServer } from '../support/list-server.ts';
import { HOUR, sourceWorld } from '../support/source-world.ts';

const world = await sourceWorld({ DATA_DIR: temporaryFolder({ after }) });
const server = await listServer();
after(async () => {
  await world[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => address(from + n));
const text = (from: number, to: number) => `${lines(from, to).join('\n')}\n`;

test('D23.10, D23.20 a list is what its origin has, as changes; what has not changed is one request and no batch', async () => {
  server.set('/plain', list(text(0, 200)));
  const source = await world.add('plain', { url: `${server.url}/plain` });
  await world.run();
  assert.deepEqual(await world.rules(source), lines(0, 200).sort());
  assert.equal(world.state(source).entries, 200);
  const batches = (await world.base.store.batches(world.workspaceId, { limit: 100 })).length;
  const { etag, confirmedAt } = world.state(source);
  await world.next(source);
  assert.equal(server.asked.get('/plain'), 2);
  assert.equal(server.headers.get('/plain')!['if-none-match'], etag);
  assert.equal((await world.base.store.batches(world.workspaceId, { limit: 100 })).length, batches);
  assert.ok(world.state(source).confirmedAt! >= confirmedAt! + HOUR);

  server.set('/plain', list(text(10, 210)));
  await world.next(source);
  assert.deepEqual(await world.rules(source), lines(10, 210).sort());
  const [run] = await world.base.store.sourceRuns(world.workspaceId, source.id);
  assert.deepEqual([run!.outcome, run!.added, run!.removed], ['applied', 10, 10]);
});
