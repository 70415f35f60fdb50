import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join as joinPath } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AclOperations,
  AclPermissionTypes,
  Admin,
  Producer,
  ResourcePatternTypes,
  ResourceTypes,
  stringSerializers,
} from '@platformatic/kafka';
import type { Message, Stream, StreamReader, StreamRecord } from '../../src/ports/stream.ts';
import { decodeSignalRecord } from '../../src/signal/message/decode.ts';
import type { KafkaOptions } from '../../src/stream/kafka/options.ts';
import { partitionOf } from '../../src/stream/kafka/record.ts';
import { openKafkaStream } from '../../src/stream/kafka/stream.ts';
import { streamConformance } from '../conformance/stream.ts';
import { command } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { getFeed, postSignals } from '../support/http.ts';
import { KAFKA_USER, type KafkaBroker, kafkaForTests, noKafka, noKafkaAtAll, startKafka } from '../support/kafka.ts';
import { eventually, inTime, KEY, weirFor } from '../support/weir.ts';

/** Topics that the tests have made. */
const made = new Set<string>();
const NEW_TOPIC = { partitions: 1, retentionHours: 24 };

const note = (n: number, key = 'w1', text = ''): Message => ({
  key,
  headers: { workspace_id: key, signal_id: String(n) },
  value: JSON.stringify({ n, text }),
});
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const numbers = (records: readonly StreamRecord[]) => records.map((record) => Number(record.headers.signal_id));

function newTopic(): string {
  const topic = `weir-test-${randomUUID()}`;
  made.add(topic);
  return topic;
}

/** A stream on a topic of its own, which goes with the test. */
async function openStream(t: TestContext, brokers: readonly string[], options: Partial<KafkaOptions> = {}): Promise<Stream> {
  const topic = options.topic ?? newTopic();
  const stream = await openKafkaStream({ ...NEW_TOPIC, brokers, topic, ...options });
  t.after(() => stream.close());
  return stream;
}

/** A reader; a broker that has just started refuses members until it has loaded its groups. */
async function join(t: TestContext, stream: Stream): Promise<StreamReader> {
  const reader = await eventually(() => stream.join());
  t.after(() => reader.close());
  return reader;
}

/** Everything that one partition holds. */
async function readPartition(stream: Stream, reader: StreamReader, partition = 0): Promise<StreamRecord[]> {
  const { start, end } = await stream.bounds(partition);
  const records: StreamRecord[] = [];
  for (let at = start; at < end; ) {
    const page = await reader.read(partition, at, 1000, 1000);
    records.push(...page);
    at = page[page.length - 1].offset + 1;
  }
  return records;
}

async function withAdmin<T>(brokers: readonly string[], work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...brokers] });
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}

/** How long a rejection took, ms, and its words. */
async function refusal(work: Promise<unknown>): Promise<{ took: number; result: string }> {
  const begun = performance.now();
  const error: Error = await work.then(
    () => assert.fail('this was to be refused'),
    (reason) => reason,
  );
  return { took: performance.now() - begun, result: error.message };
}

// The suites have a broker each and mostly wait.
describe('Kafka', { concurrency: true }, () => {
  describe('stream on Kafka', { skip: noKafkaAtAll(), concurrency: 1 }, () => {
    let brokers: string[];
    let stop: () => Promise<void>;
    before(async () => {
      ({ brokers, stop } = await kafkaForTests());
    });
    after(async () => {
      // Brokers that were there before are left as they were.
      await withAdmin(brokers, async (admin) => {
        const topics = (await admin.listTopics()).filter((topic) => made.has(topic));
        await admin.deleteTopics({ topics });
      });
      await stop();
    });

    streamConformance({
      name: 'kafka',
      async open(t) {
        const topic = newTopic();
        return { stream: await openStream(t, brokers, { topic }), again: () => openStream(t, brokers, { topic }) };
      },
    });

    test('6 the topic is made with the stated partitions and retention, and one that exists keeps its own', async (t) => {
      const topic = newTopic();
      const stream = await openStream(t, brokers, { topic, partitions: 5, retentionHours: 7 });
      assert.equal(await stream.partitions(), 5);
      assert.equal(await (await openStream(t, brokers, { topic, partitions: 9 })).partitions(), 5);
      const [{ configs }] = await withAdmin(brokers, (admin) =>
        admin.describeConfigs({ resources: [{ resourceType: 2, resourceName: topic }] }),
      );
      const config = Object.fromEntries(configs.map(({ name, value }) => [name, value]));
      assert.equal(config['retention.ms'], String(7 * 3_600_000));
      assert.equal(config['cleanup.policy'], 'delete');
    });

    test('6 a topic that compaction would thin out is refused', async (t) => {
      const topic = newTopic();
      const configs = [{ name: 'cleanup.policy', value: 'compact' }];
      await withAdmin(brokers, (admin) => admin.createTopics({ topics: [topic], partitions: 1, configs }));
      await assert.rejects(openStream(t, brokers, { topic }), /cleanup\.policy=compact.*delete/);
    });

    test('6 the messages of a workspace stay in one partition in the order of their arrival, several workspaces side by side', async (t) => {
      const stream = await openStream(t, brokers, { partitions: 4 });
      const keys = range(0, 12).map((n) => `workspace-${n}`);
      // Batches of one workspace overlap; every second one mixes workspaces.
      const batches = range(0, 60).map((b) => range(0, 20).map((i) => note(b * 20 + i, b % 2 === 0 ? keys[b % 12] : keys[i % 12])));
      await Promise.all(batches.map((batch) => stream.publish(batch)));
      const reader = await join(t, stream);
      const expected = new Map(
        keys.map((key) => [
          key,
          batches
            .flat()
            .filter((message) => message.key === key)
            .map((m) => Number(m.headers.signal_id)),
        ]),
      );
      for (const partition of range(0, 4)) {
        const records = await readPartition(stream, reader, partition);
        for (const [key, own] of Map.groupBy(records, (record) => record.key)) {
          assert.equal(partition, partitionOf(key, 4));
          assert.deepEqual(numbers(own), expected.get(key));
          expected.delete(key);
        }
      }
      assert.equal(expected.size, 0);
    });

    test('8 a batch of 1000 entries of 64 KiB is appended in order while small ones of other workspaces go on', {
      timeout: 600_000,
    }, async (t) => {
      const [one, two] = ['a', 'b', 'c', 'd'].toSorted((x, y) => partitionOf(x, 2) - partitionOf(y, 2)).filter((_, i) => i % 3 === 0);
      const attempt = async (): Promise<Stream | undefined> => {
        const stream = await openStream(t, brokers, { partitions: 2 });
        const big = stream.publish(range(0, 1000).map((n) => note(n, one, 'x'.repeat(65_000))));
        const small = async () => {
          for (const n of range(0, 20)) await stream.publish([note(n, two)]);
        };
        // A machine that is busy with other things may not write 65 MB in the time that an answer has: refused, and tried on another topic.
        return Promise.all([big, small()]).then(
          () => stream,
          ({ message }: Error) => {
            assert.match(message, /not acknowledged the messages within 4\.5 s: no answer/);
            return undefined;
          },
        );
      };
      let stream = await attempt();
      while (stream === undefined) stream = await attempt();
      const reader = await join(t, stream);
      assert.deepEqual(numbers(await readPartition(stream, reader, partitionOf(one, 2))), range(0, 1000));
      assert.deepEqual(numbers(await readPartition(stream, reader, partitionOf(two, 2))), range(0, 20));
    });

    test('8 a topic that takes less than usual gets smaller requests; a single message above its limit is refused with the reason', async (t) => {
      const topic = newTopic();
      const configs = [{ name: 'max.message.bytes', value: '100000' }];
      await withAdmin(brokers, (admin) => admin.createTopics({ topics: [topic], partitions: 1, configs }));
      const stream = await openStream(t, brokers, { topic });
      await stream.publish(range(0, 50).map((n) => note(n, 'w1', 'x'.repeat(30_000))));
      const large = [note(50), note(51, 'w1', 'x'.repeat(200_000)), note(52)];
      const message = await inTime(4000, () => refusal(stream.publish(large)));
      assert.match(message, /a message of 200\d+ bytes is larger than the topic allows/);
      await stream.publish([note(53)]);
      const seen = numbers(await readPartition(stream, await join(t, stream)));
      assert.deepEqual([...seen.slice(0, 50), seen.at(-1)], [...range(0, 50), 53]);
    });

    test("6 another producer's v1 message with the workspace header only comes through and is understood", async (t) => {
      const topic = newTopic();
      const stream = await openStream(t, brokers, { topic });
      const producer = new Producer({ clientId: 'foreign', bootstrapBrokers: [...brokers], serializers: stringSerializers });
      t.after(() => producer.close());
      const value = JSON.stringify({ type: 'access_rules', action: 'block', ip: '192.0.2.7' });
      await producer.send({ messages: [{ topic, value, headers: { workspace_id: 'w9' }, timestamp: 1_750_000_000_123n }] });
      const [record] = await readPartition(stream, await join(t, stream));
      assert.deepEqual(record, { offset: 0, timestamp: 1_750_000_000_123, key: '', headers: { workspace_id: 'w9' }, value });
      const landed = decodeSignalRecord(record);
      assert.ok('change' in landed && landed.change.change === 'upsert');
      assert.deepEqual([landed.workspaceId, landed.listId, landed.receivedAt], ['w9', null, 1_750_000_000_123]);
    });

    for (const compression of ['gzip', 'snappy', 'lz4', 'zstd'] as const) {
      test(`6 messages that another producer has compressed with ${compression} come through`, async (t) => {
        const topic = newTopic();
        const stream = await openStream(t, brokers, { topic });
        const producer = new Producer({ clientId: 'foreign', bootstrapBrokers: [...brokers], serializers: stringSerializers, compression });
        t.after(() => producer.close());
        const values = range(0, 50).map((n) => JSON.stringify({ n, text: 'again and '.repeat(20) }));
        await producer.send({ messages: values.map((value) => ({ topic, key: 'w1', value })) });
        const records = await readPartition(stream, await join(t, stream));
        assert.deepEqual(
          records.map((record) => record.value),
          values,
        );
      });
    }

    test('D4 bytes that are no UTF-8 become poison that still tells them, never another text', async (t) => {
      const topic = newTopic();
      const stream = await openStream(t, brokers, { topic });
      const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'foreign', bootstrapBrokers: [...brokers] });
      t.after(() => producer.close());
      const headers = (version: Buffer) =>
        new Map([
          [Buffer.from('workspace_id'), Buffer.from('w1')],
          [Buffer.from('schema_version'), version],
        ]);
      const latin = Buffer.from('{"type":"access_rules","action":"block","ip":"192.0.2.7","name":"caf\xe9"}', 'latin1');
      const value = Buffer.from('{"type":"access_rules","action":"block","ip":"192.0.2.7"}');
      await producer.send({
        messages: [
          { topic, value: latin, headers: headers(Buffer.from('1')) },
          { topic, value, headers: headers(Buffer.from([0xff])) },
        ],
      });
      const records = await readPartition(stream, await join(t, stream));
      assert.deepEqual(Buffer.from(records[0].value.replace(/^base64:/, ''), 'base64'), latin);
      assert.deepEqual(
        records.map((record) => decodeSignalRecord(record)),
        [{ poison: 'the value is not a JSON object' }, { poison: 'unknown schema_version "base64:/w=="' }],
      );
    });

    test('D4 an offset outside the topic is an error that says so, and the reader goes on', async (t) => {
      const stream = await openStream(t, brokers);
      await stream.publish([note(0)]);
      const reader = await join(t, stream);
      await assert.rejects(reader.read(0, 77, 10, 100), /has no offset 77/);
      assert.deepEqual(numbers(await reader.read(0, 0, 10, 1000)), [0]);
    });

    test('6 two readers divide the partitions, and one that leaves hands its own over', async (t) => {
      const topic = newTopic();
      const stream = await openStream(t, brokers, { topic, partitions: 6 });
      const first = await join(t, stream);
      assert.deepEqual(first.owned(), range(0, 6));
      const second = await join(t, await openStream(t, brokers, { topic }));
      await eventually(() => {
        assert.deepEqual([first.owned().length, second.owned().length], [3, 3]);
        assert.deepEqual([...first.owned(), ...second.owned()].toSorted(), range(0, 6));
      });
      const begun = performance.now();
      await first.close();
      assert.ok(performance.now() - begun < 3000);
      assert.deepEqual(first.owned(), []);
      await eventually(() => assert.deepEqual(second.owned(), range(0, 6)));
      for (const n of range(0, 30)) await stream.publish([note(n, `w${n}`)]);
      const seen = await Promise.all(range(0, 6).map((partition) => readPartition(stream, second, partition)));
      assert.deepEqual(
        numbers(seen.flat()).toSorted((a, b) => a - b),
        range(0, 30),
      );
    });

    test('D4 a topic that is deleted and made anew has another id, and the old reader never reads from the new one', async (t) => {
      const topic = newTopic();
      const stream = await openStream(t, brokers, { topic });
      await stream.publish([note(0), note(1)]);
      const reader = await join(t, stream);
      assert.deepEqual(numbers(await reader.read(0, 0, 1, 1000)), [0]);
      const id = await stream.id();
      await withAdmin(brokers, (admin) => admin.deleteTopics({ topics: [topic] }));
      await eventually(() => assert.rejects(stream.id(), /Unknown topic/));
      await assert.rejects(stream.ping(), /Unknown topic/);
      const again = await openStream(t, brokers, { topic });
      await again.publish([note(10), note(11), note(12)]);
      assert.notEqual(await stream.id(), id);
      assert.equal(await stream.id(), await again.id());
      await assert.rejects(reader.read(0, 2, 10, 1000), /was deleted/);
      await stream.publish([note(13)]);
      assert.deepEqual(numbers(await readPartition(stream, await join(t, again))), [10, 11, 12, 13]);
    });

    test('6 a topic that gets more partitions makes its readers join again', async (t) => {
      const topic = newTopic();
      const stream = await openStream(t, brokers, { topic });
      const reader = await join(t, stream);
      // Without assignments the brokers place the new partitions.
      const assignments = null as never;
      await withAdmin(brokers, (admin) => admin.createPartitions({ topics: [{ name: topic, count: 3, assignments }] }));
      await eventually(() => assert.throws(() => reader.owned(), /has 3 partitions now/));
      await reader.close();
      const next = await join(t, stream);
      assert.deepEqual(next.owned(), [0, 1, 2]);
    });

    test('D1 brokers that are not there are named when the stream is opened', async (t) => {
      const { result } = await refusal(openStream(t, ['127.0.0.1:1']));
      assert.match(result, /^Kafka at 127\.0\.0\.1:1: connect ECONNREFUSED 127\.0\.0\.1:1$/);
    });
  });

  describe('stream on a Kafka broker that fails', { skip: noKafka(), concurrency: 1 }, () => {
    let kafka: KafkaBroker;
    before(async () => {
      kafka = await startKafka();
    });
    after(() => kafka.stop());

    test('D3 while the broker is down nothing is accepted: refused within 5 s, and it works again by itself', async (t) => {
      const stream = await openStream(t, kafka.brokers);
      await stream.publish([note(0)]);
      await kafka.kill();
      for (const n of [1, 2]) {
        const message = await inTime(5000, () => refusal(stream.publish([note(n)])));
        assert.match(message, /not acknowledged the messages within 4\.5 s: .*ECONNREFUSED/);
      }
      assert.match((await refusal(stream.ping())).result, /ECONNREFUSED/);
      await assert.rejects(stream.id());
      await kafka.start();
      await eventually(() => stream.publish([note(3)]));
      await stream.ping();
      const seen = numbers(await readPartition(stream, await eventually(() => join(t, stream))));
      assert.deepEqual([seen[0], seen.at(-1)], [0, 3]);
    });

    test('D3 what was acknowledged is there after kill -9 and restart, once and in order, and the reader goes on by itself', async (t) => {
      const stream = await openStream(t, kafka.brokers);
      const reader = await join(t, stream);
      const acknowledged: number[] = [];
      let running = true;
      let n = 0;
      const writers = range(0, 4).map(async () => {
        while (running) {
          const batch = range(0, 25).map(() => note(n++));
          await stream.publish(batch).then(
            () => acknowledged.push(...batch.map((message) => Number(message.headers.signal_id))),
            () => {},
          );
        }
      });
      for (let round = 0; round < 2; round += 1) {
        await sleep(500);
        await kafka.kill();
        await kafka.start();
        const before = acknowledged.length;
        await eventually(() => assert.ok(acknowledged.length > before));
      }
      running = false;
      await Promise.all(writers);
      const seen = numbers(await eventually(() => readPartition(stream, reader)));
      const set = new Set(acknowledged);
      const landed = seen.filter((id) => set.has(id));
      assert.deepEqual(
        landed.toSorted((a, b) => a - b),
        acknowledged.toSorted((a, b) => a - b),
      );
      // Four writers at once: the order of arrival is that of the numbers.
      assert.deepEqual(
        seen,
        seen.toSorted((a, b) => a - b),
      );
      await eventually(() => assert.deepEqual(reader.owned(), [0]));
    });

    test('D3 a broker that hangs: refused within 5 s, and what was refused never lands behind what came later', async (t) => {
      const stream = await openStream(t, kafka.brokers);
      const reader = await join(t, stream);
      for (let round = 0; round < 2; round += 1) {
        await stream.publish([note(10 * round)]);
        kafka.pause();
        await inTime(5000, () => refusal(stream.publish([note(10 * round + 1)])));
        assert.match((await refusal(stream.ping())).result, /did not answer within 2 s/);
        const later = eventually(() => stream.publish([note(10 * round + 2)]));
        await sleep(1000);
        kafka.resume();
        await later;
      }
      await sleep(1000);
      const seen = numbers(await readPartition(stream, reader));
      assert.deepEqual(
        seen,
        seen.toSorted((a, b) => a - b),
      );
      for (const n of [0, 2, 10, 12]) assert.equal(seen.filter((id) => id === n).length, 1, `${n} in ${seen}`);
    });
  });

  describe('stream on a secured Kafka broker', { skip: noKafka(), concurrency: 1 }, () => {
    let kafka: KafkaBroker;
    before(async () => {
      kafka = await startKafka({ secured: true, lasts: true });
    });
    after(() => kafka.stop());

    const { TOPIC, GROUP } = ResourceTypes;
    const { READ, WRITE, CREATE, DESCRIBE, DESCRIBE_CONFIGS } = AclOperations;
    type Right = readonly [typeof TOPIC | typeof GROUP, name: string, ...operations: (typeof AclOperations)[keyof typeof AclOperations][]];

    const allow = (principal: string, ...rights: readonly Right[]) => {
      const rule = { resourcePatternType: ResourcePatternTypes.LITERAL, principal, host: '*', permissionType: AclPermissionTypes.ALLOW };
      const creations = rights.flatMap(([resourceType, resourceName, ...operations]) =>
        operations.map((operation) => ({ ...rule, resourceType, resourceName, operation })),
      );
      return withAdmin(kafka.brokers, (admin) => admin.createAcls({ creations }));
    };

    async function roundTrip(t: TestContext, brokers: readonly string[], options: Partial<KafkaOptions>): Promise<void> {
      const stream = await openStream(t, brokers, options);
      await stream.publish([note(1), note(2)]);
      assert.deepEqual(numbers(await readPartition(stream, await join(t, stream))), [1, 2]);
    }

    test('6 SASL over TLS: PLAIN and SCRAM work with exactly the rights that the docs name', async (t) => {
      const tls = { ca: kafka.files.ca };
      const plain = { tls, sasl: { mechanism: 'plain', ...KAFKA_USER } } as const;
      await assert.rejects(
        openStream(t, kafka.saslBrokers, { ...plain, topic: 'sasl' }),
        /the Kafka topic sasl .*cannot be created.*authoriz.*docs\/kafka\.md/i,
      );
      await allow('User:weir', [TOPIC, 'sasl', CREATE, DESCRIBE, DESCRIBE_CONFIGS, READ, WRITE], [GROUP, 'weir-sasl', READ]);
      await roundTrip(t, kafka.saslBrokers, { ...plain, topic: 'sasl' });
      const stream = await openStream(t, kafka.saslBrokers, { tls, sasl: { mechanism: 'scram-sha-256', ...KAFKA_USER }, topic: 'sasl' });
      await stream.publish([note(3)]);
      const { end } = await stream.bounds(0);
      assert.equal(end, 3);
    });

    test('D1 a wrong password, an unknown authority and brokers without TLS are told apart, at once', async (t) => {
      const tls = { ca: kafka.files.ca };
      const sasl = { mechanism: 'plain', ...KAFKA_USER } as const;
      const cases: [brokers: string[], options: Partial<KafkaOptions>, message: RegExp][] = [
        [kafka.saslBrokers, { tls, sasl: { ...sasl, password: 'wrong-one' } }, /authentication failed/i],
        [kafka.saslBrokers, { tls: {}, sasl }, /unable to verify the first certificate/],
        [kafka.brokers, { tls }, /secure TLS connection/],
      ];
      for (const [brokers, options, expected] of cases) {
        const message = await inTime(3000, () => refusal(openStream(t, brokers, options)));
        assert.match(message, expected);
        assert.doesNotMatch(message, /wrong-one/);
      }
    });

    test('D17.10 a service lands a signal through brokers that ask for TLS and SCRAM; what they or weir refuse is one sentence', async (t) => {
      const folder = temporaryFolder(t);
      const settings = {
        ...smallGeo(folder),
        DATA_DIR: joinPath(folder, 'data'),
        KAFKA_BROKERS: kafka.saslBrokers.join(','),
        KAFKA_TOPIC: 'whole',
        KAFKA_PARTITIONS: '1',
        KAFKA_TLS: 'on',
        KAFKA_CA_FILE: kafka.files.ca,
        KAFKA_SASL_MECHANISM: 'scram-sha-512',
        KAFKA_SASL_USERNAME: KAFKA_USER.username,
        KAFKA_SASL_PASSWORD: KAFKA_USER.password,
      };
      await allow('User:weir', [TOPIC, 'whole', CREATE, DESCRIBE, DESCRIBE_CONFIGS, READ, WRITE], [GROUP, 'weir-whole', READ]);
      const weir = await weirFor(t, { ...settings, BOOTSTRAP_API_KEY: KEY, FEED_REBUILD_SECONDS: '0' });
      const { status } = await postSignals(weir.url, KEY, [{ type: 'access_rules', action: 'block', ip: '192.0.2.1' }]);
      assert.equal(status, 200);
      await eventually(async () => assert.equal((await getFeed(weir.url, KEY)).text, '192.0.2.1/32\n'));

      const refused = async (more: Record<string, string>) => {
        const { code, stderr } = await command(['stream', 'adopt'], { ...settings, ...more });
        return `${code} ${stderr}`;
      };
      const at = `weir: Kafka at ${settings.KAFKA_BROKERS}:`;
      assert.deepEqual(
        [await refused({ KAFKA_SASL_PASSWORD: 'wrong-one' }), await refused({ KAFKA_CA_FILE: kafka.files.cert })],
        [
          `2 ${at} Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-512\n`,
          `2 ${at} the brokers' certificate is not trusted (KAFKA_CA_FILE): unable to verify the first certificate\n`,
        ],
      );
    });

    test('6 TLS with a client certificate works', async (t) => {
      await allow('User:CN=weir', [TOPIC, 'tls', CREATE, DESCRIBE, READ, WRITE], [GROUP, 'weir-tls', READ]);
      await roundTrip(t, kafka.tlsBrokers, { topic: 'tls', tls: kafka.files });
    });
  });
});
