/** A workspace that moved to another engine still knows who sent each rule, and undoes what was sent before the move. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, suite, type TestContext, test } from 'node:test';
import { commandJson, commandText, newKey } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { postSignals } from '../support/http.ts';
import { kafkaForTests, noKafkaAtAll } from '../support/kafka.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { eventually, KEY, weirFor } from '../support/weir.ts';

type Settings = Record<string, string>;
type Rule = Record<string, unknown> & { readonly target: string; readonly batch_id: string; readonly key_id: string };

const GEO = smallGeo(temporaryFolder({ after }));
const AT = ['--workspace', 'default'];
const block = (ip: string, description: string, expiration = 86_400) => ({
  type: 'access_rules',
  action: 'block',
  ip,
  description,
  expiration,
});

const rulesOf = async (settings: Settings) =>
  (await commandJson<Rule[]>(['rule', 'ls', ...AT], settings))
    .map(({ id: _, ...rule }) => rule)
    .sort((a, b) => (a.target < b.target ? -1 : 1));
/** What a look-up says of an address, without what is an engine's own. */
const lookedUp = async (settings: Settings, address: string) => {
  const { feeds } = await commandJson<{ feeds: { rules: Record<string, unknown>[] }[] }>(
    ['lookup', address, ...AT, '--no-entries'],
    settings,
  );
  return feeds.flatMap(({ rules }) => rules.map(({ id: _id, rule_id: _rule, ...rule }) => rule));
};

async function assertMoves(t: TestContext, source: Settings, destination: Settings): Promise<void> {
  const folder = temporaryFolder(t);
  const from = await weirFor(t, source);
  const [soc, feed] = [await newKey(source, 'default', '--name', 'soc'), await newKey(source, 'default', '--name', 'feed')];
  const send = async (key: string, entries: object[]) => {
    const reply = await postSignals(from.url, key, entries);
    assert.equal(reply.status, 200, reply.text);
    return String(reply.headers['x-signal-batch']);
  };
  const first = await send(soc, [block('192.0.2.1', 'one'), block('192.0.2.2', 'one'), block('192.0.2.3', 'one', 172_800)]);
  // A rule has another instant of change where it was changed later.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  const second = await send(feed, [block('192.0.2.1', 'two', 3600), block('192.0.2.9', 'two')]);
  await eventually(async () => assert.equal((await rulesOf(source)).length, 4));
  const before = await rulesOf(source);
  assert.deepEqual(
    before.map(({ batch_id }) => batch_id),
    [second, first, first, second],
  );
  const why = await lookedUp(source, '192.0.2.1');
  const file = join(folder, 'moved.ndjson');
  await commandText(['export', file, ...AT], source);

  await weirFor(t, destination);
  await commandText(['import', file, ...AT], destination);
  await eventually(async () => assert.equal((await rulesOf(destination)).length, 4));
  const lists = (rules: readonly object[]) => rules.map((rule) => ({ ...rule, list_id: undefined }));
  assert.deepEqual(lists(await rulesOf(destination)), lists(before), 'batch, key and instants of each rule');
  assert.deepEqual(lists(await lookedUp(destination, '192.0.2.1')), lists(why));
  const shown = await commandJson<Record<string, unknown>[]>(['batch', 'ls', ...AT], destination);
  for (const batch of [first, second]) assert.ok(JSON.stringify(shown).includes(batch));

  for (const settings of [source, destination]) {
    await commandText(['undo', second, ...AT, '--yes'], settings);
    await eventually(async () => {
      const after = await rulesOf(settings);
      assert.deepEqual(
        after.map(({ target, reason, batch_id }) => [target, reason, batch_id]),
        ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((target) => [target, 'one', first]),
      );
    });
  }
  assert.deepEqual(lists(await rulesOf(destination)), lists(await rulesOf(source)), 'undone to the same rules');
}

const base = (t: TestContext): Settings => ({
  ...GEO,
  DATA_DIR: join(temporaryFolder(t), 'data'),
  BOOTSTRAP_API_KEY: KEY,
  FEED_REBUILD_SECONDS: '0',
});

test('D4.20 moving SQLite → SQLite: who sent each rule, in which batch and since when, and what an undo puts back', async (t) => {
  await assertMoves(t, base(t), base(t));
});

test("D4.20 a key that another workspace of the new store has keeps its name for what it sent; its text stays that one's", async (t) => {
  const [source, destination] = [base(t), base(t)];
  const from = await weirFor(t, source);
  assert.equal((await postSignals(from.url, KEY, [block('192.0.2.1', 'one')])).status, 200);
  const file = join(temporaryFolder(t), 'moved.ndjson');
  await commandText(['export', file, ...AT], source);

  const to = await weirFor(t, destination);
  await commandText(['org', 'create', 'acme'], destination);
  await commandText(['workspace', 'create', 'edge', '--org', 'acme'], destination);
  const edge = ['--workspace', 'edge'];
  assert.match(
    await commandText(['import', file, ...edge], destination),
    /^key \S+ \(\S+, bootstrap\) is known here already and stays as it is$/m,
  );
  await eventually(async () => assert.match(await commandText(['rule', 'ls', ...edge], destination), /192\.0\.2\.1 .* bootstrap +/));
  const [key, ...others] = await commandJson<Record<string, unknown>[]>(['key', 'ls', ...edge], destination);
  assert.deepEqual([key!.name, key!.revoked_at === null, others], ['bootstrap', false, []]);
  await commandText(['undo', ...edge, '--key', 'bootstrap', '--since', '1h', '--yes'], destination);
  // With its text one still writes where it is known.
  assert.equal((await postSignals(to.url, KEY, [block('192.0.2.7', 'two')])).status, 200);
  await eventually(async () =>
    assert.deepEqual(
      (await rulesOf(destination)).map(({ target }) => target),
      ['192.0.2.7'],
    ),
  );
});

suite('PostgreSQL and Kafka', { skip: noPostgres() || noKafkaAtAll() }, () => {
  test('D4.20 moving SQLite → PostgreSQL and Kafka → SQLite: who sent each rule, and what an undo puts back', async (t) => {
    const [postgres, kafka] = await Promise.all([startPostgres(), kafkaForTests()]);
    t.after(() => Promise.all([postgres.stop(), kafka.stop()]));
    const other = async (n: number) => ({
      ...base(t),
      ...{
        DATABASE_URL: await postgres.createDatabase(),
        KAFKA_BROKERS: kafka.brokers.join(','),
        KAFKA_TOPIC: `moved-${process.pid}-${n}`,
      },
    });
    await assertMoves(t, base(t), await other(1));
    await assertMoves(t, await other(2), base(t));
  });
});
