import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type MessageRecord, ProtocolError } from '@platformatic/kafka';
import { seededRandom } from '../../../test/support/random.ts';
import { openAppender, type PartitionLog } from './appender.ts';
import type { ProducerIdentity } from './producer-session.ts';

const record = (n: number, bytes = 10): MessageRecord => ({ topic: 't', partition: 0, value: Buffer.from(String(n).padEnd(bytes)) });
const records = (...numbers: number[]) => numbers.map((n) => record(n));
const numberOf = ({ value }: MessageRecord) => Number(value.toString());
const sorted = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b);

/** A partition that keeps the rules of a broker: sequences, epochs, the largest request. */
function brokerPartition() {
  const appended: number[] = [];
  const producers = new Map<bigint, { epoch: number; next: number; last: [sequence: number, count: number] }>();
  let nextId = 0n;
  let identities = 0;
  return {
    appended,
    largest: Number.POSITIVE_INFINITY,
    get identities() {
      return identities;
    },
    forgetProducers: () => producers.clear(),
    newProducer(): ProducerIdentity {
      identities += 1;
      return { id: nextId++, epoch: 0 };
    },
    receive(batch: readonly MessageRecord[], { id, epoch }: ProducerIdentity, sequence: number): void {
      const known = producers.get(id);
      if (batch.reduce((sum, { value }) => sum + value.length, 0) > this.largest) throw new ProtocolError('MESSAGE_TOO_LARGE');
      if (known !== undefined && epoch < known.epoch) throw new ProtocolError('INVALID_PRODUCER_EPOCH');
      if (known?.epoch === epoch) {
        const [lastSequence, lastCount] = known.last;
        if (sequence === lastSequence && batch.length === lastCount) return;
        if (sequence !== known.next) throw new ProtocolError('OUT_OF_ORDER_SEQUENCE_NUMBER');
      } else if (known !== undefined && sequence !== 0) {
        throw new ProtocolError('OUT_OF_ORDER_SEQUENCE_NUMBER');
      }
      producers.set(id, { epoch, next: sequence + batch.length, last: [sequence, batch.length] });
      appended.push(...batch.map(numberOf));
    },
  };
}
type BrokerPartition = ReturnType<typeof brokerPartition>;

/** A connection that does to each request what `fate` says. */
function connected(
  partition: BrokerPartition,
  fate: () => 'arrives' | 'lost' | 'answer lost' | 'late',
  timeoutError: (() => void)[] = [],
): PartitionLog {
  return {
    async newProducer() {
      if (fate() === 'lost') throw new Error('connect ECONNREFUSED');
      return partition.newProducer();
    },
    async produce(batch, producer, sequence) {
      const end = fate();
      if (end === 'late') timeoutError.push(() => partition.receive(batch, producer, sequence));
      if (end === 'arrives' || end === 'answer lost') partition.receive(batch, producer, sequence);
      if (end !== 'arrives') throw new Error('Connection closed');
    },
  };
}

/** Lets time pass in steps, with everything that becomes ready in between. */
async function pass(t: TestContext, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    t.mock.timers.tick(100);
    for (let i = 0; i < 20; i += 1) await Promise.resolve();
  }
}

test('D3 what arrives while a request is under way shares the next one, in the order of arrival', async () => {
  const partition = brokerPartition();
  const requests: number[][] = [];
  const log = connected(partition, () => 'arrives');
  const appender = openAppender({
    ...log,
    async produce(batch, ...rest) {
      requests.push(batch.map(numberOf));
      await log.produce(batch, ...rest);
    },
  });
  await Promise.all([appender.append(records(1, 2)), appender.append(records(3)), appender.append(records(4, 5))]);
  assert.deepEqual(requests, [
    [1, 2],
    [3, 4, 5],
  ]);
});

test('8 a batch is cut into requests of 900 KB at most', async () => {
  const partition = brokerPartition();
  partition.largest = 900_000;
  const appender = openAppender(connected(partition, () => 'arrives'));
  const numbers = Array.from({ length: 300 }, (_, n) => n);
  await appender.append(numbers.map((n) => record(n, 64_000)));
  assert.deepEqual(partition.appended, numbers);
  assert.equal(partition.identities, 1);
});

test('8 a smaller limit of the topic is found out; one message above it is refused alone with its batch', async () => {
  const partition = brokerPartition();
  partition.largest = 10_000;
  const appender = openAppender(connected(partition, () => 'arrives'));
  const numbers = Array.from({ length: 100 }, (_, n) => n);
  await appender.append(numbers.map((n) => record(n, 3000)));
  assert.deepEqual(partition.appended, numbers);
  const [refused, accepted] = await Promise.allSettled([
    appender.append([record(100, 20_000), record(101)]),
    appender.append(records(102)),
  ]);
  assert.match(String(refused.status === 'rejected' && refused.reason), /larger than the topic allows/);
  assert.equal(accepted.status, 'fulfilled');
  assert.equal(partition.appended.at(-1), 102);
});

test('D3 a lost answer leads to no double', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const partition = brokerPartition();
  const fates = ['arrives', 'answer lost', 'answer lost', 'arrives'] as const;
  let request = 0;
  const appender = openAppender(connected(partition, () => fates[request++] ?? 'arrives'));
  const done = Promise.all([appender.append(records(1, 2, 3)), appender.append(records(4))]);
  await pass(t, 2000);
  await done;
  assert.deepEqual(partition.appended, [1, 2, 3, 4]);
});

test('D3 a broker that has forgotten its producers gets a new epoch', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const partition = brokerPartition();
  const log = connected(partition, () => 'arrives');
  let refusals = 0;
  const appender = openAppender({
    ...log,
    async produce(batch, producer, sequence) {
      if (producer.epoch === 0 && sequence === 1) {
        refusals += 1;
        throw new ProtocolError('OUT_OF_ORDER_SEQUENCE_NUMBER');
      }
      await log.produce(batch, producer, sequence);
    },
  });
  await appender.append(records(1));
  const done = appender.append(records(2));
  await pass(t, 1000);
  await done;
  await appender.append(records(3));
  assert.deepEqual(partition.appended, [1, 2, 3]);
  assert.equal(refusals, 1);
});

test('D3 nothing is waited for longer than 4.5 s, and what was refused cannot land behind what came later', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const partition = brokerPartition();
  const timeoutError: (() => void)[] = [];
  let down = false;
  const appender = openAppender(connected(partition, () => (down ? 'late' : 'arrives'), timeoutError));
  await appender.append(records(0));
  down = true;
  const refused = assert.rejects(appender.append(records(1)), /not acknowledged the messages within 4\.5 s: Connection closed/);
  await pass(t, 4600);
  await refused;
  down = false;
  const done = appender.append(records(2));
  await pass(t, 500);
  await done;
  for (const arrive of timeoutError) assert.throws(arrive, { apiId: 'INVALID_PRODUCER_EPOCH' });
  assert.deepEqual(partition.appended, [0, 2]);
});

test('D3 what was refused before it was sent is not sent any more', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const partition = brokerPartition();
  const log = connected(partition, () => 'arrives');
  const appender = openAppender({
    ...log,
    async produce(batch, ...rest) {
      if (numberOf(batch[0]) !== 1) return log.produce(batch, ...rest);
      await new Promise((resolve) => setTimeout(resolve, 6000));
      throw new Error('Request timed out');
    },
  });
  const refused = [appender.append(records(1)), appender.append(records(2))].map((done) => assert.rejects(done, /not acknowledged/));
  await pass(t, 5000);
  await Promise.all(refused);
  const accepted = appender.append(records(3));
  await pass(t, 2000);
  await accepted;
  assert.deepEqual(partition.appended, [3]);
});

test('D3 a closed appender refuses what waits and what comes', async () => {
  const appender = openAppender({ newProducer: () => new Promise(() => {}), produce: () => assert.fail() });
  const waiting = appender.append(records(1));
  appender.close();
  await assert.rejects(waiting, /closed/);
  await assert.rejects(appender.append(records(2)), /closed/);
});

test('D3 whatever happens to requests: acknowledged once, in the order of arrival, never a refused one behind a later one', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { bits, below, pick } = seededRandom(0x2f6e2b1);
  const random = () => bits() / 2 ** 32;
  for (let round = 0; round < 60; round += 1) {
    const partition = brokerPartition();
    const timeoutError: (() => void)[] = [];
    const arriveLater = () => {
      for (const arrive of timeoutError.splice(0).filter(() => random() < 0.7)) {
        try {
          arrive();
        } catch {
          // The broker refuses it, and nobody is there to hear it.
        }
      }
    };
    const trouble = random();
    const fate = () => {
      if (random() > trouble) return 'arrives';
      return pick(['lost', 'answer lost', 'late'] as const);
    };
    if (random() < 0.3) partition.largest = 60;
    const appender = openAppender(connected(partition, fate, timeoutError));
    const acknowledged: number[] = [];
    let n = 0;
    for (let step = 0; step < 120; step += 1) {
      if (step < 60 && random() < 0.5) {
        const batch = Array.from({ length: 1 + below(8) }, () => n++);
        appender.append(records(...batch)).then(
          () => acknowledged.push(...batch),
          () => {},
        );
      }
      if (random() < 0.3) arriveLater();
      await pass(t, 100);
    }
    arriveLater();
    const landed = partition.appended;
    assert.deepEqual(landed, sorted(landed), `round ${round}: out of order`);
    assert.equal(new Set(landed).size, landed.length, `round ${round}: doubled`);
    assert.deepEqual(
      sorted(acknowledged).filter((id) => !landed.includes(id)),
      [],
      `round ${round}: lost`,
    );
  }
});
