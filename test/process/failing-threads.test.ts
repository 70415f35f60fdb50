/** A whole weir one of whose threads fails by a defect. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { getFeed, postSignals } from '../support/http.ts';
import { eventually, KEY, weirFor } from '../support/weir.ts';

const PRELOAD = new URL('../support/failing-thread.ts', import.meta.url).href;

/** A weir whose thread of this name fails when it is told to, and its settings. */
async function failing(t: TestContext, thread: string, more: Record<string, string> = {}) {
  const folder = temporaryFolder(t);
  const file = join(folder, 'fail');
  const settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), BOOTSTRAP_API_KEY: KEY, FEED_REBUILD_SECONDS: '0', ...more };
  const failure = { FAILING_THREAD: thread, FAILING_FILE: file, NODE_OPTIONS: `--import ${PRELOAD}` };
  const weir = await weirFor(t, { ...settings, ...failure });
  return { weir, settings, fail: () => writeFileSync(file, ''), mend: () => rmSync(file) };
}

const block = async (url: string, ip: string) => (await postSignals(url, KEY, [{ type: 'access_rules', action: 'block', ip }])).status;

suite('a thread that fails', { concurrency: true }, () => {
  for (const roles of ['signals,consumer,feeds,manage', 'signals,feeds,manage']) {
    test(`D1.22, D4.10 the writer thread of ROLES=${roles} fails: the process ends, and the next one lands all that was accepted`, {
      timeout: 120_000,
    }, async (t) => {
      const { weir, settings, fail } = await failing(t, 'writer', { ROLES: roles });
      const ended = once(weir.child, 'close');
      const accepted = new Set<string>();
      fail();
      // Until it ends: an entry without an answer may have been accepted or not.
      for (let i = 0; weir.child.exitCode === null; i++) {
        const ip = `192.0.2.${i % 256}`;
        if ((await block(weir.url, ip).catch(() => undefined)) === 200) accepted.add(ip);
      }
      assert.deepEqual(await ended, [1, null]);
      assert.match(weir.output().stderr, /Error: a defect of a test\n {4}at /);
      const { url } = await weirFor(t, settings);
      const { status, text } = await getFeed(url, KEY, '?family=v4');
      assert.equal(status, 200);
      const ranges = text.split('\n').filter((line) => line !== '');
      const held = ranges.reduce((sum, line) => sum + 2 ** (32 - Number(line.split('/')[1])), 0);
      assert.ok(held >= accepted.size, `${held} addresses, ${accepted.size} accepted`);
    });
  }

  for (const thread of ['feeds', 'appender']) {
    test(`D1.22 the thread "${thread}" fails: another one goes on`, async (t) => {
      const { weir, fail, mend } = await failing(t, thread);
      assert.equal(await block(weir.url, '192.0.2.1'), 200);
      assert.equal((await getFeed(weir.url, KEY)).text, '192.0.2.1/32\n');
      fail();
      // What it is asked for while it fails may be refused, and is never half an answer.
      for (let i = 0; i < 20; i++) {
        for (const status of await Promise.all([1, 2, 3].map(() => block(weir.url, '192.0.2.3')))) assert.ok([200, 500].includes(status));
      }
      mend();
      await eventually(async () => assert.equal(await block(weir.url, '192.0.2.5'), 200));
      await eventually(async () => assert.equal((await getFeed(weir.url, KEY)).text.split('\n').at(-2), '192.0.2.5/32'));
      assert.equal(await weir.kill('SIGTERM'), 0);
    });
  }
});
