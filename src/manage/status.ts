/** SPEC D10.15 to D10.17. */

import type { ServiceGuardRails } from '../account/guard-rails.ts';
import type { KeyInfo } from '../account/key.ts';
import type { Workspace } from '../account/workspace.ts';
import { DAY, isoTime } from '../clock.ts';
import { capPercent } from '../feed/facts.ts';
import type { WatchedFeed } from '../feed/monitor/feed-watch.ts';
import { trimmedJson } from '../feed/trim.ts';
import type { Stopped } from '../ports/devices.ts';
import type { Check } from '../ports/health.ts';
import type { ApprovalReads } from '../ports/stored/approval-store.ts';
import type { Freeze } from '../ports/stored/freeze-store.ts';
import type { FailingWebhook } from '../ports/stored/webhook-store.ts';
import type { FullDevice } from './devices/device-caps.ts';
import type { SourceAlert } from './sources/source-alerts.ts';

export interface ProcessStatus {
  readonly pid: number;
  readonly url: string;
  readonly roles: readonly string[];
  /** ms since 1970. */
  readonly startedAt: number;
  /** As in `/readyz`. */
  readonly checks: Readonly<Record<string, Check>>;
  readonly feeds: readonly WatchedFeed[];
  /** undefined: an older weir. */
  readonly judges?: JudgingSettings;
}

/** They decide the content of its feeds. */
export interface JudgingSettings {
  readonly guardRails: ServiceGuardRails;
  /** Absolute. */
  readonly geoCountryFile?: string;
  readonly geoAsnFile?: string;
}

/** `is_full`: read-only. */
export interface EngineStatus {
  readonly kind: string;
  readonly ok: boolean;
  readonly reason?: string;
  readonly is_full?: true;
}

export const engineFault = ({ is_full: isFull }: EngineStatus): string => (isFull ? 'cannot be written' : 'does not answer');

/** ms */
const UNUSED = 7 * DAY;

/** Valid, and a week without use; `now` in ms. */
export const isUnused = ({ revokedAt, expiresAt, lastUsedAt, createdAt }: KeyInfo, now: number): boolean =>
  revokedAt === null && (expiresAt === null || expiresAt > now) && (lastUsedAt ?? createdAt) < now - UNUSED;

export const unusedKeyJson = ({ id, name, prefix, lastUsedAt }: KeyInfo, workspace: string) => ({
  id,
  name,
  prefix,
  workspace,
  last_used_at: isoTime(lastUsedAt),
});

export const endingKeyJson = ({ id, name, prefix, expiresAt }: KeyInfo, workspace: string) => ({
  id,
  name,
  prefix,
  workspace,
  expires_at: isoTime(expiresAt),
});

export const stoppedJson = (stopped: Stopped, names: ReadonlyMap<string, string>) => ({
  kind: stopped.kind,
  id: stopped.id,
  user_agent: stopped.userAgent,
  address: stopped.address,
  key_id: stopped.keyId,
  key_name: stopped.keyName,
  feeds: stopped.feeds,
  workspace: names.get(stopped.workspaceId) ?? stopped.workspaceId,
  last_pull: isoTime(stopped.lastPull),
});

export const failingWebhookJson = ({ id, name, workspaceId, failures }: FailingWebhook, names: ReadonlyMap<string, string>) => ({
  id,
  name,
  workspace: workspaceId === null ? null : (names.get(workspaceId) ?? workspaceId),
  failures,
});

export const frozenJson = ({ feedId, name, since, reason, canary }: Freeze, workspace: Pick<Workspace, 'id' | 'name'>, now: number) => ({
  ...{ workspace_id: workspace.id, workspace: workspace.name, id: feedId, name, frozen_since: isoTime(since), reason },
  hours: Math.floor(((now - since) * 24) / DAY),
  canary_keys: canary?.keys ?? null,
  canary_until: isoTime(canary?.until ?? null),
});

type FrozenJson = ReturnType<typeof frozenJson>;
export type UnusedKey = ReturnType<typeof unusedKeyJson>;
export type EndingKey = ReturnType<typeof endingKeyJson>;
export type StoppedClient = ReturnType<typeof stoppedJson>;

/** Null: unknown. */
export interface StatusParts {
  readonly store: EngineStatus;
  readonly stream: EngineStatus;
  readonly processes: readonly ProcessStatus[];
  /** Messages. `isStuck`: no progress. */
  readonly lag: { readonly messages: number; readonly isStuck: boolean } | null;
  /** Days. */
  readonly geo: { readonly country: number; readonly asn: number } | null;
  /** At most 1,000. */
  readonly deadLetters: number | null;
  readonly unusedKeys: readonly UnusedKey[] | null;
  /** In use, within 14 days. */
  readonly endingKeys: readonly EndingKey[] | null;
  /** Within a day. */
  readonly stopped: readonly StoppedClient[] | null;
  readonly fullDevices: readonly FullDevice[] | null;
  readonly sources: readonly SourceAlert[] | null;
  /** Several times in a row. */
  readonly webhooks: readonly ReturnType<typeof failingWebhookJson>[] | null;
  readonly unguarded: readonly string[] | null;
  readonly frozen: readonly FrozenJson[] | null;
  readonly approvals: readonly WaitingApprovals[] | null;
  /** Names by id. */
  readonly workspaces: ReadonlyMap<string, string>;
}

/** What is not read from the store. */
export const NOT_READ = {
  unusedKeys: null,
  endingKeys: null,
  stopped: null,
  fullDevices: null,
  sources: null,
  webhooks: null,
  frozen: null,
  approvals: null,
} satisfies Partial<StatusParts>;

/** Changes that wait for a second person. */
export interface WaitingApprovals {
  readonly workspace_id: string;
  readonly workspace: string;
  readonly requests: number;
}

/** Of workspaces that have some. */
export async function waitingApprovals(
  store: Pick<ApprovalReads, 'waitingApprovals'>,
  workspaces: readonly Pick<Workspace, 'id' | 'name'>[],
  now: number,
): Promise<WaitingApprovals[]> {
  const counted = workspaces.map(async ({ id, name }) => ({
    ...{ workspace_id: id, workspace: name },
    requests: await store.waitingApprovals(id, now),
  }));
  return (await Promise.all(counted)).filter(({ requests }) => requests > 0);
}

export type StatusFacts = ReturnType<typeof factsOf>;

/** Without alerts. */
export function factsOf(parts: StatusParts) {
  const { store, stream, processes, geo, deadLetters, unusedKeys, endingKeys, stopped, fullDevices, sources, webhooks, unguarded } = parts;
  const { workspaces, frozen, approvals } = parts;
  const landing = landingOf(parts);
  const feeds = processes.flatMap((process) => process.feeds.map((feed) => feedJson(feed, process.pid, workspaces)));
  return {
    engines: { store, stream },
    processes: processes.map(({ pid, url, roles, startedAt, checks }) => ({ pid, url, roles, started_at: isoTime(startedAt), checks })),
    landing,
    feeds,
    geo: geo && { country_age_days: geo.country, asn_age_days: geo.asn },
    dead_letters: deadLetters,
    unused_keys: unusedKeys,
    ending_keys: endingKeys,
    stopped,
    full_devices: fullDevices,
    sources,
    failing_webhooks: webhooks,
    guard_rails_off: unguarded,
    frozen_feeds: frozen,
    waiting_approvals: approvals,
  };
}

function landingOf({ processes, lag }: StatusParts) {
  const check = processes.map(({ checks }) => checks.landing).find((each) => each !== undefined);
  if (lag === null && check === undefined) return null;
  const messages = lag?.messages ?? (check?.lag_messages as number | undefined) ?? null;
  const seconds = (check?.lag_seconds as number | undefined) ?? null;
  const reason =
    check?.ok === false ? (check.reason ?? 'not ready') : lag?.isStuck ? 'nothing lands: no consumer makes progress' : undefined;
  return { lag_messages: messages, lag_seconds: seconds, ok: reason === undefined, ...(reason !== undefined && { reason }) };
}

function feedJson(feed: WatchedFeed, pid: number, workspaces: ReadonlyMap<string, string>) {
  const { workspaceId, feedId, name, action, family, rated, facts, builtAt, staleSince, open, shares } = feed;
  return {
    workspace_id: workspaceId,
    workspace: workspaces.get(workspaceId) ?? workspaceId,
    id: feedId,
    name,
    action,
    family,
    rated,
    entries: facts.entryCount,
    entry_limit: facts.entryLimit,
    cap_use_percent: capPercent(facts),
    left_out: trimmedJson(facts.trimmed?.leftOut),
    built_at: isoTime(builtAt),
    stale_since: staleSince === undefined ? null : isoTime(staleSince * 1000),
    shares: shares ?? null,
    events: open.map(({ kind, text, since }) => ({ kind, text, since: isoTime(since) })),
    pid,
  };
}
