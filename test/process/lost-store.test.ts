/** A store that is gone beside a stream that is not: weir says so, on each pair of engines, and how it goes on. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, type TestContext, test } from 'node:test';
import { commandJson, commandText } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { getFeed, postSignals, readyz } from '../support/http.ts';
import { kafkaForTests, noKafkaAtAll } from '../support/kafka.ts';
import { administer, noPostgres, type Postgres, startPostgres } from '../support/postgres.ts';
import { eventually, KEY, weir as run, weirFor } from '../support/weir.ts';

const block = (ip: string) => [{ type: 'access_rules', action: 'block', ip }];
const GEO = smallGeo(temporaryFolder({ after }));
const BASE = { ...GEO, BOOTSTRAP_API_KEY: KEY, FEED_REBUILD_SECONDS: '0' };
type Settings = Record<string, string>;

/** A server that has taken a signal and landed it, and is stopped. */
async function used(t: TestContext, settings: Settings): Promise<void> {
  const server = await weirFor(t, settings);
  assert.equal((await postSignals(server.url, KEY, block('192.0.2.1'))).status, 200);
  await eventually(async () => assert.equal((await getFeed(server.url, KEY)).text, '192.0.2.1/32\n'));
  assert.equal(await server.kill('SIGTERM'), 0);
}

/** A start, and what it says, is refused as it should be. */
async function assertRefused(settings: Settings, args = ['serve']): Promise<void> {
  const { code, stdout, stderr } = await run(args, settings);
  assert.deepEqual([code, stdout], [2, ''], stderr);
  assert.match(stderr, /contains messages that had landed in .*weir restore.*to start with an empty store.*run: weir stream adopt\n$/);
  assert.equal(
    stderr
      .trimEnd()
      .split('\n')
      .filter((line) => line.startsWith('weir: ')).length,
    1,
  );
}

/** After `weir stream adopt` a new store lands what comes, and nothing of before. */
async function assertAnew(t: TestContext, settings: Settings): Promise<void> {
  assert.match(
    await commandText(['stream', 'adopt', '--yes'], settings),
    /^the store starts again: it ignores the messages in the stream \S+, and/,
  );
  const { url } = await weirFor(t, settings);
  assert.equal((await postSignals(url, KEY, block('192.0.2.2'))).status, 200);
  await eventually(async () => assert.equal((await getFeed(url, KEY)).text, '192.0.2.2/32\n'));
  assert.deepEqual((await readyz(url)).checks.landing, { ok: true, lag_messages: 0, lag_seconds: 0 });
  assert.deepEqual(await commandJson(['dead-letter', 'ls'], settings), []);
}

test('D4.19 weir.db is gone beside a stream with messages: neither a start nor a command makes another one; weir restore brings it back', async (t) => {
  const folder = temporaryFolder(t);
  const settings = { ...BASE, DATA_DIR: join(folder, 'data') };
  await used(t, settings);
  await commandText(['backup', join(folder, 'backup')], settings);
  for (const name of readdirSync(settings.DATA_DIR)) if (name.startsWith('weir.db')) rmSync(join(settings.DATA_DIR, name));
  cpSync(settings.DATA_DIR, join(folder, 'anew'), { recursive: true });
  await assertRefused(settings);
  await assertRefused(settings, ['org', 'create', 'acme']);
  assert.ok(!existsSync(join(settings.DATA_DIR, 'weir.db')), 'nothing was made');
  await commandText(['restore', join(folder, 'backup'), '--force'], settings);
  const { url } = await weirFor(t, settings);
  assert.equal((await getFeed(url, KEY)).text, '192.0.2.1/32\n');

  await assertAnew(t, { ...settings, DATA_DIR: join(folder, 'anew') });
});

test('D4.19 an empty weir.db is a store that is gone', async (t) => {
  const settings = { ...BASE, DATA_DIR: join(temporaryFolder(t), 'data') };
  await used(t, settings);
  for (const name of readdirSync(settings.DATA_DIR)) if (name.startsWith('weir.db')) rmSync(join(settings.DATA_DIR, name));
  writeFileSync(join(settings.DATA_DIR, 'weir.db'), '');
  await assertRefused(settings);
});

suite('PostgreSQL and Kafka', { skip: noPostgres() || noKafkaAtAll() }, () => {
  let postgres: Postgres;
  let kafka: Awaited<ReturnType<typeof kafkaForTests>>;
  before(async () => {
    [postgres, kafka] = await Promise.all([startPostgres(), kafkaForTests()]);
  });
  after(async () => {
    await Promise.all([postgres?.stop(), kafka?.stop()]);
  });

  test('D4.19 an empty database beside a topic with messages, or beside the embedded stream, is not filled anew in silence', async (t) => {
    const folder = temporaryFolder(t);
    const pairs: Settings[] = [
      { DATABASE_URL: await postgres.createDatabase(), KAFKA_BROKERS: kafka.brokers.join(','), KAFKA_TOPIC: `lost-${process.pid}` },
      { DATABASE_URL: await postgres.createDatabase() },
    ];
    for (const [i, pair] of pairs.entries()) {
      const settings = { ...BASE, DATA_DIR: join(folder, String(i)), ...pair };
      await used(t, settings);
      await administer(pair.DATABASE_URL, 'DROP SCHEMA public CASCADE');
      await administer(pair.DATABASE_URL, 'CREATE SCHEMA public');
      await assertRefused(settings);
      await assertAnew(t, settings);
    }
  });
});
