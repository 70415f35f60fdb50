/** A world that is set up for rounds: its lists, its source, what is set, what polls it, and what all of that has to be. */
import { list as listAnswer, listServer } from '../support/list-server.ts';
import { type Client, must, openClient, type Reply, told } from './api.ts';
import { type Appliance, makeAppliances } from './appliance.ts';
import { type Bouncer, startBouncer } from './bouncer.ts';
import { ListModel, type Rule } from './model.ts';
import { LISTS } from './plan.ts';
import type { Sent, Settings } from './senders.ts';
import { type House, VIEWS } from './views.ts';
import type { World } from './world.ts';

export interface Scene {
  readonly world: World;
  readonly manage: Client;
  readonly senders: ReadonlyMap<string, Client>;
  readonly setter: Client;
  /** By list. */
  readonly models: ReadonlyMap<string, ListModel>;
  /** Of each list, its name. */
  readonly listIds: ReadonlyMap<string, string>;
  readonly sent: Sent[];
  /** Batches that were seen landed. */
  readonly known: Set<string>;
  /** What is set as far as it is known: by `feed family` and the like. */
  readonly set: Map<string, unknown>;
  readonly settings: Settings;
  /** Expiries that came out otherwise because the clock was set meanwhile, by the reason of the rule. */
  readonly expiries: Map<string, number>;
  readonly appliances: readonly Appliance[];
  readonly bouncers: readonly Bouncer[];
  /** Whether the disk was full at some time. */
  wasFull: boolean;
  /** Sets what the source's origin has. */
  publish(content: readonly number[]): void;
  /** What is so at an instant of weir's clock. */
  house(now: number): House;
  close(): Promise<void>;
}

const FIXED = '9.9.0.0/16';
/** Its rule lands behind everything that was sent before it. */
const MARK = '20.99.0.1';
const DAYS = '100d';

/** Waits until weir answers something with one of `statuses`. */
export async function insist(ask: () => Promise<Reply | undefined>, statuses: readonly number[], ms = 180_000): Promise<Reply> {
  for (const deadline = performance.now() + ms; ; ) {
    const reply = await ask();
    if (reply !== undefined && statuses.includes(reply.status)) return reply;
    must(performance.now() < deadline, `it is not ${statuses} after ${ms / 1000} s: ${reply?.status} ${reply?.body}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Resolves when everything that was accepted has landed. */
export const landMark = (manage: Client): Promise<Reply> =>
  insist(
    () => manage.ask('/v1/manage/rules', { method: 'POST', body: { value: MARK, list: 'mark', expires: DAYS, reason: 'mark' } }),
    [200],
  );

/** Sets a world up, with what `startWorld` makes of the port of the server of lists. */
export async function openScene(startWorld: (origin: number) => Promise<World>): Promise<Scene> {
  const origin = await listServer();
  const world = await startWorld(Number(new URL(origin.url).port));
  const manage = openClient(world.ports.manage, world.key);
  await insist(() => manage.ask('/readyz'), [200], world.patience.answers);
  const make = (path: string, body: object) => insist(() => manage.ask(`/v1/manage/${path}`, { method: 'POST', body }), [200, 201]);
  const listIds = new Map<string, string>();
  for (const name of [...LISTS, 'fixed', 'mark']) listIds.set(told(await make('lists', { name })).id, name);
  let content: readonly number[] = [];
  const addresses = () => content.map((n) => `30.0.0.${2 * n}`);
  const publish = (next: readonly number[]) => {
    content = next;
    origin.set('/list', listAnswer(`# a list\n${addresses().join('\n')}\n`));
  };
  publish([1, 2, 3]);
  await make('sources', { name: 'origin', url: `http://127.0.0.1:${world.origin}/list`, change_percent: 100, may_be_empty: true });
  await make('feeds', { name: 'mixed', lists: ['north'] });
  await make('rules', { value: FIXED, list: 'fixed', expires: DAYS });
  await landMark(manage);

  const models = new Map(LISTS.map((list) => [list as string, new ListModel()]));
  const set = new Map<string, unknown>([
    ...Object.entries({ lists: ['north'], family: null, subtract_allow: 'off', max_entries: null }).map(
      ([field, value]) => [`feed ${field}`, value] as const,
    ),
    ...Object.entries({ protect: [], subtract_allow: 'off' }).map(([field, value]) => [`workspace ${field}`, value] as const),
  ]);
  const expiries = new Map<string, number>();
  // A process that starts cannot know what was told before where the clock was set back, or the store takes no writes.
  // Where the clock was set, another family of the feed may have a date from before: the process has told none of that one (D5.18, D35.7).
  let polls = 0;
  const era = (view: string) => `, start ${world.starts()}${view === '/mixed' && world.clock.wasSet ? `, poll ${++polls}` : ''}`;
  const appliances = makeAppliances(world, VIEWS, era);
  const { feeds, any } = world.ports;
  const bouncers = [...feeds, ...(any === undefined ? [] : [any])].map((port) => startBouncer(port, world.key, `kill/${port}`));
  const senders = new Map(
    LISTS.map((list, n) => [list as string, openClient(world.ports.signals[n % world.ports.signals.length]!, world.key)]),
  );
  const setter = openClient(world.ports.manage, world.key);
  const block = (target: string): Rule => ({
    kind: 'access_rule',
    ref: null,
    target,
    action: 'block',
    reason: '',
    group: null,
    expiresAt: null,
  });
  const field = (name: string) => set.get(name) as never;

  return {
    ...{ world, manage, senders, setter, models, listIds, set, expiries, appliances, bouncers, publish },
    ...{ sent: [], known: new Set(), settings: new Map(), wasFull: false },
    house: (now) => ({
      lists: new Map([
        ...[...models].map(([list, model]) => [list, model.rules().filter((rule) => isActive(rule, now, expiries))] as const),
        ['fixed', [block(FIXED)]] as const,
        ['mark', [block(MARK)]] as const,
        ['origin', addresses().map(block)] as const,
      ]),
      workspace: { protect: field('workspace protect'), subtract_allow: field('workspace subtract_allow') },
      feed: {
        ...{ lists: field('feed lists'), family: field('feed family') },
        ...{ subtract_allow: field('feed subtract_allow'), max_entries: field('feed max_entries') },
      },
    }),
    async close() {
      await Promise.all(bouncers.map((each) => each.stop().catch(() => {})));
      for (const each of [manage, setter, ...senders.values(), ...appliances]) each.close();
      await world.stop();
      await origin[Symbol.asyncDispose]();
    },
  };
}

/** Whether it has not expired. */
export const isActive = ({ reason, expiresAt }: Rule, now: number, expiries: ReadonlyMap<string, number>): boolean =>
  expiresAt === null || (expiries.get(reason) ?? expiresAt) > now;
