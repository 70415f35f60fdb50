/** Once, or regularly for a server (SPEC D17.1, D17.7). */
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

/** Of the first download, ms: machines may start together. */
const FIRST_WITHIN = 60_000;
/** ms, unless updates are more frequent. */
const RETRY = HOUR;
/** Random extension of each pause. */
const SPREAD = 0.1;
/** ms; wakes regularly to notice clock changes. */
const LONGEST_SLEEP = HOUR;

type UpdateSettings = Pick<Config, 'geoCountryFile' | 'geoAsnFile' | 'dataDir' | 'geoUpdateUrl'>;

/**
 * Kinds without own files; undefined: another process is updating. Rejects with GEO_FILE if DATA_DIR is not writable, with USAGE if all
 * kinds have own files.
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

/** A lock against other processes; undefined: locked. */
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

export const hasFailed = ({ kinds }: UpdateState): boolean =>
  Object.values(kinds).some(({ result }) => result === 'failed' || result === 'held');

const failureText = ({ kinds }: UpdateState): string =>
  GEO_KINDS.flatMap((kind) => {
    const update = kinds[kind];
    return update?.result === 'failed' || update?.result === 'held' ? [`${kind}: ${update.text}`] : [];
  }).join('; ');

/**
 * ms. `last`: of all processes on the folder; `every`: interval; `random` in [0, 1). Ignores a last attempt in the future, after a clock
 * change.
 */
export function nextTry(last: UpdateState | undefined, every: number, startedAt: number, random: number, now: number): number {
  const first = startedAt + random * FIRST_WITHIN;
  if (last === undefined || last.triedAt > now) return first;
  const isBroken = Object.values(last.kinds).some(({ result }) => result === 'failed');
  return Math.max(first, last.triedAt + (isBroken ? Math.min(RETRY, every) : every) * (1 + SPREAD * random));
}

export interface GeoUpdatesOptions {
  readonly settings: UpdateSettings;
  /** ms */
  readonly every: number;
  readonly inUse: () => GeoData;
  readonly log: Log;
  /** In [0, 1). */
  readonly random?: () => number;
}

/** Returns a stop function that resolves when nothing runs. */
export function startGeoUpdates({ settings, every, inUse, log, random = Math.random }: GeoUpdatesOptions): () => Promise<void> {
  const files = geoFiles(settings);
  if (updatedKinds(files).length === 0) {
    log('warn', 'GEO_UPDATE_HOURS has no effect: GEO_COUNTRY_FILE and GEO_ASN_FILE are both set');
    return async () => {};
  }
  const stop = new AbortController();
  const { signal } = stop;
  const startedAt = Date.now();
  let reported = '';

  /** And its end. */
  function report(failure: string, next: number): void {
    if (failure !== '' && failure !== reported) {
      log('warn', `geo update: ${failure}; the data in use stay; next try at ${new Date(next).toISOString()}`);
    }
    if (failure === '' && reported !== '') log('info', 'geo update: works again');
    reported = failure;
  }

  async function run(): Promise<void> {
    let factor = random();
    let failedAt: number | undefined;
    const due = async () => {
      const next = nextTry(await readUpdateState(files.downloads), every, startedAt, factor, Date.now());
      return failedAt === undefined ? next : Math.max(next, failedAt + Math.min(RETRY, every));
    };
    log('info', `geo data is updated from ${settings.geoUpdateUrl}; next try at ${new Date(await due()).toISOString()}`);
    for (;;) {
      for (let at = await due(); at > Date.now(); at = await due()) {
        await sleep(Math.min(timeUntil(at, Date.now()), LONGEST_SLEEP), undefined, { ref: false, signal });
      }
      factor = random();
      try {
        const state = await updateGeoData(settings, inUse(), { signal });
        failedAt = undefined;
        // Another process is updating.
        if (state === undefined) await sleep(Math.min(every, FIRST_WITHIN), undefined, { ref: false, signal });
        else report(failureText(state), await due());
      } catch (error) {
        if (signal.aborted) throw error;
        failedAt = Date.now();
        report((error as Error).message, await due());
      }
    }
  }

  const running = run().catch((error: Error) => {
    if (!signal.aborted) log('error', `geo updates stopped: ${error.message}`);
  });
  return async () => {
    stop.abort();
    await running;
  };
}
