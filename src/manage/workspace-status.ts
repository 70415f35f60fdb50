/** SPEC D15.15. */

import { areOff } from '../account/guard-rails.ts';
import { isEnding } from '../account/key.ts';
import { WeirError } from '../errors.ts';
import type { ManageContext, ServiceStatus } from './context.ts';
import { fullDevices } from './devices/device-caps.ts';
import { sourceAlertOf } from './sources/source-alerts.ts';
import {
  endingKeyJson,
  failingWebhookJson,
  frozenJson,
  isUnused,
  type ProcessStatus,
  type StatusParts,
  stoppedJson,
  unusedKeyJson,
  waitingApprovals,
} from './status.ts';

const MOST_KEYS = 1000;
const MOST_SOURCES = 1000;
const MOST_LETTERS = 1000;

type StatusContext = Pick<ManageContext, 'store' | 'workspaceId' | 'guardRails' | 'now'>;

/** Rejects with NOT_FOUND. */
export async function workspaceParts(
  { store, workspaceId, guardRails, now }: StatusContext,
  service: Pick<ServiceStatus, 'engines' | 'geo'>,
  known: readonly ProcessStatus[],
): Promise<StatusParts> {
  const workspace = await store.workspace(workspaceId);
  if (workspace === undefined) throw new WeirError('NOT_FOUND', 'the workspace was deleted');
  const names = new Map([[workspaceId, workspace.name]]);
  const processes = known.map(withoutReasons);
  const { items: keys } = await store.keyPage(workspaceId, { after: null, limit: MOST_KEYS });
  const { items: sources } = await store.sourcePage(workspaceId, { after: null, limit: MOST_SOURCES });
  const { country, asn } = service.geo();
  return {
    store: { kind: service.engines.store, ...checkOf(processes, 'store') },
    stream: { kind: service.engines.stream, ...checkOf(processes, 'stream') },
    processes: processes.map((process) => ({ ...process, feeds: process.feeds.filter((feed) => feed.workspaceId === workspaceId) })),
    lag: null,
    geo: { country: country.age_days, asn: asn.age_days },
    deadLetters: await store.deadLettersOf(workspaceId, MOST_LETTERS),
    unusedKeys: keys.filter((key) => isUnused(key, now())).map((key) => unusedKeyJson(key, workspace.name)),
    endingKeys: keys.filter((key) => isEnding(key, now())).map((key) => endingKeyJson(key, workspace.name)),
    stopped: (await store.stoppedClients(workspaceId, now())).map((each) => stoppedJson(each, names)),
    fullDevices: await fullDevices(store, {
      ...{ workspaceId, name: workspace.name, now: now() },
      feeds: processes.flatMap(({ feeds }) => feeds),
    }),
    sources: sources.flatMap((record) => sourceAlertOf(record, workspace.name, now()) ?? []),
    webhooks: (await store.failingWebhooks(workspaceId)).map((each) => failingWebhookJson(each, names)),
    unguarded: areOff(guardRails) && areOff(workspace) ? [workspace.name] : [],
    frozen: (await store.freezes(workspaceId)).map((freeze) => frozenJson(freeze, workspace, now())),
    approvals: await waitingApprovals(store, [workspace], now()),
    workspaces: names,
  };
}

/** A reason may contain an address or path of the operator (SPEC D15.15). */
const NOT_READY = 'see the log and /readyz for the reason';

const withoutReasons = (process: ProcessStatus): ProcessStatus => ({
  ...process,
  checks: Object.fromEntries(
    Object.entries(process.checks).map(([name, check]) => [name, check.reason === undefined ? check : { ...check, reason: NOT_READY }]),
  ),
});

/** Of the first process that uses the engine. */
function checkOf(processes: readonly ProcessStatus[], name: string): { readonly ok: boolean; readonly reason?: string } {
  const check = processes.map(({ checks }) => checks[name]).find((each) => each !== undefined);
  return { ok: check?.ok ?? true, ...(check?.reason !== undefined && { reason: check.reason }) };
}
