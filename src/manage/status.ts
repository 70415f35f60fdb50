/** What runs, how full feeds are, and what else is known of a service or a workspace (SPEC D10.15 to D10.17). */

import type { ServiceGuardRails } from '../account/guard-rails.ts';
import type { KeyInfo } from '../account/key.ts';
import { DAY, isoTime } from '../clock.ts';
import { capPercent } from '../feed/facts.ts';
import type { WatchedFeed } from '../feed/monitor/feed-watch.ts';
import { trimmedJson } from '../feed/trim.ts';
import type { Stopped } from '../ports/devices.ts';
import type { Check } from '../ports/health.ts';
import type { FailingWebhook } from '../ports/stored/webhook-store.ts';
import type { FullDevice } from './devices/device-caps.ts';
import type { SourceAlert } from './sources/source-alerts.ts';

/** What a process knows of itself. */
export interface ProcessStatus {
  readonly pid: number;
  /** Where it listens. */
  readonly url: string;
  readonly roles: readonly string[];
  /** ms since 1970. */
  readonly startedAt: number;
  /** What `/readyz` shows. */
  readonly checks: Readonly<Record<string, Check>>;
  readonly feeds: readonly WatchedFeed[];
  /** undefined: of an older weir. */
  readonly judges?: JudgingSettings;
}

/** Settings of a server that decide what its feeds hold. */
export interface JudgingSettings {
  readonly guardRails: ServiceGuardRails;
  /** Absolute paths of the operator's own files. */
  readonly geoCountryFile?: string;
  readonly geoAsnFile?: string;
}

/** An engine that the settings name; `reason` says why it does not answer or, where it `is_full`, cannot be written. */
export interface EngineStatus {
  readonly kind: string;
  readonly ok: boolean;
  readonly reason?: string;
  readonly is_full?: true;
}

/** What an engine does not do that is not ok. */
export const engineFault = ({ is_full: isFull }: EngineStatus): string => (isFull ? 'cannot be written' : 'does not answer');

/** A key that was not used for so long is told, ms. */
const UNUSED = 7 * DAY;

/** Whether a key is valid and nobody has used it for a week, although it is as old; `now` in ms. */
export const isUnused = ({ revokedAt, expiresAt, lastUsedAt, createdAt }: KeyInfo, now: number): boolean =>
  revokedAt === null && (expiresAt === null || expiresAt > now) && (lastUsedAt ?? createdAt) < now - UNUSED;

export const unusedKeyJson = ({ id, name, prefix, lastUsedAt }: KeyInfo, workspace: string) => ({
  id,
  name,
  prefix,
  workspace,
  last_used_at: isoTime(lastUsedAt),
});

/** A key that is in use and ends soon. */
export const endingKeyJson = ({ id, name, prefix, expiresAt }: KeyInfo, workspace: string) => ({
  id,
  name,
  prefix,
  workspace,
  expires_at: isoTime(expiresAt),
});

/** A device or bouncer that has stopped pulling. */
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

/** A webhook that has failed several times in a row. `names`: of workspaces, by id. */
export const failingWebhookJson = ({ id, name, workspaceId, failures }: FailingWebhook, names: ReadonlyMap<string, string>) => ({
  id,
  name,
  workspace: workspaceId === null ? null : (names.get(workspaceId) ?? workspaceId),
  failures,
});

export type UnusedKey = ReturnType<typeof unusedKeyJson>;
export type EndingKey = ReturnType<typeof endingKeyJson>;
export type StoppedClient = ReturnType<typeof stoppedJson>;

/** What was found; what could not be asked is null. */
export interface StatusParts {
  readonly store: EngineStatus;
  readonly stream: EngineStatus;
  readonly processes: readonly ProcessStatus[];
  /** Messages that have not landed; `isStuck` when landing does not get on. */
  readonly lag: { readonly messages: number; readonly isStuck: boolean } | null;
  /** Days since the data were made. */
  readonly geo: { readonly country: number; readonly asn: number } | null;
  /** The newest 1,000 at most. */
  readonly deadLetters: number | null;
  readonly unusedKeys: readonly UnusedKey[] | null;
  /** Keys that are in use and end within 14 days. */
  readonly endingKeys: readonly EndingKey[] | null;
  /** What has stopped pulling within a day. */
  readonly stopped: readonly StoppedClient[] | null;
  /** Devices that have little room for their feeds together. */
  readonly fullDevices: readonly FullDevice[] | null;
  /** Sources that somebody has to look at. */
  readonly sources: readonly SourceAlert[] | null;
  /** Webhooks that have failed several times in a row. */
  readonly webhooks: readonly ReturnType<typeof failingWebhookJson>[] | null;
  /** Workspaces in which any network can be blocked. */
  readonly unguarded: readonly string[] | null;
  /** The names of workspaces by id. */
  readonly workspaces: ReadonlyMap<string, string>;
}

/** What of the parts is shown. */
export type StatusFacts = ReturnType<typeof factsOf>;

/** What `weir status --json` prints besides what needs attention. */
export function factsOf(parts: StatusParts) {
  const { store, stream, processes, geo, deadLetters, unusedKeys, endingKeys, stopped, fullDevices, sources, webhooks, unguarded } = parts;
  const { workspaces } = parts;
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
  };
}

function landingOf({ processes, lag }: StatusParts) {
  const check = processes.map(({ checks }) => checks.landing).find((each) => each !== undefined);
  if (lag === null && check === undefined) return null;
  const messages = lag?.messages ?? (check?.lag_messages as number | undefined) ?? null;
  const seconds = (check?.lag_seconds as number | undefined) ?? null;
  const reason = check?.ok === false ? (check.reason ?? 'not ready') : lag?.isStuck ? 'nothing lands: no consumer gets on' : undefined;
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
