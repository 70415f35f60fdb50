/**
 * The parts of a deployment on PostgreSQL and Kafka are killed, stopped and replaced under load, round after round on the
 * same data: `node test/crash/scale-out.ts [--rounds 10] [--only NAME]`. After each round every acknowledged entry has landed,
 * once, in the order of its workspace.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Admin } from '@platformatic/kafka';
import type { Tenant } from '../support/command.ts';
import { type Deployment, deploy, PARTITIONS } from '../support/deployment.ts';
import { postSignals, readyz } from '../support/http.ts';
import { type KafkaBroker, startKafka } from '../support/kafka.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/postgres.ts';
import { eventually, weir as runWeir, type Weir } from '../support/weir.ts';
import { type Audit, openAudit } from './audit.ts';
import { type Lane, startLane, storedVersions } from './lane.ts';

/** What a scenario does its harm to. */
interface Scene {
  readonly deployment: Deployment;
  readonly postgres: OwnPostgres;
  readonly kafka: KafkaBroker;
  readonly audit: Audit;
  /** Two processes of each role. */
  readonly signals: Weir[];
  readonly consumers: Weir[];
  readonly lanes: readonly Lane[];
}

interface Scenario {
  readonly title: string;
  /** Whether requests may fail meanwhile: only where their own process or the broker is away. */
  readonly refuses: boolean;
  /** Does the harm and makes it good again; load goes on before, during and after it. */
  readonly harm: (scene: Scene) => Promise<void>;
}

/** How long after a harm the deployment may need to be whole again, ms. */
const RECOVERY = 90_000;

export const SCENARIOS = {
  signals: {
    title: 'kill -9 of a signal process',
    refuses: true,
    async harm({ deployment, signals }) {
      signals.push(await deployment.restart(signals.shift()!));
    },
  },
  consumer: {
    title: 'kill -9 of a consumer process',
    refuses: false,
    async harm({ deployment, consumers }) {
      consumers.push(await deployment.restart(consumers.shift()!));
    },
  },
  postgres: {
    title: 'kill -9 of PostgreSQL and its crash restart',
    refuses: false,
    async harm({ postgres, lanes }) {
      await postgres.kill();
      // Signals are accepted while the store is down.
      await moreAcknowledged(lanes);
      await postgres.start();
    },
  },
  kafka: {
    title: 'kill -9 of the Kafka broker',
    refuses: true,
    async harm({ kafka }) {
      await kafka.kill();
      await sleep(300);
      await kafka.start();
    },
  },
  rebalance: {
    title: 'a consumer that joins and leaves in the middle',
    refuses: false,
    async harm({ deployment }) {
      const third = await deployment.start({ ROLES: 'consumer' });
      await eventually(async () => assert.equal(await groupSize(deployment), 3), RECOVERY);
      await sleep(500);
      assert.equal(await third.kill('SIGTERM'), 0);
      await eventually(async () => assert.equal(await groupSize(deployment), 2), RECOVERY);
    },
  },
  'old-owner': {
    title: 'an old owner that wakes up after its replacement has landed',
    refuses: false,
    async harm({ deployment, consumers: [old], lanes }) {
      const isFenced = () => /landed by another consumer/.test(old.output().stderr);
      // It may be stopped between two batches: then nothing of it is fenced.
      for (let attempt = 1; !isFenced(); attempt += 1) {
        assert.ok(attempt <= 5, old.output().stderr);
        process.kill(old.pid, 'SIGSTOP');
        try {
          await moreAcknowledged(lanes);
          // What it had left behind is landed by the other one; until that may, load would only make more of it.
          await Promise.all(lanes.map((lane) => lane.hold()));
          await deployment.landed(RECOVERY);
        } finally {
          process.kill(old.pid, 'SIGCONT');
        }
        for (const lane of lanes) lane.go();
        await eventually(async () => assert.ok(isFenced() || (await groupSize(deployment)) === 2), RECOVERY);
        await moreAcknowledged(lanes);
      }
    },
  },
  topic: {
    title: 'a topic that is deleted and made anew',
    refuses: true,
    async harm(scene) {
      const { deployment, consumers, lanes, audit } = scene;
      const { store, stream, topic } = deployment;
      // What has not landed goes with the topic.
      await Promise.all(lanes.map((lane) => lane.hold()));
      await deployment.landed(RECOVERY);
      await audit.check();
      const old = await stream.id();
      await withAdmin(deployment, (admin) => admin.deleteTopics({ topics: [topic] }));
      for (const lane of lanes) lane.go();
      await sleep(500);
      await withAdmin(deployment, (admin) => admin.createTopics({ topics: [topic], partitions: PARTITIONS, replicas: 1 }));
      await moreAcknowledged(lanes);
      for (const consumer of consumers) {
        await eventually(async () => {
          const { status, checks } = await readyz(consumer.url);
          assert.equal(status, 503);
          assert.equal(checks.landing.state, 'halted');
          assert.match(checks.landing.reason!, /deleted and created again.*run: weir stream adopt/);
        }, RECOVERY);
      }
      await sleep(500);
      assert.deepEqual(await store.positionStreams(), [old], 'nothing of the new topic has landed');
      const { DATABASE_URL, KAFKA_BROKERS, KAFKA_TOPIC } = deployment.settings;
      const { code, stderr } = await runWeir(['stream', 'adopt', '--yes'], { DATABASE_URL, KAFKA_BROKERS, KAFKA_TOPIC });
      assert.equal(code, 0, stderr);
    },
  },
} as const satisfies Record<string, Scenario>;
export type ScenarioName = keyof typeof SCENARIOS;

export interface CrashMatrix {
  /** One round of a scenario; rejects at the first broken promise. Returns how many entries were acknowledged. */
  round(name: ScenarioName): Promise<number>;
  stop(): Promise<void>;
}

/** Starts durable engines of its own and two processes each of the roles that take and land signals; `pause`: between two batches of a workspace, ms. */
export async function startCrashMatrix(pause: number): Promise<CrashMatrix> {
  const [postgres, kafka] = await Promise.all([startOwnPostgres(), startKafka()]);
  const deployment = await deploy(postgres, kafka, 'crash');
  const audit = await openAudit(deployment);
  const signals = await Promise.all([1, 2].map(() => deployment.start({ ROLES: 'signals' })));
  const consumers = await Promise.all([1, 2].map(() => deployment.start({ ROLES: 'consumer' })));
  let laneNumber = 0;

  const startLanes = (tenants: readonly Tenant[], counts: Counts) =>
    tenants.map((tenant, n) => {
      laneNumber += 1;
      return startLane({
        name: `lane${laneNumber}`,
        number: laneNumber,
        size: 30,
        post: poster(tenant, n, () => signals, counts),
        pauses: { done: pause, failed: 200 },
      });
    });

  return {
    async round(name) {
      const { refuses, harm } = SCENARIOS[name] as Scenario;
      const tenants = await deployment.tenants();
      const counts: Counts = { failed: 0, late: [] };
      const lanes = startLanes(tenants, counts);
      await moreAcknowledged(lanes);
      await sleep(100 + ((laneNumber * 37) % 400));
      const began = performance.now();
      try {
        await harm({ deployment, postgres, kafka, audit, signals, consumers, lanes });
        await moreAcknowledged(lanes);
      } finally {
        await Promise.all(lanes.map((lane) => lane.hold()));
      }
      const outage = performance.now() - began;
      await deployment.landed(RECOVERY);
      assert.ok(counts.late.filter((took) => took >= outage + ANSWER_LIMIT).length <= LATE, `answered after ${counts.late.join(', ')} ms`);
      if (!refuses) assert.equal(counts.failed, 0, 'no request failed');
      for (const [n, lane] of lanes.entries()) lane.check(await storedVersions(deployment.store, tenants[n].workspaceId));
      await audit.check();
      assert.deepEqual(await deployment.store.deadLetters(10), []);
      for (const weir of [...signals, ...consumers]) {
        await eventually(async () => assert.equal((await readyz(weir.url)).status, 200), RECOVERY);
      }
      return lanes.reduce((sum, lane) => sum + lane.entries, 0);
    },
    async stop() {
      await deployment.stop();
      await Promise.all([postgres.stop(), kafka.stop()]);
    },
  };
}

/** How long a request may take, ms, besides the outage; and how many may take longer in a round because the machine is busy with other things. */
const ANSWER_LIMIT = 5000;
const LATE = 2;

/** How many were not answered with 200, and how long those took that were answered late, ms. */
interface Counts {
  failed: number;
  readonly late: number[];
}

/** Posts to one process until that one fails, then to the other. */
function poster({ key }: Tenant, first: number, processes: () => readonly Weir[], counts: Counts) {
  let turn = first;
  return async (entries: readonly object[]): Promise<boolean> => {
    const { url } = processes()[turn % processes().length];
    const begun = performance.now();
    try {
      const { status, text } = await postSignals(url, key, entries, '/v2/signal');
      const took = performance.now() - begun;
      if (took >= ANSWER_LIMIT) counts.late.push(took);
      if (status === 200) return true;
      assert.equal(status, 500, text);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      // The process was killed.
      turn += 1;
    }
    counts.failed += 1;
    return false;
  };
}

/** Resolves when every lane has had three batches more acknowledged. */
async function moreAcknowledged(lanes: readonly Lane[]): Promise<void> {
  const before = lanes.map((lane) => lane.acknowledged);
  await eventually(() => {
    for (const [n, lane] of lanes.entries()) assert.ok(lane.acknowledged >= before[n] + 3, 'no batch is acknowledged');
  }, RECOVERY);
}

async function withAdmin<T>({ brokers }: Deployment, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = new Admin({ clientId: 'crash-test', bootstrapBrokers: [...brokers] });
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}

const groupSize = (deployment: Deployment) =>
  withAdmin(deployment, async (admin) => {
    const group = `weir-${deployment.topic}`;
    return (await admin.describeGroups({ groups: [group] })).get(group)!.members.size;
  });

/** Runs every scenario (or one) so many rounds; rejects at the first broken promise. */
async function main(rounds: number, only: string | undefined): Promise<void> {
  const matrix = await startCrashMatrix(100);
  try {
    for (const name of Object.keys(SCENARIOS) as ScenarioName[]) {
      if (only !== undefined && only !== name) continue;
      for (let round = 1; round <= rounds; round += 1) {
        const begun = performance.now();
        const entries = await matrix.round(name);
        const seconds = ((performance.now() - begun) / 1000).toFixed(1);
        console.log(
          `${SCENARIOS[name].title}, round ${round}: ${entries} entries acknowledged, none lost, none doubled, in order (${seconds} s)`,
        );
      }
    }
  } finally {
    await matrix.stop();
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '10' }, only: { type: 'string' } } });
  await main(Number(values.rounds), values.only);
}
