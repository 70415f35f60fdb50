import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { readCache } from './cache.ts';
import type { CompileRequest, CompileResult } from './compile-worker.ts';
import type { GeoData, GeoKindData } from './data.ts';
import { GeoFault } from './fault.ts';
import { findSources, type GeoSources } from './sources.ts';

/** The operator's files (GEO_COUNTRY_FILE, GEO_ASN_FILE); undefined = the packaged data. */
export interface GeoFiles {
  readonly country: string | undefined;
  readonly asn: string | undefined;
}

/**
 * Loads both kinds; the calling thread is not blocked by parsing. With `cacheDir`, what was compiled before from the same files is
 * read from there, and what is compiled now is stored there. Rejects with a GeoFault that holds one line per unusable file.
 */
export async function loadGeo(files: GeoFiles, cacheDir?: string): Promise<GeoData> {
  const load = async (kind: GeoSources['kind']) => loadSources(await findSources(kind, files[kind]), cacheDir);
  const loaded = await Promise.allSettled([load('country'), load('asn')]);
  const [country, asn] = loaded;
  if (country.status === 'fulfilled' && asn.status === 'fulfilled') return combine(country.value, asn.value);
  const reasons = loaded.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  throw reasons.find((reason) => !(reason instanceof GeoFault)) ?? new GeoFault(reasons.map(({ message }) => message).join('\n'));
}

/** Both kinds as one; the version is that of both contents. */
export const combine = (country: GeoKindData, asn: GeoKindData): GeoData => ({
  version: `${country.table.version}${asn.table.version}`,
  country,
  asn,
});

/** Loads one kind from the cache or else from its files. */
export async function loadSources(sources: GeoSources, cacheDir: string | undefined): Promise<GeoKindData> {
  const cached = cacheDir === undefined ? undefined : await readCache(cacheDir, sources);
  return cached ?? compileInWorker({ sources, cacheDir });
}

async function compileInWorker(request: CompileRequest): Promise<GeoKindData> {
  const worker = new Worker(new URL('./compile-worker.ts', import.meta.url), { workerData: request });
  const [result] = (await once(worker, 'message')) as [CompileResult];
  if ('fault' in result) throw new GeoFault(result.fault);
  return result.data;
}
