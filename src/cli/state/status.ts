/** `weir status` of the store, the stream and the servers on this DATA_DIR (SPEC D10.15 to D10.17). */

import { existsSync } from 'node:fs';
import { areOff } from '../../account/guard-rails.ts';
import { isEnding } from '../../account/key.ts';
import type { Snooze } from '../../account/snooze.ts';
import type { Workspace } from '../../account/workspace.ts';
import { diskFault } from '../../disk.ts';
import { WeirError } from '../../errors.ts';
import { loadGeo } from '../../geo/load.ts';
import { geoStatus } from '../../geo/status.ts';
import { type Alert, alertsOf, type Status, serviceStatus } from '../../manage/alerts.ts';
import { fullDevices } from '../../manage/devices/device-caps.ts';
import { keyNames, type Names } from '../../manage/rules/rule-json.ts';
import { itemsWith } from '../../manage/snoozes.ts';
import { type SourceAlert, sourceAlertOf } from '../../manage/sources/source-alerts.ts';
import {
  type EngineStatus,
  endingKeyJson,
  factsOf,
  failingWebhookJson,
  frozenJson,
  isUnused,
  NOT_READ,
  type ProcessStatus,
  type StatusParts,
  stoppedJson,
  unusedKeyJson,
  waitingApprovals,
} from '../../manage/status.ts';
import type { StoreReads } from '../../ports/store.ts';
import { everyItem } from '../../ports/stored/paginate.ts';
import { isStreamThere } from '../../runtime/engines.ts';
import { readStatusFiles } from '../../runtime/ledgers/status-file.ts';
import { servedSettings } from '../../runtime/served-settings.ts';
import { unlanded } from '../../stream/lag.ts';
import { openClient } from '../client/open.ts';
import type { AddCommand } from '../command.ts';
import type { Context } from '../context.ts';
import { untilLanded } from '../landed.ts';
import { noOptions } from '../usage.ts';
import { statusText } from './status-text.ts';

/** Counted dead letters. */
const MOST_LETTERS = 1000;

export function statusCommand(add: AddCommand): void {
  add(
    'status',
    'show what runs, how full feeds are, and what needs attention; exit code 1 when something does, 3 when that is only old geo data or keys that end soon',
    noOptions,
    {
      isOperation: true,
      async run(context) {
        const status = context.url === undefined ? await localStatus(context) : await workspaceStatus(context);
        if (status.attention.length > 0) context.exitCode = status.urgent ? 1 : 3;
        return status;
      },
      show: statusText,
    },
  );
}

async function localStatus(context: Context) {
  const { snoozed, ...parts } = await readParts(context);
  const items = alertsOf(factsOf(parts));
  return { ...serviceStatus(parts), snoozes: snoozed.flatMap((of) => snoozesOf(of, items)) };
}

type Snoozes = Awaited<ReturnType<typeof localStatus>>['snoozes'];

/** The status at a service, of the key's workspace alone (SPEC D15.15). */
async function workspaceStatus(context: Context): Promise<Status & { readonly snoozes: Snoozes }> {
  const client = await openClient(context, { workspace: undefined, writes: false, anywhere: undefined });
  const { workspace } = await client.call<{ workspace: { name: string } }>('whoAmI');
  const { items, ...status } = await client.call<Status & { items: ReturnType<typeof itemsWith> }>('getStatus');
  const snoozes = items.flatMap(({ text, snooze }) => (snooze === null ? [] : [{ attention: text, workspace: workspace.name, ...snooze }]));
  return { ...status, snoozes };
}

async function readParts(context: Context): Promise<StatusParts & Snoozed> {
  const { config } = context;
  const now = Date.now();
  const processes = readStatusFiles(config.dataDir, now);
  const stored = await attempt(async () => readStored(context, await context.reads(), processes, now));
  // The folder of the embedded stream and the compiled geo data; reading does not create it.
  const cacheDir = existsSync(config.dataDir) ? config.dataDir : undefined;
  const streamed = await attempt(async () => {
    if (!isStreamThere(config)) throw new WeirError('USAGE', `there is no stream in DATA_DIR ${config.dataDir}`);
    await (await context.stream()).ping();
    return 'fault' in stored ? null : readLag(context);
  });
  // A server cannot record that its own disk is full.
  const room = cacheDir === undefined ? undefined : diskFault(cacheDir);
  const geo = await attempt(() => loadGeo(servedSettings(config).geo, cacheDir));
  const ages = 'fault' in geo ? undefined : geoStatus(geo.value, now);
  return {
    store: config.databaseUrl === undefined ? engine('embedded', stored, room) : engine('PostgreSQL', stored),
    stream: config.kafkaBrokers === undefined ? engine('embedded', streamed, room) : engine('Kafka', streamed),
    processes,
    lag: 'fault' in streamed ? null : streamed.value,
    geo: ages === undefined ? null : { country: ages.country.age_days, asn: ages.asn.age_days },
    ...('fault' in stored ? NOT_STORED : stored.value),
  };
}

/** Snoozed alerts by workspace. */
interface Snoozed {
  readonly snoozed: readonly { readonly workspace: string; readonly snoozes: readonly Snooze[]; readonly keys: Names['keys'] }[];
}

const snoozesOf = ({ workspace, snoozes, keys }: Snoozed['snoozed'][number], items: readonly Alert[]) =>
  itemsWith(items, snoozes, keys).flatMap(({ text, snooze }) => (snooze === null ? [] : [{ attention: text, workspace, ...snooze }]));

type Stored = Snoozed &
  Pick<
    StatusParts,
    | 'deadLetters'
    | 'unusedKeys'
    | 'endingKeys'
    | 'stopped'
    | 'fullDevices'
    | 'sources'
    | 'webhooks'
    | 'unguarded'
    | 'frozen'
    | 'approvals'
    | 'workspaces'
  >;
const NOT_STORED: Stored = {
  ...NOT_READ,
  deadLetters: null,
  unguarded: null,
  workspaces: new Map(),
  snoozed: [],
};

async function readStored({ config }: Context, store: StoreReads, processes: readonly ProcessStatus[], now: number): Promise<Stored> {
  const workspaces = await store.workspaces();
  const names = new Map(workspaces.map(({ id, name }) => [id, name]));
  const feeds = processes.flatMap((process) => process.feeds);
  const isOff = areOff(servedSettings(config).guardRails);
  const keys = await Promise.all(workspaces.map(async (workspace) => [workspace, await store.keys(workspace.id)] as const));
  return {
    deadLetters: (await store.deadLetters(MOST_LETTERS)).length,
    unusedKeys: keys.flatMap(([workspace, of]) => of.filter((key) => isUnused(key, now)).map((key) => unusedKeyJson(key, workspace.name))),
    endingKeys: keys.flatMap(([workspace, of]) => of.filter((key) => isEnding(key, now)).map((key) => endingKeyJson(key, workspace.name))),
    stopped: (await store.stoppedClients(null, now)).map((each) => stoppedJson(each, names)),
    fullDevices: (await Promise.all(workspaces.map(({ id, name }) => fullDevices(store, { workspaceId: id, name, feeds, now })))).flat(),
    sources: await troubled(store, names, now),
    webhooks: (await store.failingWebhooks(null))
      // The settings of another process may have a webhook.
      .filter(({ workspaceId }) => workspaceId !== null || config.webhookUrl !== undefined)
      .map((each) => failingWebhookJson(each, names)),
    unguarded: workspaces.filter((workspace) => isOff && areOff(workspace)).map(({ name }) => name),
    frozen: (
      await Promise.all(workspaces.map(async (each) => (await store.freezes(each.id)).map((freeze) => frozenJson(freeze, each, now))))
    ).flat(),
    approvals: await waitingApprovals(store, workspaces, now),
    workspaces: names,
    snoozed: (await Promise.all(workspaces.map((workspace) => readSnoozed(store, workspace, now)))).flat(),
  };
}

async function readSnoozed(store: StoreReads, { id, name }: Workspace, now: number): Promise<Snoozed['snoozed']> {
  const snoozes = await store.snoozes(id, now);
  return snoozes.length === 0 ? [] : [{ workspace: name, snoozes, keys: await keyNames(store, id) }];
}

async function troubled(store: StoreReads, names: ReadonlyMap<string, string>, now: number): Promise<SourceAlert[]> {
  const found: SourceAlert[] = [];
  for await (const record of everyItem((page) => store.allSources(page))) {
    const trouble = sourceAlertOf(record, names.get(record.source.workspaceId) ?? '', now);
    if (trouble !== undefined) found.push(trouble);
  }
  return found;
}

/** Gives landing some seconds to catch up. */
async function readLag(context: Context): Promise<StatusParts['lag']> {
  const [stream, store] = [await context.stream(), await context.reads()];
  const messages = await unlanded(stream, store);
  return { messages, isStuck: messages > 0 && (await untilLanded(context, stream, store)) > 0 };
}

type Attempt<T> = { readonly value: T } | { readonly fault: string };

const attempt = <T>(work: () => Promise<T>): Promise<Attempt<T>> =>
  work().then(
    (value) => ({ value }),
    (error: Error) => ({ fault: error.message }),
  );

const engine = (kind: string, asked: Attempt<unknown>, unwritable?: string): EngineStatus => {
  if ('fault' in asked) return { kind, ok: false, reason: asked.fault };
  return unwritable === undefined ? { kind, ok: true } : { kind, ok: false, reason: unwritable, is_full: true };
};
