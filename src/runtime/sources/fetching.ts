/** What fetches sources as the settings say. */
import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';
import type { Clocks } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import { ownAddresses, type SourceFetch, sourceFetch } from '../../fetch/content-file.ts';
import { sourceReach } from '../../fetch/reach.ts';
import type { Config } from '../../settings/settings.ts';
import { leastInterval } from '../../source/catalogue.ts';
import { type DownloadCache, downloadCache } from './download-cache.ts';
import { type Visits, visits } from './visits.ts';

const MEBIBYTE = 1024 * 1024;
/** Without a byte, ms. */
const IDLE = 30_000;

/** The settings that say how sources are fetched. */
export type FetchSettings = Pick<
  Config,
  | 'sourceNetworks'
  | 'nat64Prefixes'
  | 'sourceProxy'
  | 'noProxy'
  | 'sourceCaFile'
  | 'sourceContact'
  | 'baseUrl'
  | 'sourceMaxMb'
  | 'sourceSeconds'
>;

/** Fetches sources, and tries them, for one process. */
export interface PoliteFetching {
  readonly cache: DownloadCache;
  readonly visits: Visits;
  /** The least interval of the host of a URL, seconds; 0: unknown. */
  readonly leastInterval: (url: string) => number;
}

/** Throws as `fetchOf` does. `least`: the interval of a host, seconds. */
export function politeFetching(
  settings: FetchSettings & Pick<Config, 'sourceRefreshSeconds'>,
  folder: string,
  { now, monotonic }: Clocks,
  least: (url: URL) => number | undefined = leastInterval,
): PoliteFetching {
  const ms = (url: URL) => (least(url) ?? 0) * 1000;
  return {
    cache: downloadCache(fetchOf(settings, folder, now), ms, monotonic),
    visits: visits({ least: ms, floor: settings.sourceRefreshSeconds * 1000, monotonic }),
    leastInterval: (url) => least(new URL(url)) ?? 0,
  };
}

/** What fetches into a folder. Throws USAGE where a file of the settings cannot be read. */
export function fetchOf(settings: FetchSettings, folder: string, now: () => number): SourceFetch {
  const { sourceNetworks, nat64Prefixes, sourceProxy, noProxy, sourceContact, baseUrl, sourceMaxMb, sourceSeconds } = settings;
  return sourceFetch({
    folder,
    reach: () => sourceReach(sourceNetworks, nat64Prefixes, ownAddresses()),
    via: { proxy: sourceProxy === undefined ? undefined : new URL(sourceProxy), noProxy },
    ca: authorities(settings),
    contact: sourceContact ?? baseUrl,
    limits: { idleMs: IDLE, totalMs: sourceSeconds * 1000, bytes: sourceMaxMb * MEBIBYTE },
    now,
  });
}

/** The authorities that servers are trusted by; undefined: the well-known ones. Throws USAGE where the file cannot be read. */
export function authorities({ sourceCaFile }: Pick<Config, 'sourceCaFile'>): string[] | undefined {
  if (sourceCaFile === undefined) return undefined;
  try {
    return [...getCACertificates('default'), readFileSync(sourceCaFile, 'utf8')];
  } catch (error) {
    throw new WeirError('USAGE', `SOURCE_CA_FILE cannot be read: ${(error as Error).message}`);
  }
}
