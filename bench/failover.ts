/**
 * What clients see while parts of a scaled-out weir go (docs/deployment.md, "Failover"): `node bench/failover.ts [--only NAME] [--session MS]`.
 * Brokers have the times that Kafka has by itself; `--session`: after how long one counts as gone. Each kind of request is begun twice a
 * second, whatever became of those before.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Admin, type API, type describeQuorumV2, kGetApi } from '@platformatic/kafka';
import { partitionOf } from '../src/stream/kafka/record.ts';
import { openClient, told } from '../test/kill/api.ts';
import { insist, landMark } from '../test/kill/house.ts';
import { BROKERS, DEFAULT_TIMES } from '../test/kill/scaled/brokers.ts';
import { type Scaled, startScaled } from '../test/kill/scaled/scaled.ts';

/** Between two requests of a kind, ms; how long each is waited for, ms. */
const [INTERVAL, PATIENCE] = [500, 30_000];
/** How long before a harm all has been well, and afterwards is looked at, ms. */
const [BEFORE, AFTER] = [6000, 12_000];
/** How long a part is away, and how long until whoever watches PostgreSQL has the standby take over, ms. */
const [AWAY, NOTICED] = [15_000, 5000];

/** Who is what at the moment: the numbers of brokers. */
interface Cast {
  /** Leads the partition of the workspace. */
  readonly leader: number;
  /** Leads the controllers. */
  readonly controller: number;
  /** Neither, where there is one. */
  readonly other: number;
}

type Harm = (world: Scaled, cast: Cast) => Promise<void>;

const away =
  (how: 'kill' | 'pause', which: (cast: Cast) => readonly number[]): Harm =>
  async ({ brokers }, cast) => {
    const chosen = which(cast).map((broker) => brokers.kept.get(broker)!);
    if (how === 'kill') await Promise.all(chosen.map((each) => each.kill(AWAY)));
    else for (const each of chosen) each.pause();
    await sleep(AWAY);
    for (const each of chosen) each.resume();
  };

const HARMS: Readonly<Record<string, Harm>> = {
  'the broker that leads the partition ends': away('kill', ({ leader }) => [leader]),
  'the broker that leads the partition hangs': away('pause', ({ leader }) => [leader]),
  'the broker that leads the partition is restarted with SIGTERM': async ({ brokers }, { leader }) => {
    await brokers.kept.get(leader)!.term();
    await sleep(AWAY);
  },
  'a broker that follows ends': away('kill', ({ other }) => [other]),
  'a broker that follows hangs': away('pause', ({ other }) => [other]),
  "the controllers' leader hangs": away('pause', ({ controller }) => [controller]),
  'two brokers end': away('kill', ({ leader, other }) => [leader, other]),
  'all brokers end': away('kill', () => BROKERS),
  'the primary ends': ({ pair }) => pair.promote('kill', NOTICED),
  'the primary hangs': ({ pair }) => pair.promote('pause', NOTICED),
  'the standby ends': ({ pair }) => pair.standby.kill(AWAY),
};

const KINDS: Readonly<Record<string, (n: number) => { path: string; method?: string; headers?: Record<string, string>; body?: unknown }>> =
  {
    signals: (n) => ({
      path: '/v1/signal?list=figures',
      method: 'POST',
      body: [{ type: 'access_rules', action: 'block', ip: `20.0.${(n >> 7) % 256}.${(2 * n) % 256}` }],
    }),
    feeds: () => ({ path: '/v1/threat/feeds' }),
    bouncers: () => ({ path: '/v1/decisions/stream' }),
    'management, reads': () => ({ path: '/v1/manage/lists' }),
    'management, settings': (n) => ({
      path: '/v1/manage/workspace',
      method: 'PATCH',
      headers: { 'if-match': '*' },
      body: { protect: [`9.9.${n % 256}.0/24`] },
    }),
    'management, rules': (n) => ({ path: '/v1/manage/rules', method: 'POST', body: { value: `21.0.${n % 256}.1`, list: 'figures' } }),
  };

interface Answer {
  /** ms since the harm began. */
  readonly at: number;
  readonly took: number;
  readonly status: number | undefined;
}

/** Asks until it is stopped; resolves with all answers. */
function askOn(ports: readonly number[], key: string, kind: string, begun: number) {
  const clients = ports.flatMap((port) => Array.from({ length: 40 }, () => openClient(port, key, PATIENCE)));
  const asked: Promise<Answer>[] = [];
  const timer = setInterval(() => {
    const [n, at] = [asked.length, performance.now() - begun];
    const { path, ...options } = KINDS[kind]!(n);
    asked.push(
      clients[n % clients.length]!.ask(path, options).then((reply) => ({
        at,
        took: performance.now() - begun - at,
        status: reply?.status,
      })),
    );
  }, INTERVAL);
  return async () => {
    clearInterval(timer);
    const answers = await Promise.all(asked);
    for (const each of clients) each.close();
    return answers;
  };
}

const seconds = (ms: number) => (ms / 1000).toFixed(1);

/** What was answered from the harm on, in one line. */
function lineOf(answers: readonly Answer[]): string {
  const [before, after] = [answers.filter(({ at }) => at < 0), answers.filter(({ at }) => at >= 0)];
  const parts = [...Map.groupBy(after, ({ status }) => status ?? 'no answer')].map(([status, those]) => {
    const [slowest, first, last] = [Math.max(...those.map(({ took }) => took)), those[0]!.at, those.at(-1)!.at];
    const when = status === 200 ? '' : `, begun ${seconds(first)} to ${seconds(last)} s after it`;
    return `${status}: ${those.length} (slowest ${seconds(slowest)} s${when})`;
  });
  const late = after.filter(({ took, status }) => status === 200 && took > 1000);
  const waited =
    late.length === 0
      ? ''
      : `; 200 after more than 1 s: ${late.length}, begun ${seconds(late[0]!.at)} to ${seconds(late.at(-1)!.at)} s after it`;
  return `${parts.sort().join('; ')}${waited}; before it ${before.filter(({ status }) => status === 200).length} of ${before.length} 200`;
}

/** Resolves when all brokers have all of the partition. */
async function castOf(world: Scaled): Promise<Cast> {
  const { brokers, key, ports } = world;
  const admin = new Admin({ clientId: 'figures', bootstrapBrokers: brokers.addresses('one').split(',') });
  const client = openClient(ports.manage, key);
  try {
    const { id } = told(await insist(() => client.ask('/v1/manage/workspace'), [200]));
    const { brokers: all, topics } = await admin.metadata({ topics: ['signals'], forceUpdate: true });
    const signals = topics.get('signals')!;
    const follows = signals.partitions[partitionOf(id, signals.partitionsCount)]!.isr.length;
    if (follows < BROKERS.length) return await sleep(500).then(() => castOf(world));
    const leader = signals.partitions[partitionOf(id, signals.partitionsCount)]!.leader;
    const api = await new Promise<API<describeQuorumV2.DescribeQuorumRequest, describeQuorumV2.DescribeQuorumResponse>>((resolve, reject) =>
      admin[kGetApi]<never, never>('DescribeQuorum', (error, found) => (error === null ? resolve(found as never) : reject(error))),
    );
    const connection = await admin.connections.getFirstAvailable([...all.values()]);
    const quorum = await api.async(connection, [{ topicName: '__cluster_metadata', partitions: [{ partitionIndex: 0 }] }]);
    const controller = quorum.topics[0]!.partitions[0]!.leaderId;
    return { leader, controller, other: BROKERS.find((each) => each !== leader && each !== controller)! };
  } finally {
    client.close();
    await admin.close();
  }
}

const { values } = parseArgs({ options: { only: { type: 'string' }, session: { type: 'string' } } });
const session =
  values.session === undefined ? {} : { 'broker.session.timeout.ms': Number(values.session), 'broker.heartbeat.interval.ms': 500 };
const world = await startScaled(1, { ...DEFAULT_TIMES, ...session });
const manage = openClient(world.ports.manage, world.key);
try {
  await insist(() => manage.ask('/readyz'), [200]);
  await insist(() => manage.ask('/v1/manage/lists', { method: 'POST', body: { name: 'figures' } }), [200, 201]);
  for (const name of ['mark']) await insist(() => manage.ask('/v1/manage/lists', { method: 'POST', body: { name } }), [200, 201]);
  for (const [name, harm] of Object.entries(HARMS)) {
    if (values.only !== undefined && !name.includes(values.only)) continue;
    await world.whole!();
    await landMark(manage);
    const cast = await castOf(world);
    const begun = performance.now() + BEFORE;
    const asking = Object.keys(KINDS).map((kind) => {
      const ports = kind.startsWith('management') || kind === 'signals' ? [world.ports.manage] : world.ports.feeds;
      return [kind, askOn(ports, world.key, kind, begun)] as const;
    });
    await sleep(BEFORE);
    await harm(world, cast);
    const well = performance.now() - begun;
    await sleep(AFTER);
    console.log(`\n${name} (leader ${cast.leader}, controller ${cast.controller}); all is there again after ${seconds(well)} s`);
    for (const [kind, stop] of asking) console.log(`  ${kind}: ${lineOf(await stop())}`);
  }
} finally {
  manage.close();
  await world.stop();
}
process.exit(0);
