/** What fetches sources as the settings say. */
import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';
import { WeirError } from '../../errors.ts';
import { ownAddresses, type SourceFetch, sourceFetch } from '../../fetch/content-file.ts';
import { sourceReach } from '../../fetch/reach.ts';
import type { Config } from '../../settings/settings.ts';

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
