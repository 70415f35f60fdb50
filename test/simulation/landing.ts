/**
 * Landing by several replicas over one stream and one store, under a seeded schedule: real consumers, whose calls of the group, the stream and
 * the store are early, late, lost or failed, also after they had their effect, while messages are appended and trimmed, partitions move, processes
 * end, and the stream is replaced. After each step the store has to hold what a plain model of the stream says.
 */
import type { LandingBatch } from '../../src/ports/landing.ts';
import type { Stream, StreamReader, StreamRecord } from '../../src/ports/stream.ts';
import { startConsumer } from '../../src/stream/consumer.ts';
import { START } from '../support/feed-world.ts';
import { Schedule, Violation } from './schedule.ts';

const REPLICAS = 3;
const PARTITIONS = 2;
const VALUE = JSON.stringify({ type: 'access_rules', action: 'block', ip: '192.0.2.1' });
/** A member that was not heard of for so long is put out of the group, ms. */
const SESSION = 10_000;
/** The longest that landing may rest when all is well again, ms: the longest pause after a fault, a review, and a read that finds nothing; and a session. */
const REST = 30_000;

/** A stream as it was made once: records by partition; `start`: the first offset that is kept. */
interface Log {
  readonly id: string;
  readonly partitions: { start: number; readonly records: StreamRecord[] }[];
}

interface Member {
  readonly log: Log;
  closed: boolean;
  /** When it was heard of last, ms of the run. */
  seen: number;
}

/** What a run consisted of. */
export interface SimulatedLanding {
  readonly steps: number;
  readonly landed: number;
  readonly fenced: number;
  readonly halted: number;
}

/** Rejects with a `Violation`. */
export async function simulateLanding(seed: number, steps: number): Promise<SimulatedLanding> {
  const schedule = new Schedule(seed);
  const { random } = schedule;
  const counts = { steps, landed: 0, fenced: 0, halted: 0 };
  let logs = 0;
  let log = newLog();
  let down = false;
  const members: Member[] = [];
  /** Where a rebalance has put the partitions; a member may not have heard of it yet. */
  let owners: readonly (Member | undefined)[] = [];
  /** The store: positions, and what has landed, by stream and partition. */
  const positions = new Map<string, number>();
  const rows = new Map<string, number[]>();
  const consumers = Array.from({ length: REPLICAS }, start);
  let broken: Violation | undefined;
  let step = 0;

  function newLog(): Log {
    return { id: `log-${++logs}`, partitions: Array.from({ length: PARTITIONS }, () => ({ start: 0, records: [] })) };
  }

  const endOf = ({ start, records }: Log['partitions'][number]) => start + records.length;

  const up = <T>(value: T): T => {
    if (down) throw new Error('the engine is away');
    return value;
  };

  function leave(member: Member): void {
    if (!member.closed) members.splice(members.indexOf(member), 1);
    member.closed = true;
  }

  function rebalance(): void {
    for (const member of members.filter(({ seen }) => seen < schedule.now - SESSION)) leave(member);
    const there = members.filter(({ log: of }) => of === log);
    owners = Array.from({ length: PARTITIONS }, () => (there.length === 0 ? undefined : random.pick(there)));
  }

  function start() {
    const gated = schedule.behindGates;
    const clock = schedule.clock();
    const read: StreamReader['read'] = async (partition, offset, max) => {
      const { start: first, records } = up(log).partitions[partition]!;
      return records.slice(Math.max(0, offset - first), offset - first + (schedule.faulty ? Math.min(max, 1 + random.below(4)) : max));
    };
    const stream = {
      id: gated(async () => up(log).id),
      bounds: gated(async (partition: number) => {
        const part = up(log).partitions[partition]!;
        return { start: part.start, end: endOf(part) };
      }),
      join: gated(async () => {
        const member: Member = { log: up(log), closed: false, seen: schedule.now };
        members.push(member);
        rebalance();
        // Each hears of a rebalance at a time of its own.
        let known = owners;
        let ended = false;
        return {
          owned: () => {
            if (ended) return [];
            if (member.closed) throw new Error('the membership is lost');
            member.seen = schedule.now;
            if (schedule.oneIn(2)) known = owners;
            return known.flatMap((owner, partition) => (owner === member ? [partition] : []));
          },
          read: gated(async (...args: Parameters<StreamReader['read']>) => {
            const records = member.log === log ? await read(...args) : [];
            if (records.length === 0) await new Promise<void>((resolve) => clock.after(args[3], resolve));
            return records;
          }),
          async close() {
            ended = true;
            leave(member);
            rebalance();
          },
        };
      }),
    } as unknown as Stream;
    const store = {
      position: gated(async (streamId: string, partition: number) => up(positions.get(`${streamId} ${partition}`))),
      positionStreams: gated(async () => up([...new Set([...positions.keys()].map((key) => key.split(' ')[0]!))])),
      apply: gated(async (batch: LandingBatch) => apply(batch)),
    };
    return startConsumer({ stream, store, clock, log: () => {} });
  }

  /** Told at once: a consumer would only try again. */
  const violation = (message: string) => (broken ??= new Violation(message));

  /** One fenced transaction, as both stores make it. */
  function apply({ streamId, partition, from, to, items, poison }: LandingBatch): 'landed' | 'fenced' {
    const key = `${streamId} ${partition}`;
    if ((up(positions).get(key) ?? null) !== from) {
      counts.fenced += 1;
      return 'fenced';
    }
    positions.set(key, to);
    const landed = rows.get(key) ?? [];
    rows.set(key, landed);
    for (const { record } of [...items, ...poison].sort((a, b) => a.record.offset - b.record.offset)) {
      if (streamId !== log.id) throw violation(`${streamId} is landed on, which was replaced by ${log.id}`);
      if (record.offset !== landed.length)
        throw violation(`offset ${record.offset} of partition ${partition} landed as the ${landed.length + 1}th`);
      landed.push(record.offset);
      counts.landed += 1;
    }
    if (landed.length !== to) throw violation(`the position of partition ${partition} is ${to}, ${landed.length} messages have landed`);
    return 'landed';
  }

  function append(): void {
    const part = random.pick(log.partitions);
    for (let n = 1 + random.below(4); n > 0; n--) {
      const isPoison = schedule.oneIn(10);
      part.records.push({
        offset: endOf(part),
        timestamp: START + schedule.now,
        key: 'w',
        headers: isPoison ? {} : { workspace_id: 'w' },
        value: isPoison ? 'not a message' : VALUE,
      });
    }
  }

  /** As housekeeping does: never at or above what has landed. */
  function trim(): void {
    for (const [partition, part] of log.partitions.entries()) {
      const landed = positions.get(`${log.id} ${partition}`) ?? 0;
      const to = part.start + random.below(Math.max(1, landed - part.start + 1));
      part.records.splice(0, to - part.start);
      part.start = to;
    }
  }

  async function quiet(): Promise<void> {
    for (let passed = 0; passed < REST; passed += 100) {
      await schedule.openAll();
      await schedule.pass(100);
      if (members.some(({ seen }) => seen < schedule.now - SESSION)) rebalance();
    }
    await schedule.openAll();
  }

  /** With everything up, all that was appended has landed, and nobody waits for anything. */
  async function rest(): Promise<void> {
    down = false;
    schedule.faulty = false;
    await quiet();
    for (const [partition, part] of log.partitions.entries()) {
      const landed = positions.get(`${log.id} ${partition}`) ?? 0;
      if (landed !== endOf(part))
        throw new Violation(
          `partition ${partition} rests at ${landed} of ${endOf(part)}: ${JSON.stringify(consumers.map((c) => c.status()))}`,
        );
    }
    for (const consumer of consumers) {
      const status = consumer.status();
      if (status.state !== 'running') throw new Violation(`landing rests, and is told to be ${status.state}: ${status.reason}`);
      if (consumer.oldest() !== undefined) throw new Violation('landing rests, and a message is told to wait');
    }
    schedule.faulty = true;
  }

  /** Another stream stands in the place of the first: all halt, nothing of it lands until a person says so. */
  async function replace(): Promise<void> {
    const before = log;
    await rest();
    log = newLog();
    append();
    schedule.faulty = false;
    await quiet();
    for (const consumer of consumers) {
      const status = consumer.status();
      if (status.state !== 'halted') throw new Violation(`the stream was replaced, and landing is told to be ${JSON.stringify(status)}`);
    }
    if (positions.keys().some((key) => key.startsWith(log.id))) throw new Violation('the new stream was landed on, and nobody adopted it');
    counts.halted += 1;
    if (schedule.oneIn(2)) log = before;
    else positions.clear();
    await rest();
  }

  const delays = [1, 10, 20, 100, 1_000, 1_000, 5_000];
  const acts: readonly (readonly [weight: number, act: () => unknown])[] = [
    [80, () => schedule.open()],
    [25, () => schedule.pass(random.pick(delays))],
    [15, append],
    [4, rebalance],
    [2, trim],
    [1, () => (down = schedule.oneIn(3))],
    [
      1,
      () => {
        // Killed: what it asked for goes on, and nobody reads the answer.
        const gone = random.below(REPLICAS);
        void consumers[gone]!.close();
        consumers[gone] = start();
      },
    ],
  ];
  const table = acts.flatMap(([weight, act]) => Array.from({ length: weight }, () => act));
  try {
    for (; step < steps; step++) {
      await random.pick(table)();
      await schedule.settle();
      if (broken !== undefined) throw broken;
      if (step % 2_000 === 1_999) await rest();
      if (step % 5_000 === 4_999) await replace();
    }
  } catch (error) {
    throw new Violation(`landing, seed ${seed}, step ${step}: ${(error as Error).message}`, { cause: error });
  }
  return counts;
}
