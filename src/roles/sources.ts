/** The role `sources`: refreshes lists from their origins (SPEC D23.10). */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../account/caller.ts';
import { blockGuards } from '../account/guard-rails.ts';
import type { Source } from '../account/source.ts';
import { type Clocks, systemClock } from '../clock.ts';
import { emptyFolder } from '../fetch/content-file.ts';
import type { ApplyPorts } from '../manage/sources/apply.ts';
import { credentialHeaders } from '../manage/sources/source-secret.ts';
import type { Store } from '../ports/store.ts';
import { type PoliteFetching, politeFetching } from '../runtime/sources/fetching.ts';
import { holdLease } from '../runtime/sources/lease.ts';
import { type Refresher, refresher } from '../runtime/sources/refresher.ts';
import { fairSteps } from '../schedule/fair-steps.ts';
import type { Config } from '../settings/settings.ts';
import type { Base } from './base.ts';
import { recoverReplacements } from './recovery.ts';
import type { Signals } from './signals.ts';

const MEBIBYTE = 1024 * 1024;
/** ms. */
const TICK = 1000;

export interface Sources extends Pick<Refresher, 'known' | 'tick'> {
  readonly fetching: PoliteFetching;
}

const folderOf = ({ dataDir }: Config) => join(dataDir, 'sources');

export function startSources(base: Base, { accept, gate }: Signals): Sources | undefined {
  const { config, onStop } = base;
  if (accept === undefined || gate === undefined || !config.roles.includes('sources')) return undefined;
  const fetching = politeFetching(config, folderOf(config), systemClock);
  const refreshing = refresherOf(base, { accept, gate }, { ...systemClock, random: Math.random }, fetching);
  void refreshing.tick();
  const timer = setInterval(() => void refreshing.tick(), TICK).unref();
  onStop(async () => {
    clearInterval(timer);
    await refreshing.stop();
  });
  return { ...refreshing, fetching };
}

export function refresherOf(
  base: Base,
  { accept, gate }: Required<Pick<Signals, 'accept' | 'gate'>>,
  { now, monotonic, random }: RefresherClock,
  fetching = politeFetching(base.config, folderOf(base.config), { now, monotonic }),
): Refresher {
  const { config, store, stream, untilLanded, geo, guardRails, log, onStop } = base;
  const guardOf = blockGuards(guardRails);
  const steps = fairSteps();
  const apply: ApplyPorts = {
    store,
    now,
    accept,
    gate,
    blockFaults: (caller) => guardOf(caller.guardRails).faults,
    publish: (messages) => stream.publish(messages),
    untilLanded,
    pause: () => steps('', async () => undefined),
    sleep: (seconds) => sleep(seconds * 1000),
    geo: () => geo.database(),
    mostBytes: config.sourceMaxMb * MEBIBYTE,
  };
  // With the role manage, that role does it.
  if (!config.roles.includes('manage')) onStop(recoverReplacements(apply, log));
  return refresher({
    apply,
    store,
    lease: holdLease(store, 'sources', `${process.pid}-${randomUUID()}`, monotonic),
    ...fetching,
    credentials: (record) => credentialHeaders(config.secretsKey, record),
    callerOf: callerOf(store),
    // Left by an ended process.
    begin: () => emptyFolder(folderOf(config), now()),
    random,
    monotonic,
    log,
  });
}

/** `random`: from 0 to below 1. */
export interface RefresherClock extends Clocks {
  random(): number;
}

/** A source acts under its own id, with its workspace's permissions for lists. */
const callerOf =
  (store: Pick<Store, 'workspace' | 'organizations' | 'sample'>) =>
  async ({ id, workspaceId }: Source): Promise<Caller | undefined> => {
    const workspace = await store.workspace(workspaceId);
    const organization = (await store.organizations()).find((each) => each.id === workspace?.organizationId);
    if (workspace === undefined || organization === undefined) return undefined;
    return {
      keyId: id,
      workspaceId,
      organizationId: organization.id,
      subscription: organization.subscription,
      permissions: ['signal:write'],
      listId: null,
      feedId: null,
      guardRails: workspace,
      sample: (await store.sample(workspaceId)) ?? null,
      networks: [],
      expiresAt: null,
      sourceId: id,
    };
  };
