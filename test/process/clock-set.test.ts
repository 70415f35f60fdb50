/** A whole weir whose machine's clock is set, back and forward (SPEC D5.18). */
import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { getFeed, postSignals } from '../support/http.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { eventually, KEY, type Weir, weirFor } from '../support/weir.ts';

const HOUR = 3_600_000;
const PRELOAD = new URL('../support/settable-clock.ts', import.meta.url).href;

// They mostly wait.
suite('a clock that is set', { concurrency: true }, () => {
  test('D37.1 a clock that is set 200 seconds ahead of the store’s: feeds and bouncers are told what holds, for as long as it holds', {
    skip: noPostgres(),
    timeout: 120_000,
  }, async (t) => {
    const postgres = await startPostgres();
    t.after(() => postgres.stop());
    const folder = temporaryFolder(t);
    const file = join(folder, 'clock');
    const setClock = (ms: number) => writeFileSync(file, String(ms));
    setClock(0);
    const settings = {
      ...smallGeo(folder),
      DATA_DIR: join(folder, 'data'),
      DATABASE_URL: await postgres.createDatabase(),
      BOOTSTRAP_API_KEY: KEY,
      FEED_REBUILD_SECONDS: '1',
      CLOCK_FILE: file,
      NODE_OPTIONS: `--import ${PRELOAD}`,
    };
    const first = await weirFor(t, settings);
    await postSignals(first.url, KEY, [{ type: 'access_rules', action: 'block', ip: '192.0.2.1', expiration: 150 }]);
    const began = Date.now();
    const holds = async ({ url }: Weir) => {
      const { status, text } = await getFeed(url, KEY);
      assert.deepEqual([status, text], [200, '192.0.2.1/32\n']);
      const reply = await fetch(`${url}/v1/decisions/stream?startup=true`, { headers: { 'x-api-key': KEY } });
      const [{ duration }] = ((await reply.json()) as { new: { duration: string }[] }).new;
      const [, minutes = '0', seconds] = /^(?:(\d+)m)?([\d.]+)s$/.exec(duration)!;
      const left = 150 - (Date.now() - began) / 1000;
      const told = 60 * Number(minutes) + Number(seconds);
      // An answer is shared for a while (D14.7).
      assert.ok(told > left - 1 && told < left + 60, `${duration}, and ${left} s are left`);
    };
    await eventually(() => holds(first));
    setClock(200_000);
    for (const until = performance.now() + 2500; performance.now() < until; ) await holds(first);
    await first.kill('SIGKILL');
    await holds(await weirFor(t, settings));
  });

  for (const [how, set] of [
    ['back by an hour', -HOUR],
    ['forward by an hour', HOUR],
    ['forward by a day less a minute', 24 * HOUR - 60_000],
  ] as const) {
    test(`D5.18, D1.3, 8 a clock set ${how}: feeds follow, weir is ready, requests are admitted`, async (t) => {
      const folder = temporaryFolder(t);
      const file = join(folder, 'clock');
      const setClock = (ms: number) => {
        writeFileSync(`${file}.new`, String(ms));
        renameSync(`${file}.new`, file);
      };
      setClock(0);
      const weir = await weirFor(t, {
        ...smallGeo(folder),
        DATA_DIR: join(folder, 'data'),
        BOOTSTRAP_API_KEY: KEY,
        FEED_REBUILD_SECONDS: '1',
        CLOCK_FILE: file,
        NODE_OPTIONS: `--import ${PRELOAD}`,
      });
      const modified: number[] = [];
      const reads = (text: string) =>
        eventually(async () => {
          const reply = await getFeed(weir.url, KEY);
          assert.deepEqual([reply.status, reply.text, reply.headers['x-feed-stale-since']], [200, text, undefined]);
          modified.push(Date.parse(reply.headers['last-modified']!));
        });
      const block = async (ip: string) =>
        assert.equal((await postSignals(weir.url, KEY, [{ type: 'access_rules', action: 'block', ip }])).status, 200);

      await block('192.0.2.1');
      await reads('192.0.2.1/32\n');
      setClock(set);
      await block('192.0.2.3');
      await reads('192.0.2.1/32\n192.0.2.3/32\n');
      const { status, body } = await fetch(`${weir.url}/readyz`).then(async (reply) => ({
        status: reply.status,
        body: await reply.text(),
      }));
      assert.equal(status, 200, body);
      setClock(0);
      await block('192.0.2.5');
      await reads('192.0.2.1/32\n192.0.2.3/32\n192.0.2.5/32\n');
      assert.deepEqual(
        modified,
        modified.toSorted((a, b) => a - b),
        'Last-Modified goes back',
      );
    });
  }
});
