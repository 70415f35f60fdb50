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
/** Timeout without data, ms. */
const IDLE = 30_000;

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

export interface PoliteFetching {
  readonly cache: DownloadCache;
  readonly visits: Visits;
  /** Seconds; 0: unknown. */
  readonly leastInterval: (url: string) => number;
}

/** `least`: interval of a host, seconds. Throws like `fetchOf`. */
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

/** Throws USAGE if a file of the settings is unreadable. */
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

/** Trusted CAs; undefined: the defaults. Throws USAGE. */
export function authorities({ sourceCaFile }: Pick<Config, 'sourceCaFile'>): string[] | undefined {
  if (sourceCaFile === undefined) return undefined;
  try {
    return [...getCACertificates('default'), readFileSync(sourceCaFile, 'utf8')];
  } catch (error) {
    throw new WeirError('USAGE', `SOURCE_CA_FILE cannot be read: ${(error as Error).message}`);
  }
}
