/** Downloads geo data: once for a command, and from time to time for a server (SPEC D17.1, D17.7). */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { timeUntil } from '../clock.ts';
import { WeirError } from '../errors.ts';
import type { GeoData } from '../geo/data.ts';
import { DOWNLOAD_LIMITS, type DownloadLimits } from '../geo/download.ts';
import { GEO_KINDS } from '../geo/kind.ts';
import { updatedKinds, updateGeo } from '../geo/update.ts';
import { readUpdateState, type UpdateState } from '../geo/update-state.ts';
import type { Log } from '../ports/log.ts';
import type { Config } from '../settings/settings.ts';
import { geoFiles } from './geo.ts';

const HOUR = 3_600_000;

/** The first try of a process is within this time, ms: machines that start together do not all ask at once. */
const FIRST_WITHIN = 60_000;
/** What failed is tried again after this time, ms, where updates are not as frequent anyway. */
const RETRY = HOUR;
/** Every pause is longer by up to this share of it, at random. */
const SPREAD = 0.1;
/** A timer's longest time, ms, in which a changed clock shows. */
const LONGEST_SLEEP = HOUR;

type UpdateSettings = Pick<Config, 'geoCountryFile' | 'geoAsnFile' | 'dataDir' | 'geoUpdateUrl'>;

/**
 * Downloads what is new of the kinds without own files. Resolves with what came of it; undefined when another process is at it. Rejects with
 * GEO_FILE when DATA_DIR cannot be written to, and with USAGE where all kinds have own files.
 */
export async function updateGeoData(
  settings: UpdateSettings,
  inUse: GeoData,
  { limits = DOWNLOAD_LIMITS, signal = new AbortController().signal }: { limits?: DownloadLimits; signal?: AbortSignal } = {},
): Promise<UpdateState | undefined> {
  const files = geoFiles(settings);
  const kinds = updatedKinds(files);
  if (kinds.length === 0) throw new WeirError('USAGE', 'GEO_COUNTRY_FILE and GEO_ASN_FILE are set: there is nothing to download');
  using lock = lockFolder(files.downloads);
  if (lock === undefined) return undefined;
  return await updateGeo({ url: settings.geoUpdateUrl, folder: files.downloads, kinds, inUse, limits, signal, now: Date.now });
}

/** Keeps other processes from updating the same folder until it is disposed or this process ends; undefined when one is at it. */
function lockFolder(folder: string): Disposable | undefined {
  let lock: DatabaseSync | undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    lock = new DatabaseSync(join(folder, 'update.lock'), { timeout: 0 });
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    if (/locked/.test((error as Error).message)) return undefined;
    throw new WeirError('GEO_FILE', `${folder} cannot be written to: ${(error as Error).message}`);
  }
}

/** Whether something has to be done about an update. */
export const hasFailed = ({ kinds }: UpdateState): boolean =>
  Object.values(kinds).some(({ result }) => result === 'failed' || result === 'held');

/** What to tell of the kinds that an update left as they were although there was something. */
const failureText = ({ kinds }: UpdateState): string =>
  GEO_KINDS.flatMap((kind) => {
    const update = kinds[kind];
    return update?.result === 'failed' || update?.result === 'held' ? [`${kind}: ${update.text}`] : [];
  }).join('; ');

/**
 * When the next try is due, ms since 1970. `last` is the last one of all processes on the folder, `every` the time between two, and
 * `random` at least 0 and under 1. A last try in the future is of a clock that was set since: it does not count.
 */
export function nextTry(last: UpdateState | undefined, every: number, startedAt: number, random: number, now: number): number {
  const first = startedAt + random * FIRST_WITHIN;
  if (last === undefined || last.triedAt > now) return first;
  const isBroken = Object.values(last.kinds).some(({ result }) => result === 'failed');
  return Math.max(first, last.triedAt + (isBroken ? Math.min(RETRY, every) : every) * (1 + SPREAD * random));
}

export interface GeoUpdatesOptions {
  readonly settings: UpdateSettings;
  /** Time between two updates, ms. */
  readonly every: number;
  /** The data in use. */
  readonly inUse: () => GeoData;
  readonly log: Log;
  /** From 0 to 1. */
  readonly random?: () => number;
}

/** Updates the geo data from time to time until the returned function is called, which resolves when nothing runs any more. */
export function startGeoUpdates({ settings, every, inUse, log, random = Math.random }: GeoUpdatesOptions): () => Promise<void> {
  const files = geoFiles(settings);
  if (updatedKinds(files).length === 0) {
    log('warn', 'GEO_UPDATE_HOURS has no effect: GEO_COUNTRY_FILE and GEO_ASN_FILE are both set');
    return async () => {};
  }
  const stop = new AbortController();
  const { signal } = stop;
  const startedAt = Date.now();
  let told = '';

  /** One line for a failure that was not told yet, and one when it is over. */
  function tell(failure: string, next: number): void {
    if (failure !== '' && failure !== told) {
      log('warn', `geo update: ${failure}; the data in use stay; next try at ${new Date(next).toISOString()}`);
    }
    if (failure === '' && told !== '') log('info', 'geo update: it works again');
    told = failure;
  }

  async function run(): Promise<void> {
    let factor = random();
    let failedAt: number | undefined;
    const due = async () => {
      const next = nextTry(await readUpdateState(files.downloads), every, startedAt, factor, Date.now());
      return failedAt === undefined ? next : Math.max(next, failedAt + Math.min(RETRY, every));
    };
    log('info', `geo data are updated from ${settings.geoUpdateUrl}; next try at ${new Date(await due()).toISOString()}`);
    for (;;) {
      for (let at = await due(); at > Date.now(); at = await due()) {
        await sleep(Math.min(timeUntil(at, Date.now()), LONGEST_SLEEP), undefined, { ref: false, signal });
      }
      factor = random();
      try {
        const state = await updateGeoData(settings, inUse(), { signal });
        failedAt = undefined;
        // Another process is at it: its result shows when it is done.
        if (state === undefined) await sleep(Math.min(every, FIRST_WITHIN), undefined, { ref: false, signal });
        else tell(failureText(state), await due());
      } catch (error) {
        if (signal.aborted) throw error;
        failedAt = Date.now();
        tell((error as Error).message, await due());
      }
    }
  }

  const running = run().catch((error: Error) => {
    if (!signal.aborted) log('error', `geo updates have ended: ${error.message}`);
  });
  return async () => {
    stop.abort();
    await running;
  };
}
