import { parentPort, workerData } from 'node:worker_threads';
import { hasCode } from '../errors.ts';
import { writeCache } from './cache.ts';
import { compileSources } from './compile.ts';
import type { GeoKindData } from './data.ts';
import type { GeoSources } from './sources.ts';

/** Posts one `Compiled` per source. */
export interface CompileRequest {
  readonly sources: readonly GeoSources[];
  /** undefined: no cache. */
  readonly cacheDir: string | undefined;
}

/** Or the message of the GEO_FILE error: errors lose their code between threads. */
export type Compiled = { readonly data: GeoKindData } | { readonly fault: string };

function compile(sources: GeoSources, cacheDir: string | undefined): Compiled {
  try {
    const data = compileSources(sources);
    if (cacheDir !== undefined) writeCache(cacheDir, data);
    return { data };
  } catch (error) {
    if (hasCode(error, 'GEO_FILE')) return { fault: error.message };
    throw error;
  }
}

const { sources, cacheDir } = workerData as CompileRequest;
parentPort?.postMessage(sources.map((each) => compile(each, cacheDir)));
