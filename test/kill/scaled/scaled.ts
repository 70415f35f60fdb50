/** Three weirs with roles apart on three Kafka brokers and a PostgreSQL with a synchronous standby, and links between each two. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { administer } from '../../support/postgres.ts';
import { passTime } from '../../support/time-out.ts';
import { KEY } from '../../support/weir.ts';
import { openClient } from '../api.ts';
import { settingsOf } from '../embedded.ts';
import { insist } from '../house.ts';
import { type Link, openLink, together } from '../links.ts';
import type { Harm } from '../plan.ts';
import { lastingPort } from '../ports.ts';
import { clockIn, type Kept, keepWeir, type Part, type World } from '../world.ts';
import { checkAgreement } from './agree.ts';
import { BROKERS, type Brokers, startBrokers, type Times } from './brokers.ts';
import { type Pair, startPair } from './pair.ts';

/** What each weir does: no role but that of all devices is in all, and none is in one alone. */
const ROLES = { one: 'signals,feeds,manage,sources', two: 'signals,consumer,feeds,manage', three: 'consumer,feeds,sources' } as const;
type Name = keyof typeof ROLES;
const NAMES = Object.keys(ROLES) as Name[];

/** Shorter than Kafka's own, so that in a round others take over. */
const TIMES: Times = { 'broker.session.timeout.ms': 6000, 'broker.heartbeat.interval.ms': 500, 'replica.lag.time.max.ms': 8000 };
/** So much starts anew at once that a machine that is busy needs minutes for it. */
const PATIENCE = { answers: 600_000, feeds: 180_000 };
/** How long a roaming client is led to one weir, ms. */
const TURN = 1700;
/** How often as long as other harms those take that others have to notice, which is after seconds. */
const STRETCH = 5;
/**
 * The clock of one weir among others: as far ahead as no rule that is sent is short, and as far behind as one likes; of one
 * that is `promised` behind nothing is said of dates, ms.
 */
const OFF = { most: 200_000, least: -3_600_000, promised: 2000 };

const both = (parts: readonly Part[]): Part => ({
  async kill(ms) {
    await Promise.all(parts.map((each) => each.kill(ms)));
  },
  pause: () => parts.forEach((each) => void each.pause()),
  resume: () => parts.forEach((each) => void each.resume()),
});

export interface Scaled extends World {
  readonly brokers: Brokers;
  readonly pair: Pair;
  readonly weirs: ReadonlyMap<string, Kept>;
}

/** Starts all of it; `origin` is the port of the server of lists. */
export async function startScaled(origin: number, times: Times = TIMES): Promise<Scaled> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-scaled-'));
  const [brokers, pair] = await Promise.all([startBrokers(folder, NAMES, times), startPair()]);
  await administer(pair.url(), 'CREATE DATABASE weir');
  const lists = await openLink(origin);
  const [links, weirs, clocks] = [new Map<string, Link>(), new Map<string, Kept>(), new Map<string, ReturnType<typeof clockIn>>()];
  const ended: string[] = [];
  // One that was told by a clock that was behind stays until the content changes (D5.18).
  let datesAgree = true;
  for (const name of NAMES) {
    const home = join(folder, name);
    mkdirSync(home, { mode: 0o700 });
    const [port, stores, streams] = [await lastingPort(), await pair.openLinks(), brokers.links.get(name)!];
    clocks.set(name, clockIn(join(home, 'clock')));
    links.set(`clients–${name}`, await openLink(port));
    links.set(`${name}–PostgreSQL`, together(stores));
    links.set(`${name}–Kafka`, together(streams));
    streams.forEach((link, n) => void links.set(`${name}–broker ${BROKERS[n]}`, link));
    const settings = {
      ...settingsOf(home),
      ...{ DATA_DIR: home, PORT: String(port), ROLES: ROLES[name], DRAIN_SECONDS: '2' },
      DATABASE_URL: `postgres://weir@${stores.map((link) => `127.0.0.1:${link.port}`).join()}/weir?target_session_attrs=read-write`,
      ...{ KAFKA_BROKERS: brokers.addresses(name), KAFKA_PARTITIONS: '4', KAFKA_REPLICATION: '3' },
    };
    weirs.set(name, keepWeir(name, settings, ended));
  }
  brokers.inside.forEach((link, n) => void links.set(`brokers–broker ${BROKERS[n]}`, link));
  links.set('standby–primary', pair.between);
  const parts = new Map<string, Part>([...weirs, ['primary', pair.primary], ['standby', pair.standby]]);
  for (const broker of BROKERS) parts.set(`broker ${broker}`, brokers.kept.get(broker)!);
  for (const out of BROKERS)
    parts.set(`brokers without ${out}`, both(BROKERS.filter((each) => each !== out).map((each) => brokers.kept.get(each)!)));
  const front = (name: Name) => links.get(`clients–${name}`)!.port;
  // A balancer that ends what it has begun: whoever comes again is led to the next.
  let turn = 0;
  const any = await openLink(() => front(NAMES[turn++ % NAMES.length]!));
  const turning = setInterval(() => any.cut(), TURN);
  const isReady = async (name: Name) => {
    const client = openClient(front(name), KEY);
    await insist(() => client.ask('/readyz'), [200], PATIENCE.answers).finally(() => client.close());
  };
  const [some, ofBrokers] = [[...links.keys(), 'origin'], [...parts.keys()].filter((name) => name.startsWith('broker'))];
  links.set('origin', lists);

  return {
    ...{ engine: 'scaled', key: KEY, patience: PATIENCE, brokers, pair, weirs, parts, links, ended },
    ports: { signals: [front('one'), front('two')], manage: front('one'), feeds: NAMES.map(front), any: any.port },
    targets: {
      kill: [...parts.keys()],
      ...{ 'kill twice': NAMES, term: [...NAMES, ...BROKERS.map((each) => `broker ${each}`)], pause: [...parts.keys()] },
      ...{ 'stay away': ofBrokers, 'pause long': [...parts.keys()], 'hang long': some.filter((name) => !name.startsWith('clients')) },
      ...{ promote: ['killed', 'hanging'], roll: ['all'], clock: NAMES },
      ...{ cut: some, hang: some, slow: some, refuse: some, lose: some },
    },
    own: {
      'stay away': ({ to, ms }) => parts.get(to)!.kill(ms * STRETCH),
      async 'pause long'({ to, ms }) {
        parts.get(to)!.pause();
        await sleep(ms * STRETCH);
        parts.get(to)!.resume();
      },
      async 'hang long'({ to, ms }) {
        links.get(to)!.set('hang');
        await sleep(ms * STRETCH);
        links.get(to)!.set('pass');
      },
      promote: ({ to, ms }) => pair.promote(to === 'killed' ? 'kill' : 'pause', ms),
      async roll() {
        for (const name of NAMES) {
          const [weir, before] = [weirs.get(name)!, weirs.get(name)!.starts()];
          await weir.term();
          while (weir.starts() === before) await sleep(100);
          await isReady(name);
        }
      },
      async clock({ to, ms, off }: Harm) {
        datesAgree &&= off! > -OFF.promised;
        clocks.get(to)!.set(Math.max(OFF.least, Math.min(OFF.most, off!)));
        await sleep(ms);
        clocks.get(to)!.set(0);
      },
    },
    // That of the model; those of single weirs are set beside it.
    clock: { off: 0, wasSet: true, now: Date.now, set() {} },
    origin: lists.port,
    passTime: () => passTime({ DATABASE_URL: pair.url('weir') }),
    // A store that goes on elsewhere allows what a start does.
    starts: () => [...weirs.values()].reduce((sum, each) => sum + each.starts(), pair.promotions()),
    lives: () => [...weirs.values()].reduce((sum, each) => sum + each.starts(), 0),
    async whole() {
      await pair.whole();
      await Promise.all(NAMES.map(isReady));
    },
    check: () => checkAgreement(NAMES.map(front), KEY, datesAgree, PATIENCE.feeds),
    async stop() {
      clearInterval(turning);
      await Promise.all([...weirs.values()].map((each) => each.stop()));
      await Promise.all([
        brokers.stop(),
        pair.stop(),
        ...[...NAMES.map((name) => links.get(`clients–${name}`)!), lists, any].map((each) => each.close()),
      ]);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
