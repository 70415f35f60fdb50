/** Devices by API key, User-Agent and address; when they count as stopped (SPEC D16.7 to D16.10, D42.5). */
import { createHash } from 'node:crypto';

export interface DeviceName {
  readonly keyId: string;
  readonly userAgent: string;
  readonly address: string;
}

/** Names as in `feed/document.ts`. */
export interface DeviceDocument {
  /** A list or composed feed; null: the workspace's feed. */
  readonly feedId: string | null;
  readonly format: string;
  readonly family: string;
  readonly action: string;
  readonly etag: string;
  /** First appearance of the content, whole seconds. */
  readonly lastModified: number;
  /** ms. */
  readonly at: number;
}

/** Consecutive refusals (4xx) of a document; a 200 or 304 ends them (SPEC D45.3). Times in ms. */
export interface DeviceRefusal {
  /** UUID if found, else the requested name; null: the workspace's feed. */
  readonly feedId: string | null;
  /** null: refused before the format was known. */
  readonly format: string | null;
  readonly family: string | null;
  readonly action: string | null;
  readonly status: number;
  readonly since: number;
  readonly at: number;
  readonly count: number;
}

export interface PullCounts {
  readonly ok: number;
  readonly notModified: number;
  readonly refused: number;
  readonly failed: number;
}

interface Pulls extends PullCounts {
  /** ms since 1970. */
  readonly firstPull: number;
  readonly lastPull: number;
  readonly pulls: number;
  readonly lastStatus: number;
  /** Whether it has ever sent If-None-Match or If-Modified-Since. */
  readonly validates: boolean;
  readonly documents: readonly DeviceDocument[];
  /** Newest first. */
  readonly refusals: readonly DeviceRefusal[];
}

/** Since the last write of this process. */
export interface SeenDevice extends DeviceName, Pulls {
  readonly workspaceId: string;
}

export interface DeviceState extends DeviceName, Pulls {
  readonly id: string;
  /** Start of `counted` intervals up to the last poll, ms. Their mean is the usual interval. */
  readonly countedFrom: number;
  readonly counted: number;
  /** When weir noticed that polls had stopped, ms; null: it polls. */
  readonly stoppedAt: number | null;
}

export const MOST_DOCUMENTS = 16;
/** A refusal expires after polls for this long without another, ms. */
const RECENT_REFUSAL = 3_600_000;
/** Intervals needed for a usual one, and their maximum weight: older intervals fade. */
const USUAL = 4;
const MOST_COUNTED = 64;
/** A device counts as stopped after ten usual intervals, and at least 10 minutes, ms. */
const PATIENT_INTERVALS = 10;
export const LEAST_PATIENCE = 600_000;

/** Interactive programs, with the polls and time (ms) after which one counts as a device. */
const BY_HAND = /^(?:curl|wget|httpie|xh|mozilla|postman|insomnia|python-)/i;
const TRIED = { pulls: 100, time: 3_600_000 };

/** All polls so far look like somebody at a terminal or browser. */
const isTrial = ({ userAgent, pulls, firstPull, lastPull }: Pick<DeviceState, 'userAgent' | 'pulls' | 'firstPull' | 'lastPull'>) =>
  BY_HAND.test(userAgent) && (pulls < TRIED.pulls || lastPull - firstPull < TRIED.time);

export const deviceId = ({ keyId, userAgent, address }: DeviceName): string =>
  createHash('sha256').update([keyId, address, userAgent].join('\n')).digest('base64url').slice(0, 16);

/** ms; null: unknown. */
export const usualInterval = ({ counted, countedFrom, lastPull }: Pick<DeviceState, 'counted' | 'countedFrom' | 'lastPull'>) =>
  counted < USUAL ? null : Math.max(0, Math.round((lastPull - countedFrom) / counted));

/** Pause after which a device counts as stopped, ms; null: never (no usual interval, or only a trial). */
export const patienceOf = (device: DeviceState): number | null => (isTrial(device) ? null : longestPause(usualInterval(device)));

/** Pause after which a canary counts as silent (SPEC D65.9), ms; null: not known. Includes the minute until a poll is in the store. */
export function silenceOf(device: Silent): number | null {
  const interval = usualInterval(device);
  return interval === null || isTrial(device) ? null : SILENT_INTERVALS * interval + WRITTEN_WITHIN;
}

export type Silent = Pick<DeviceState, 'userAgent' | 'pulls' | 'firstPull' | 'lastPull' | 'counted' | 'countedFrom'>;
const SILENT_INTERVALS = 3;
const WRITTEN_WITHIN = 60_000;

const longestPause = (interval: number | null): number | null =>
  interval === null ? null : Math.max(PATIENT_INTERVALS * interval, LEAST_PATIENCE);

/** The order of processes does not matter. */
export function afterPulls(before: DeviceState | undefined, { workspaceId: _workspace, ...seen }: SeenDevice): DeviceState {
  const { keyId, userAgent, address, firstPull } = seen;
  if (before === undefined) {
    const refusals = standingRefusals(seen.refusals, seen.documents, seen.lastPull);
    return { ...seen, refusals, id: deviceId(seen), countedFrom: firstPull, counted: seen.pulls - 1, stoppedAt: null };
  }
  const lastPull = Math.max(before.lastPull, seen.lastPull);
  const documents = newestDocuments([...seen.documents, ...before.documents]);
  return {
    id: before.id,
    keyId,
    userAgent,
    address,
    firstPull: Math.min(before.firstPull, firstPull),
    lastPull,
    pulls: before.pulls + seen.pulls,
    ok: before.ok + seen.ok,
    notModified: before.notModified + seen.notModified,
    refused: before.refused + seen.refused,
    failed: before.failed + seen.failed,
    lastStatus: seen.lastPull >= before.lastPull ? seen.lastStatus : before.lastStatus,
    validates: before.validates || seen.validates,
    documents,
    refusals: standingRefusals([...seen.refusals, ...before.refusals], documents, lastPull),
    ...countedIntervals(before, seen, lastPull),
    stoppedAt: null,
  };
}

/** A pause while stopped counts as one usual interval. */
function countedIntervals(before: DeviceState, seen: Pulls, lastPull: number): Pick<DeviceState, 'countedFrom' | 'counted'> {
  const interval = usualInterval(before);
  const patience = longestPause(interval);
  const pause = seen.firstPull - before.lastPull;
  const unusual = interval !== null && patience !== null && pause > patience ? pause - interval : 0;
  const countedFrom = before.countedFrom + unusual;
  const counted = before.counted + seen.pulls;
  if (counted <= MOST_COUNTED) return { countedFrom, counted };
  const half = MOST_COUNTED / 2;
  return { countedFrom: Math.round(lastPull - ((lastPull - countedFrom) / counted) * half), counted: half };
}

function newestDocuments(documents: readonly DeviceDocument[]): DeviceDocument[] {
  const sorted = documents.toSorted((a, b) => b.at - a.at);
  return [...new Map(sorted.toReversed().map((document) => [documentKey(document), document])).values()]
    .toSorted((a, b) => b.at - a.at)
    .slice(0, MOST_DOCUMENTS);
}

function standingRefusals(
  refusals: readonly DeviceRefusal[],
  documents: readonly DeviceDocument[],
  lastPull: number,
): readonly DeviceRefusal[] {
  if (refusals.length === 0) return refusals;
  const standing = refusals.filter(
    (refusal) => refusal.at > lastPull - RECENT_REFUSAL && !documents.some((document) => endsRefusal(document, refusal)),
  );
  return [...Map.groupBy(standing, (each) => `${documentKey(each)} ${each.status}`).values()]
    .map(([first, ...others]) => others.reduce(joinedRefusal, first!))
    .toSorted((a, b) => b.at - a.at)
    .slice(0, MOST_DOCUMENTS);
}

const joinedRefusal = (a: DeviceRefusal, b: DeviceRefusal): DeviceRefusal => ({
  ...a,
  since: Math.min(a.since, b.since),
  at: Math.max(a.at, b.at),
  count: a.count + b.count,
});

export const endsRefusal = (document: DeviceDocument, refusal: DeviceRefusal): boolean =>
  document.at > refusal.at &&
  (refusal.format === null ? document.feedId === refusal.feedId : documentKey(document) === documentKey(refusal));

export const documentKey = ({ feedId, format, family, action }: Pick<DeviceRefusal, 'feedId' | 'format' | 'family' | 'action'>) =>
  JSON.stringify([feedId, format, family, action]);
