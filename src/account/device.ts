/** What pulls feeds: an API key, a User-Agent and an address; and when it counts as stopped (SPEC D16.7 to D16.11, D42.5). */
import { createHash } from 'node:crypto';

/** What tells devices of a workspace apart. */
export interface DeviceName {
  readonly keyId: string;
  readonly userAgent: string;
  readonly address: string;
}

/** What a device got last of a feed or another document; the names are those of `feed/document.ts`. */
export interface DeviceDocument {
  /** The UUID of a list or a composed feed; null: the workspace's. */
  readonly feedId: string | null;
  readonly format: string;
  readonly family: string;
  readonly action: string;
  /** The content that it has. */
  readonly etag: string;
  /** When that content first appeared, whole seconds. */
  readonly lastModified: number;
  /** When it was sent or confirmed last, ms. */
  readonly at: number;
}

/** How many of a device's pulls were answered how. */
export interface PullCounts {
  /** 200. */
  readonly ok: number;
  /** 304. */
  readonly notModified: number;
  /** 4xx. */
  readonly refused: number;
  /** 5xx. */
  readonly failed: number;
}

interface Pulls extends PullCounts {
  /** Times in ms since 1970. */
  readonly firstPull: number;
  readonly lastPull: number;
  readonly pulls: number;
  readonly lastStatus: number;
  /** Whether it has ever asked conditionally (If-None-Match, If-Modified-Since). */
  readonly validates: boolean;
  /** Newest first. */
  readonly documents: readonly DeviceDocument[];
}

/** What a process has seen of a device since it last told the store. */
export interface SeenDevice extends DeviceName, Pulls {
  readonly workspaceId: string;
}

/** A device as the store holds it. */
export interface DeviceState extends DeviceName, Pulls {
  readonly id: string;
  /** Its usual interval is the time from here to its last pull, by the `counted` pulls between; ms. */
  readonly countedFrom: number;
  readonly counted: number;
  /** When it was noticed that it had stopped pulling, ms; null while it pulls. */
  readonly stoppedAt: number | null;
}

/** Documents that are remembered of a device. */
export const MOST_DOCUMENTS = 16;
/** After how many intervals a device has a usual one, and how many of them count at most: older ones lose their weight. */
const USUAL = 4;
const MOST_COUNTED = 64;
/** A device counts as stopped after ten of its usual intervals, and never before 10 minutes, ms. */
const PATIENT_INTERVALS = 10;
export const LEAST_PATIENCE = 600_000;

/** Programs with which people try a feed, and how often and for how long (ms) a device that is one of them pulls that is no trial. */
const BY_HAND = /^(?:curl|wget|httpie|xh|mozilla|postman|insomnia|python-)/i;
const TRIED = { pulls: 100, time: 3_600_000 };

/** Whether all pulls of a device so far look like somebody's at a terminal or in a browser. */
const isTrial = ({ userAgent, pulls, firstPull, lastPull }: Pick<DeviceState, 'userAgent' | 'pulls' | 'firstPull' | 'lastPull'>) =>
  BY_HAND.test(userAgent) && (pulls < TRIED.pulls || lastPull - firstPull < TRIED.time);

/** The id of a device: the same in every process and store. */
export const deviceId = ({ keyId, userAgent, address }: DeviceName): string =>
  createHash('sha256').update([keyId, address, userAgent].join('\n')).digest('base64url').slice(0, 16);

/** How often a device usually pulls, ms; null while that is not known. */
export const usualInterval = ({ counted, countedFrom, lastPull }: Pick<DeviceState, 'counted' | 'countedFrom' | 'lastPull'>) =>
  counted < USUAL ? null : Math.max(0, Math.round((lastPull - countedFrom) / counted));

/** How long after its last pull a device counts as stopped, ms; null: never, because it has no usual interval, or was only tried. */
export const patienceOf = (device: DeviceState): number | null => (isTrial(device) ? null : longestPause(usualInterval(device)));

const longestPause = (interval: number | null): number | null =>
  interval === null ? null : Math.max(PATIENT_INTERVALS * interval, LEAST_PATIENCE);

/** A device after what was seen of it: seen by several processes, it is the same in whichever order they tell. */
export function afterPulls(before: DeviceState | undefined, { workspaceId: _workspace, ...seen }: SeenDevice): DeviceState {
  const { keyId, userAgent, address, firstPull } = seen;
  if (before === undefined) {
    return { ...seen, id: deviceId(seen), countedFrom: firstPull, counted: seen.pulls - 1, stoppedAt: null };
  }
  const lastPull = Math.max(before.lastPull, seen.lastPull);
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
    documents: newestDocuments([...seen.documents, ...before.documents]),
    ...countedIntervals(before, seen, lastPull),
    stoppedAt: null,
  };
}

/** The intervals with those that were seen. A pause in which it had stopped counts as one usual interval. */
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

/** Each document once, as it was got last; the newest ones. */
function newestDocuments(documents: readonly DeviceDocument[]): DeviceDocument[] {
  const sorted = documents.toSorted((a, b) => b.at - a.at);
  return [...new Map(sorted.toReversed().map((document) => [documentKey(document), document])).values()]
    .toSorted((a, b) => b.at - a.at)
    .slice(0, MOST_DOCUMENTS);
}

/** What names a document. */
export const documentKey = ({ feedId, format, family, action }: Pick<DeviceDocument, 'feedId' | 'format' | 'family' | 'action'>) =>
  JSON.stringify([feedId, format, family, action]);
