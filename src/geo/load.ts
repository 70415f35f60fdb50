import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { hasCode, WeirError } from '../errors.ts';
import { readCache } from './cache.ts';
import type { Compiled, CompileRequest } from './compile.thread.ts';
import type { GeoData, GeoKindData } from './data.ts';
import type { GeoKind } from './kind.ts';
import { findSources, type GeoFiles, type GeoSources } from './sources.ts';

/** Loads in another thread. With `cacheDir`, reads and stores compiled data there. Rejects with GEO_FILE, one line per unusable file. */
export async function loadGeo(files: GeoFiles, cacheDir?: string): Promise<GeoData> {
  const found = await Promise.all([find('country', files), find('asn', files)]);
  const loaded = await loadAll(
    found.flatMap((each) => ('fault' in each ? [] : [each])),
    cacheDir,
  );
  const [country, asn] = found.map((each) => ('fault' in each ? each : loaded.shift()!));
  if ('data' in country && 'data' in asn) return combine(country.data, asn.data);
  throw new WeirError('GEO_FILE', [country, asn].flatMap((each) => ('fault' in each ? [each.fault] : [])).join('\n'));
}

export const combine = (country: GeoKindData, asn: GeoKindData): GeoData => ({
  version: `${country.table.version}${asn.table.version}`,
  country,
  asn,
});

/** From the cache or else from the files. Rejects with GEO_FILE. */
export async function loadSources(sources: GeoSources, cacheDir: string | undefined): Promise<GeoKindData> {
  const [loaded] = await loadAll([sources], cacheDir);
  if ('fault' in loaded) throw new WeirError('GEO_FILE', loaded.fault);
  return loaded.data;
}

async function find(kind: GeoKind, files: GeoFiles): Promise<GeoSources | { readonly fault: string }> {
  try {
    return await findSources(kind, files);
  } catch (error) {
    if (hasCode(error, 'GEO_FILE')) return { fault: error.message };
    throw error;
  }
}

/** Two threads would compete for the same cores. */
async function loadAll(sources: readonly GeoSources[], cacheDir: string | undefined): Promise<Compiled[]> {
  const cached = await Promise.all(sources.map((each) => (cacheDir === undefined ? undefined : readCache(cacheDir, each))));
  const missing = sources.filter((_, n) => cached[n] === undefined);
  const compiled = missing.length === 0 ? [] : await compileInWorker({ sources: missing, cacheDir });
  return cached.map((data) => (data === undefined ? compiled.shift()! : { data }));
}

async function compileInWorker(request: CompileRequest): Promise<Compiled[]> {
  const worker = new Worker(new URL('./compile.thread.ts', import.meta.url), {
    name: 'compile',
    workerData: request,
    resourceLimits: { maxYoungGenerationSizeMb: 24 },
  });
  const [compiled] = (await once(worker, 'message')) as [Compiled[]];
  return compiled;
}
