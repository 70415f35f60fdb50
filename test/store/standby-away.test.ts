/** A synchronous standby that is away: PostgreSQL holds every commit (SPEC D37.2). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { administer, noOwnPostgres, startOwnPostgres } from '../support/postgres.ts';
import { eventually } from '../support/weir.ts';

interface Refusal extends Error {
  readonly code: string;
  readonly cause: { readonly retryAfter: number };
}

test('D37.2 reads wait for no change that waits for the standby; so many changes wait, others are refused, and no more wait at the server', {
  skip: noOwnPostgres(),
  timeout: 120_000,
}, async (t) => {
  const server = await startOwnPostgres({ shared_buffers: '16MB' });
  t.after(() => server.stop());
  const url = await server.createDatabase();
  const store = await openPostgresStore(url, { connections: { reads: 2, changes: 3 } });
  t.after(() => store.close());
  const standbys = async (names: string) => {
    await administer(url, `ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await administer(url, 'SELECT pg_reload_conf()');
  };
  const waiting = async () => {
    // Without a commit of its own, which would wait too.
    const [row] = await administer(url, "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    return row!.n;
  };
  const make = (name: string): Promise<'made' | Refusal> =>
    store.createOrganization(name, 'active').then(
      () => 'made' as const,
      (error) => error as Refusal,
    );
  const isRefused = (outcome: Awaited<ReturnType<typeof make>>) =>
    assert.deepEqual(outcome === 'made' ? outcome : [outcome.code, outcome.cause.retryAfter], ['LIMITED', 5]);

  await make('before');
  await standbys('nobody');
  const first = ['a', 'b', 'c'].map(make);
  await eventually(async () => assert.equal(await waiting(), 3));
  const refused = make('d');
  let isGivenUp = false;
  const givenUp = Promise.race(first).finally(() => (isGivenUp = true));
  for (let n = 0; n < 20; n++) await Promise.all([store.ping(), store.workspaces(), store.ping()]);
  assert.equal(isGivenUp, false, 'reads wait');
  isRefused(await refused);
  await givenUp;
  for (const outcome of await Promise.all(first)) {
    assert.ok(outcome !== 'made' && outcome.code === 'STORE_UNAVAILABLE', String(outcome));
    assert.match(outcome.message, /waits for its synchronous standby; it is unknown whether the change was made/);
  }
  for (const name of 'efghijkl') isRefused(await make(name));
  assert.equal(await waiting(), 3);
  await standbys('');
  await eventually(async () => assert.equal(await make(`after ${performance.now()}`), 'made'));
});
