/** Sources of one workspace over real engines, in this process, refreshed when a test says so, by a clock that only the test moves. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { NO_GUARD_RAILS } from '../../src/account/guard-rails.ts';
import { NO_SETTINGS } from '../../src/account/list.ts';
import {
  DEFAULT_GUARDS,
  PLAIN_READING,
  type Source,
  type SourceGuards,
  type SourceSettings,
  type SourceState,
} from '../../src/account/source.ts';
import { readConfig } from '../../src/config.ts';
import { activityCounter } from '../../src/http/activity.ts';
import { newHttpCounts } from '../../src/http/counts.ts';
import { type PlannedUndo, undoBatches } from '../../src/manage/batches.ts';
import { encryptedSourceSecret } from '../../src/manage/sources/source-secret.ts';
import type { SourceRecord } from '../../src/ports/stored/source-store.ts';
import { type Base, startBase } from '../../src/roles/base.ts';
import type { Close } from '../../src/roles/component.ts';
import { startLanding } from '../../src/roles/consumer.ts';
import { startSignals } from '../../src/roles/signals.ts';
import { refresherOf } from '../../src/roles/sources.ts';
import type { AccessRule } from '../../src/rule.ts';
import { createLogger } from '../../src/runtime/logging.ts';
import { politeFetching } from '../../src/runtime/sources/fetching.ts';
import type { Refresher } from '../../src/runtime/sources/refresher.ts';
import type { Accept } from '../../src/signal/accept.ts';
import { formatTarget } from '../../src/signal/target.ts';
import { isDueAt } from '../../src/source/refresh/schedule.ts';
import { caughtUp } from '../../src/stream/lag.ts';
import { smallGeo } from './geo.ts';
import { PATIENT, testEnvironment } from './weir.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export interface SourceWorld extends AsyncDisposable {
  readonly base: Base;
  readonly workspaceId: string;
  readonly refresher: Refresher;
  /** What entries of a workspace are not judged before. */
  readonly holds: Map<string, () => Promise<void>>;
  /** Another process, as far as leases go. */
  another(): Refresher;
  now(): number;
  /** Moves the clock. */
  pass(ms: number): void;
  /** Sets the wall clock only, as somebody does who sets the machine's. */
  setClock(ms: number): void;
  /** `of`: another workspace than that of this world; `token`: a secret, sent as Bearer. */
  add(
    name: string,
    settings: Partial<Omit<SourceSettings, 'guards'>> & { readonly guards?: Partial<SourceGuards>; readonly token?: string },
    of?: string,
  ): Promise<Source>;
  /** Blocks addresses in the default list, as a detection of the workspace's own, and waits until that has landed. */
  detect(addresses: readonly string[]): Promise<void>;
  /** Begins what is due, and waits until it is done. */
  run(with_?: Refresher): Promise<void>;
  /** Lets the interval pass, and does that. */
  next(source: Source): Promise<SourceState>;
  record(source: Source): Promise<SourceRecord>;
  /** How it is as the process that refreshes it knows it. */
  state(source: Source): SourceState;
  ask(source: Source, what: 'refresh' | 'accept' | 'discard'): Promise<void>;
  /** The targets of its rules, sorted, when all has landed. */
  rules(source: Source): Promise<string[]>;
  /** Waits until all has landed. */
  landed(): Promise<void>;
  /** Lets the time of whoever refreshes run out, as when his process stands still. */
  loseLease(): Promise<void>;
  /** Undoes a refresh, or these batches; the batches that did it. */
  undo(of: string | readonly string[]): Promise<readonly string[]>;
}

const BY = { keyId: null, actor: 'test' };

/** `settings`: of a service, DATA_DIR among them. `least`: the intervals of hosts, s, in place of those of the catalogue. */
export async function sourceWorld(
  settings: Readonly<Record<string, string>>,
  least?: (url: URL) => number | undefined,
): Promise<SourceWorld> {
  const environment = { ROLES: 'consumer,sources', SOURCE_NETWORKS: '127.0.0.1', RATE_LIMIT_ENTRIES: '0', LOG_LEVEL: 'warn' };
  const read = readConfig(testEnvironment({ ...environment, ...smallGeo(settings.DATA_DIR!), ...settings }) as Record<string, string>);
  assert('config' in read, JSON.stringify(read));
  const closing: Close[] = [];
  const logger = createLogger(read.config.logLevel);
  const onStop = (close: Close) => void closing.push(close);
  const base = await startBase({ config: read.config, logger, log: (level, message) => logger[level](message), onStop }, undefined);
  const { store, stream } = base;
  await startLanding(base);
  const { accept, gate } = startSignals(base, { counts: newHttpCounts(), activity: activityCounter(Date.now) }, {}, stream);
  let [passed, set] = [0, 0];
  const clock = { now: () => Date.now() + passed + set, monotonic: () => performance.now() + passed, random: () => 0 };
  const organization = await store.createOrganization('org', 'active');
  const workspace = await store.createWorkspace(organization.id, 'default');
  const refreshers: Refresher[] = [];
  const holds: SourceWorld['holds'] = new Map();
  const another = () => {
    const held: Accept = async (batch) => {
      await holds.get(batch.caller.workspaceId)?.();
      return accept!(batch);
    };
    const made = refresherOf(
      base,
      { accept: held, gate: gate! },
      clock,
      politeFetching(base.config, join(base.config.dataDir, 'sources'), clock, least),
    );
    refreshers.push(made);
    return made;
  };
  const refresher = another();
  const landed = async () => assert.equal(await caughtUp(stream, store), 0);
  const world: SourceWorld = {
    base,
    workspaceId: workspace.id,
    refresher,
    holds,
    another,
    now: clock.now,
    pass(ms) {
      passed += ms;
    },
    setClock(ms) {
      set += ms;
    },
    async add(name, { guards, token, ...more }, of = workspace.id) {
      const [id, url] = [randomUUID(), more.url ?? 'http://127.0.0.1:9/'];
      const kept = token === undefined ? {} : encryptedSourceSecret(read.config.secretsKey, { id, url }, { auth: 'bearer', secret: token });
      const { source } = await store.createSource(
        of,
        {
          id,
          name,
          list: NO_SETTINGS,
          secret: null,
          url,
          purpose: 'block',
          every: HOUR / 1000,
          reading: PLAIN_READING,
          guards: { ...DEFAULT_GUARDS, ...guards },
          credential: null,
          copies: [],
          catalogue: null,
          ...more,
          ...kept,
        },
        { maxSources: 0, maxLists: 0 },
      );
      return source;
    },
    async detect(addresses) {
      const entries = addresses.map((ip) => ({ type: 'access_rules', action: 'block', ip }));
      const who = { keyId: randomUUID(), workspaceId: workspace.id, organizationId: organization.id, subscription: 'active' as const };
      const bound = { listId: null, feedId: null, guardRails: NO_GUARD_RAILS, sample: null, networks: [], expiresAt: null };
      const caller = { ...who, ...bound, permissions: ['signal:write' as const] };
      const taken = await accept!({ version: 1, caller, list: undefined, entries, dryRun: false });
      assert.equal(taken.accepted, addresses.length);
      await landed();
    },
    async run(one = refresher) {
      // What is due together may have to wait for its turn of the same host.
      for (let before = -1; before !== one.known.size || [...one.known.values()].some(isWaiting); before = one.known.size) {
        await one.tick(true);
        await one.idle();
      }
    },
    async next(source) {
      passed += Math.max(0, world.state(source).nextAt - clock.now());
      await world.run();
      return world.state(source);
    },
    async record({ id }) {
      const found = await store.source(workspace.id, id);
      assert(found);
      return found;
    },
    state({ id }) {
      const known = refresher.known.get(id);
      assert(known, 'this process does not refresh it');
      return known.state;
    },
    async ask(source, what) {
      const { held } = (await world.record(source)).state;
      await store.askSource(workspace.id, source.id, {
        what,
        at: clock.now(),
        by: BY,
        ...(what !== 'refresh' && held !== null && { replacement: held.replacement }),
      });
    },
    async rules({ listId }) {
      await landed();
      const targets: string[] = [];
      for await (const { rule } of store.rules(workspace.id, { kind: 'access_rule', listId, now: clock.now() }))
        targets.push(formatTarget((rule as AccessRule).target));
      return targets.sort();
    },
    landed,
    async loseLease() {
      const release = 'UPDATE leases SET until = 0';
      const { databaseUrl, dataDir } = read.config;
      if (databaseUrl === undefined) {
        using db = new DatabaseSync(join(dataDir, 'weir.db'), PATIENT);
        db.exec(release);
        return;
      }
      const client = new Client(databaseUrl);
      await client.connect();
      await client.query(release);
      await client.end();
    },
    async undo(of) {
      await landed();
      const batches: readonly string[] =
        typeof of === 'string' ? JSON.parse((await store.replacement(workspace.id, of))!.head).batches : of;
      const planned: PlannedUndo[] = [];
      for (const id of [...batches].reverse())
        planned.push({ batch: (await store.batch(workspace.id, id))!, preview: await store.undoPreview(workspace.id, id) });
      const publish = (messages: Parameters<typeof stream.publish>[0]) => stream.publish(messages);
      const ports = { reads: store, publish, untilLanded: () => caughtUp(stream, store) };
      const done = await undoBatches(ports, { workspaceId: workspace.id, organizationId: organization.id }, planned);
      return done.batches.filter((id) => id !== null);
    },
    async [Symbol.asyncDispose]() {
      for (const each of refreshers) await each.stop();
      for (const close of closing.reverse()) await close();
    },
  };
  return world;

  function isWaiting({
    record: { source, asked },
    state,
    isBusy,
    delayedUntil,
  }: Parameters<Parameters<typeof refresher.known.forEach>[0]>[0]) {
    const waitsUntil = state.waits?.until ?? 0;
    if (source.isPaused || delayedUntil > clock.monotonic() || waitsUntil > clock.now()) return isBusy;
    return (
      isBusy || asked?.what === 'refresh' || (state.stop === null && isDueAt(state, { every: source.every * 1000, least: 0 }, clock.now()))
    );
  }
}
