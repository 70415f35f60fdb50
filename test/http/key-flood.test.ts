/** A flood of unknown keys on PostgreSQL, where each look-up takes a connection: a valid key must not feel it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandJson } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { getFeed, postSignals } from '../support/http.ts';
import { measureFlood } from '../support/key-flood.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { eventually, KEY, weirFor } from '../support/weir.ts';

const SECONDS = 4;
/** By how much the valid key's p99 may be above that of a request without a key, ms. */
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

  const { times, control, statuses, answers } = await measureFlood(url, KEY, SECONDS, async () => {
    const { key } = await commandJson<{ key: string }>(['key', 'create', '--workspace', 'default'], settings);
    const began = performance.now();
    await eventually(async () => assert.equal((await getFeed(url, key)).status, 200), 2000);
    t.diagnostic(`a key made in between worked after ${Math.round(performance.now() - began)} ms`);
  });
  const [usual, p99] = [quantile(control, 0.99), quantile(times, 0.99)];
  t.diagnostic(`${JSON.stringify(answers)} to unknown keys; the valid key: median ${quantile(times, 0.5)} ms, p99 ${p99} ms`);
  t.diagnostic(`without a key: median ${quantile(control, 0.5)} ms, p99 ${usual} ms`);
  assert.deepEqual(statuses, [200]);
  assert.ok(p99 < 2 * usual + MORE, `${p99} ms, ${usual} ms without a key`);
  const median = quantile(times, 0.5);
  assert.ok(median < 2 * quantile(control, 0.5) + MORE / 4, `median ${median} ms`);
});

function quantile(times: readonly number[], q: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length * q)]! * 10) / 10;
}
