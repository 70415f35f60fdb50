/**
 * Feeds of several replicas over one store, under a seeded schedule: real caches and builders, whose calls of each other and of the store
 * are early, late, lost or failed, while rules come, expire and are renewed, replicas start anew and clients poll with what they hold.
 * After each answer the client has to hold what a plain model of the rules says.
 */
import { lastModified, MemoryStore, Replica, type Reply, START } from '../support/feed-world.ts';
import { Schedule, type SimulatedClock, Violation } from './schedule.ts';

const INTERVAL = 30_000;
/** How old what is served may be as a rule: a read may be shared by work that began an interval later, and a content may wait for its second. */
const OLDEST = 2 * INTERVAL + 5_000;
const REPLICAS = 3;
const CLIENTS = 4;
const MOST_RULES = 12;

/** The rules from an instant (ms of the run) on: their expiry by address, whole seconds, 0 = none. */
interface Version {
  readonly from: number;
  readonly rules: ReadonlyMap<string, number>;
}

/** One process: what it is made of goes with it. */
interface Process {
  readonly replica: Replica;
  readonly clock: SimulatedClock;
  readonly started: number;
  /** The greatest Last-Modified that it has told. */
  shown: number;
}

/** A request: when it was sent, and whether it proves what the client has by a date alone. */
interface Asked {
  readonly at: number;
  readonly wall: number;
  readonly byDate: boolean;
}

interface Client {
  body: string | undefined;
  etag: string;
  since: string;
  /** Which replica it has its content from: dates are compared there alone. */
  from: number;
  /** The process that it waits for. */
  asking: Process | undefined;
}

/** What a run consisted of. */
export interface Simulated {
  readonly steps: number;
  readonly answers: number;
  readonly notModified: number;
  readonly stale: number;
  readonly refused: number;
}

/**
 * `setClocks`: the wall clocks of the replicas are set now and then, so what has expired is a matter of each; tags and dates are not.
 * Rejects with a `Violation`.
 */
export async function simulateFeeds(seed: number, steps: number, { setClocks = false } = {}): Promise<Simulated> {
  const schedule = new Schedule(seed);
  const { random } = schedule;
  const storeClock = schedule.clock();
  const store = new MemoryStore(storeClock);
  const list = store.addList('edge');
  const ids = new Map<string, number>();
  const versions: Version[] = [{ from: 0, rules: new Map() }];
  const bodies = new Map<string, string>();
  const tags = new Map<string, string>();
  const counts = { steps, answers: 0, notModified: 0, stale: 0, refused: 0 };
  const clients: Client[] = Array.from({ length: CLIENTS }, () => ({ body: undefined, etag: '', since: '', from: 0, asking: undefined }));
  const processes = Array.from({ length: REPLICAS }, start);
  let broken: Violation | undefined;
  let step = 0;

  function start(): Process {
    const clock = schedule.clock();
    const calls = ['findNamed', 'snapshot', 'follow', 'ruleStates', 'rulesById', 'recordDocument'] as const;
    const gated = Object.create(store) as MemoryStore;
    for (const call of calls) gated[call] = schedule.behindGates(store[call].bind(store) as never);
    Object.defineProperty(gated, 'keyRevision', { get: () => store.keyRevision });
    const replica: Replica = new Replica(clock, gated, { gates: schedule.behindGates });
    return { replica, clock, started: schedule.now, shown: 0 };
  }

  function change(work: (rules: Map<string, number>) => void): void {
    const rules = new Map(versions.at(-1)!.rules);
    work(rules);
    versions.push({ from: schedule.now, rules });
  }

  function changeRules(): void {
    const address = `192.0.2.${1 + 2 * random.below(MOST_RULES)}`;
    const known = ids.get(address);
    const ttl = schedule.oneIn(2) ? 1 + random.below(90) : undefined;
    const expires = ttl === undefined ? 0 : Math.ceil(storeClock.now() / 1000 + ttl);
    if (known === undefined) {
      ids.set(address, store.add(list, address, ttl === undefined ? {} : { ttl }));
      change((rules) => rules.set(address, expires));
    } else if (ttl !== undefined && schedule.oneIn(2)) {
      store.renew(known, ttl);
      change((rules) => rules.set(address, expires));
    } else {
      store.remove(known);
      ids.delete(address);
      change((rules) => rules.delete(address));
    }
  }

  async function poll(client: Client, process: Process): Promise<void> {
    const headers: Record<string, string> =
      client.body === undefined || schedule.oneIn(8)
        ? {}
        : schedule.oneIn(2) && client.from === processes.indexOf(process)
          ? { 'if-modified-since': client.since }
          : { 'if-none-match': client.etag };
    const asked = { at: schedule.now, wall: process.clock.now() };
    client.asking = process;
    const reply = await process.replica.get('', headers);
    // What a process answers that is gone reaches nobody.
    if (!processes.includes(process)) return;
    client.asking = undefined;
    if (reply.status !== 200 && reply.status !== 304) {
      if (reply.status !== 500) throw new Violation(`status ${reply.status}`);
      counts.refused += 1;
      return;
    }
    judge(client, process, reply, { ...asked, byDate: headers['if-modified-since'] !== undefined });
  }

  function judge(client: Client, process: Process, reply: Reply, asked: Asked): void {
    const { etag = '', 'last-modified': since = '', 'x-feed-stale-since': staleSince } = reply.headers;
    counts.answers += 1;
    if (reply.status === 304) counts.notModified += 1;
    if (staleSince !== undefined) counts.stale += 1;
    const held = reply.status === 304 ? client.body! : reply.body;
    if (reply.status === 200) {
      if ((bodies.get(etag) ?? held) !== held) throw new Violation(`one tag, two contents: ${etag}`);
      if ((tags.get(held) ?? etag) !== etag) throw new Violation('one content, two tags');
      bodies.set(etag, held);
      tags.set(held, etag);
    }
    const shown = lastModified(reply);
    // The first instant of all is no date (D35.1).
    if (shown > 0 && shown < process.shown) throw new Violation(`Last-Modified went back from ${process.shown} to ${shown}`);
    process.shown = Math.max(shown, process.shown);
    if (!setClocks && shown * 1000 > process.clock.now()) throw new Violation('Last-Modified lies ahead');
    const from = staleSince === undefined ? asked.at - OLDEST : Date.parse(staleSince) - START;
    // A date proves no more than that the client has nothing older than this replica: it may hold what has expired since that one's read.
    const isOlder = reply.status === 304 && asked.byDate;
    const walls = [isOlder ? from + START : asked.wall, process.clock.now()];
    const seconds: number[] = [];
    for (let second = Math.floor(Math.min(...walls) / 1000); second * 1000 <= Math.max(...walls); second++) seconds.push(second);
    if (!setClocks && !isRight(held, from, seconds)) {
      const lines = held.replaceAll('/32\n', ' ');
      throw new Violation(
        `${reply.status}${staleSince ? ' stale' : ''}: the client holds ${lines || 'nothing'}, which the rules never said`,
      );
    }
    // A 304 with another tag than that of what is held is about nothing that the client has (RFC 9111, 4.3.4).
    if (reply.status === 200 || etag === client.etag) Object.assign(client, { body: held, etag, since, from: processes.indexOf(process) });
  }

  /** Whether the content is that of one moment from `from` on, as of one of these seconds; what expires by then may have been renewed since. */
  function isRight(body: string, from: number, seconds: readonly number[]): boolean {
    const addresses = new Set(body.split('/32\n').filter((line) => line !== ''));
    const first = Math.max(
      0,
      versions.findLastIndex((version) => version.from < from),
    );
    const candidates = versions.slice(first);
    const isActive = (expires: number | undefined, second: number) => expires !== undefined && (expires === 0 || expires > second);
    const isOf = (version: Version, second: number) => {
      const expected = [...version.rules].filter(([, expires]) => isActive(expires, second)).map(([address]) => address);
      if (expected.some((address) => !addresses.has(address))) return false;
      const later = candidates.slice(candidates.indexOf(version));
      return addresses
        .keys()
        .every((address) => version.rules.has(address) && later.some(({ rules }) => isActive(rules.get(address), second)));
    };
    return candidates.some((version) => seconds.some((second) => isOf(version, second)));
  }

  /** With everything up and nothing changing, all replicas say the same, and what the store says. */
  async function agree(): Promise<void> {
    Object.assign(store, { down: false, readOnly: false });
    schedule.faulty = false;
    await schedule.openAll();
    for (let round = 0; round < 8; round++) {
      // What is found by all of them when all is well has one date.
      if (round % 4 === 0) changeRules();
      await quietly(() => schedule.pass(INTERVAL / 2 + 1_000));
      for (const { replica } of processes) await quietly(() => replica.get(''));
    }
    await quietly(() => schedule.pass(4_000));
    const replies: Reply[] = [];
    for (const { replica } of processes) replies.push((await quietly(() => replica.get('')))!);
    const second = Math.floor(storeClock.now() / 1000);
    const { rules } = versions.at(-1)!;
    const isQuiet = rules.values().every((expires) => expires === 0 || expires > second || expires < second - INTERVAL / 1000 - 5);
    const said = new Set(replies.map(({ body }) => body));
    if (said.size > 1 || !isRight(replies[0]!.body, schedule.now, [second])) throw new Violation('replicas at rest differ from the store');
    const dates = new Set(replies.map((reply) => `${reply.headers.etag} ${reply.headers['last-modified']}`));
    if (isQuiet && dates.size > 1) throw new Violation(`replicas at rest have other validators: ${[...dates].join(', ')}`);
    schedule.faulty = true;
  }

  /** Waits for work while all gates open. */
  async function quietly<T>(work: () => Promise<T>): Promise<T | undefined> {
    let done = false;
    const result = work().finally(() => {
      done = true;
    });
    for (let turn = 0; !done && turn < 10_000; turn++) await schedule.open();
    return result;
  }

  const delays = [1, 10, 100, 450, 1_000, 1_000, 3_000, 12_000, INTERVAL];
  const acts: readonly (readonly [weight: number, act: () => unknown])[] = [
    [60, () => schedule.open()],
    [25, () => schedule.pass(random.pick(delays))],
    [8, changeRules],
    [
      25,
      () => {
        const client = random.pick(clients);
        if (client.asking === undefined) poll(client, random.pick(processes)).catch((error) => (broken ??= error));
        return schedule.settle();
      },
    ],
    [1, () => Object.assign(store, { down: schedule.oneIn(4) })],
    [1, () => Object.assign(store, { readOnly: schedule.oneIn(3) })],
    [
      1,
      () => {
        const gone = random.below(REPLICAS);
        for (const client of clients) if (client.asking === processes[gone]) client.asking = undefined;
        processes[gone] = start();
      },
    ],
  ];
  const clockSet = () => random.pick(processes).clock.set(random.pick([-3_600_000, -5_000, -1_000, 1_000, 60_000]));
  const all = setClocks ? [...acts, [1, clockSet] as const] : acts;
  const table = all.flatMap(([weight, act]) => Array.from({ length: weight }, () => act));
  try {
    for (; step < steps; step++) {
      await random.pick(table)();
      if (broken !== undefined) throw broken;
      if (versions.length > 2_000) versions.splice(0, 1_000);
      if (step % 2_000 === 1_999 && !setClocks) await agree();
    }
  } catch (error) {
    throw new Violation(`feeds, seed ${seed}, step ${step}: ${(error as Error).message}`, { cause: error });
  }
  return counts;
}
