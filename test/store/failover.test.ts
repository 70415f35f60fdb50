/** A primary with a synchronous standby: what happens when the primary goes (SPEC D34). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { getFeed, postSignals } from '../support/http.ts';
import { administer, noOwnPostgres, startOwnPostgres } from '../support/postgres.ts';
import { eventually, KEY, weirFor } from '../support/weir.ts';

for (const how of ['kill', 'pause'] as const)
  test(`D34.1, D34.2 the primary ${how === 'kill' ? 'ends' : 'hangs'}: signals are accepted, feeds are served, and all goes on by itself once the standby is promoted`, {
    skip: noOwnPostgres(),
    timeout: 300_000,
  }, async (t) => {
    const folder = temporaryFolder(t);
    const primary = await startOwnPostgres({ shared_buffers: '16MB' });
    t.after(() => primary.stop());
    const standby = await startOwnPostgres({ shared_buffers: '16MB' }, primary.port);
    t.after(() => standby.stop());
    const at = (port: number, database = 'postgres') => `postgres://weir@127.0.0.1:${port}/${database}`;
    await administer(at(primary.port), `ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await administer(at(primary.port), 'SELECT pg_reload_conf()');
    const { pathname } = new URL(await primary.createDatabase());
    // The standby stands first: weir has to find the one that takes writes.
    const DATABASE_URL = `postgres://weir@127.0.0.1:${standby.port},127.0.0.1:${primary.port}${pathname}?target_session_attrs=read-write`;
    const weir = await weirFor(t, {
      ...smallGeo(folder),
      DATA_DIR: folder,
      DATABASE_URL,
      BOOTSTRAP_API_KEY: KEY,
      FEED_REBUILD_SECONDS: '1',
    });
    const block = async (ip: string) =>
      assert.equal((await postSignals(weir.url, KEY, [{ type: 'access_rules', action: 'block', ip }])).status, 200);
    const reads = async (text: string) => {
      const { status, text: body } = await getFeed(weir.url, KEY);
      assert.deepEqual([status, body], [200, text]);
    };

    await block('192.0.2.1');
    await eventually(() => reads('192.0.2.1/32\n'));
    await primary[how]();
    await block('192.0.2.3');
    await reads('192.0.2.1/32\n');
    await administer(at(standby.port), 'SELECT pg_promote()');
    const promoted = performance.now();
    await eventually(() => reads('192.0.2.1/32\n192.0.2.3/32\n'));
    t.diagnostic(`landed and served ${Math.round(performance.now() - promoted)} ms after the promotion`);
    if (how === 'pause') primary.resume();
  });
