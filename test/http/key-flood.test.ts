/** A flood of unknown keys on PostgreSQL, where each look-up takes a connection: a valid key must not feel it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandJson } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { getFeed, postSignals } from '../support/http.ts';
import { measure, measureFlood } from '../support/key-flood.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { eventually, inTime, KEY, weirFor } from '../support/weir.ts';

const SECONDS = 4;
/** By how much the valid key's p99 may be above twice that before, and its median a fourth of this, ms. */
const MORE = 100;

test('D2.12 D2.9 2,000 unknown keys a second on PostgreSQL: a valid key never gets an error, and is answered as fast as before; a new key works', {
  skip: noPostgres(),
}, async (t) => {
  const postgres = await startPostgres();
  t.after(() => postgres.stop());
  const folder = temporaryFolder(t);
  const settings = { ...smallGeo(folder), DATA_DIR: folder, DATABASE_URL: await postgres.createDatabase(), TRUST_PROXY: '127.0.0.1' };
  const { url } = await weirFor(t, { ...settings, BOOTSTRAP_API_KEY: KEY, RATE_LIMIT_SIGNALS: '0', RATE_LIMIT_FEEDS: '0' });
  const block = () => postSignals(url, KEY, [{ type: 'access_rules', action: 'block', ip: '192.0.2.1' }]);
  assert.deepEqual([(await block()).status, (await getFeed(url, KEY)).status], [200, 200]);

  // Each run holds the flood against what the machine makes of the same polls without it.
  await inTime(MORE, async () => {
    const calm = await measure(url, KEY, SECONDS / 2);
    const { times, control, statuses, answers } = await measureFlood(url, KEY, SECONDS, async () => {
      const { key } = await commandJson<{ key: string }>(['key', 'create', '--workspace', 'default'], settings);
      const began = performance.now();
      await eventually(async () => assert.equal((await getFeed(url, key)).status, 200), 2000);
      t.diagnostic(`a key made in between worked after ${Math.round(performance.now() - began)} ms`);
    });
    assert.deepEqual([...new Set([...calm.statuses, ...statuses])], [200]);
    const [p99, median] = [0.99, 0.5].map((q) => {
      const [during, before, withoutKey] = [times, calm.times, control].map((all) => quantile(all, q));
      t.diagnostic(`${q}: ${during} ms, before ${before} ms, without a key ${withoutKey} ms`);
      return during! - 2 * Math.max(before!, withoutKey!);
    });
    t.diagnostic(`${JSON.stringify(answers)} to unknown keys`);
    return { took: Math.max(p99!, 4 * median!), result: undefined };
  });
});

function quantile(times: readonly number[], q: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length * q)]! * 10) / 10;
}
