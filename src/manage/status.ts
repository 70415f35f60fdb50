/** What runs, how full feeds are, and what of it needs attention (SPEC D10.15 to D10.17). */

import type { ServiceGuardRails } from '../account/guard-rails.ts';
import type { KeyInfo } from '../account/key.ts';
import { DAY, isoTime } from '../clock.ts';
import { leftOutJson } from '../document/left-out.ts';
import type { WatchedFeed } from '../document/watch/feed-watch.ts';
import type { Check } from '../ports/health.ts';
import type { SourceTrouble } from './sources/trouble.ts';

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

/** An engine that the settings name; `reason` says why it does not answer. */
export interface EngineStatus {
  readonly kind: string;
  readonly ok: boolean;
  readonly reason?: string;
}

export interface UnusedKey {
  readonly id: string;
  readonly name: string | null;
  readonly prefix: string;
  readonly workspace: string;
  /** ISO 8601; null: never. */
  readonly last_used_at: string | null;
}

/** A key that was not used for so long is told, ms. */
const UNUSED = 7 * DAY;

/** Whether a key is valid and nobody has used it for a week, although it is as old; `now` in ms. */
export const isUnused = ({ revokedAt, expiresAt, lastUsedAt, createdAt }: KeyInfo, now: number): boolean =>
  revokedAt === null && (expiresAt === null || expiresAt > now) && (lastUsedAt ?? createdAt) < now - UNUSED;

export const unusedKeyJson = ({ id, name, prefix, lastUsedAt }: KeyInfo, workspace: string): UnusedKey => ({
  id,
  name,
  prefix,
  workspace,
  last_used_at: isoTime(lastUsedAt),
});

/** A key that is in use and ends soon. */
export interface EndingKey {
  readonly id: string;
  readonly name: string | null;
  readonly prefix: string;
  readonly workspace: string;
  readonly expires_at: string | null;
}

export const endingKeyJson = ({ id, name, prefix, expiresAt }: KeyInfo, workspace: string): EndingKey => ({
  id,
  name,
  prefix,
  workspace,
  expires_at: isoTime(expiresAt),
});

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
  /** Sources that somebody has to look at. */
  readonly sources: readonly SourceTrouble[] | null;
  /** Workspaces in which any network can be blocked. */
  readonly unguarded: readonly string[] | null;
  /** The names of workspaces by id. */
  readonly workspaces: ReadonlyMap<string, string>;
}

/** Geo data that are older than this need attention, days; landing that is behind by more, seconds. */
const OLD_GEO = 90;
const LATE = 60;

type Found = ReturnType<typeof foundOf>;

/** What `weir status --json` prints, and the API answers of one workspace. */
export interface Status extends Found {
  /** A line for each thing that needs attention. */
  readonly attention: readonly string[];
  /** Whether anything of that is more than age: old geo data, and keys that end soon, have time. */
  readonly urgent: boolean;
}

export function serviceStatus(parts: StatusParts): Status {
  const found = foundOf(parts);
  const [now, later] = [urgentOf(found), agingOf(found)];
  return { attention: [...now, ...later], urgent: now.length > 0, ...found };
}

function foundOf(parts: StatusParts) {
  const { store, stream, processes, geo, deadLetters, unusedKeys, endingKeys, sources, unguarded, workspaces } = parts;
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
    sources,
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
  const { workspaceId, feedId, name, action, family, rated, entries, limit, fitted, builtAt, staleSince, open, shares } = feed;
  return {
    workspace_id: workspaceId,
    workspace: workspaces.get(workspaceId) ?? workspaceId,
    id: feedId,
    name,
    action,
    family,
    rated,
    entries,
    entry_limit: limit,
    cap_use_percent: Math.floor((entries / limit) * 100),
    left_out: leftOutJson(fitted?.leftOut),
    built_at: isoTime(builtAt),
    stale_since: staleSince === undefined ? null : isoTime(staleSince * 1000),
    shares: shares ?? null,
    events: open.map(({ kind, text, since }) => ({ kind, text, since: isoTime(since) })),
    pid,
  };
}

/** What gets old, and has time. */
function agingOf({ geo, ending_keys: keys }: Found): string[] {
  const old = (what: string, days: number) => (days > OLD_GEO ? [`${what} data are ${days} days old (docs/geo.md)`] : []);
  const ends = ({ name, prefix, workspace, expires_at: at }: EndingKey) =>
    `the key "${name ?? prefix}" of ${workspace}, which is in use, ends at ${at} (docs/keys.md)`;
  return [...(geo ? [...old('country', geo.country_age_days), ...old('ASN', geo.asn_age_days)] : []), ...(keys ?? []).map(ends)];
}

function urgentOf(found: Found): string[] {
  const { engines, processes, landing, feeds, dead_letters: letters, sources, guard_rails_off: unguarded } = found;
  const engine = (name: string, { ok, reason }: EngineStatus) => (ok ? [] : [`the ${name} does not answer: ${reason}`]);
  const red = ({ pid, checks }: { readonly pid: number; readonly checks: Readonly<Record<string, Check>> }) =>
    Object.entries(checks).flatMap(([name, { ok, reason }]) => (ok || name === 'landing' ? [] : [`${name} of process ${pid}: ${reason}`]));
  const late = landing?.ok && (landing.lag_seconds ?? 0) > LATE;
  return [
    ...engine('store', engines.store),
    ...engine('stream', engines.stream),
    ...(processes.length === 0 ? ['no server has written its status into DATA_DIR lately: feeds are not known'] : processes.flatMap(red)),
    ...(landing?.reason !== undefined ? [`landing: ${landing.reason} (${landing.lag_messages ?? 'unknown'} messages wait)`] : []),
    ...(late ? [`landing is ${landing?.lag_seconds} seconds behind`] : []),
    ...feeds.flatMap(({ name, workspace, action, events }) =>
      events.map(({ text, since }) => `the ${action} feed "${name}" of ${workspace} ${text} (since ${since})`),
    ),
    ...(sources ?? []).map(({ name, workspace, text }) => `the source "${name}" of ${workspace} ${text}`),
    ...(letters ? [`${letters} dead letters (weir dead-letter ls)`] : []),
    ...(unguarded?.length ? [`guard rails are off in ${unguarded.join(', ')} (docs/deployment.md)`] : []),
  ];
}
