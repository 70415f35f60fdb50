import { parentPort, workerData } from 'node:worker_threads';
import { hasCode } from '../errors.ts';
import { writeCache } from './cache.ts';
import { compileSources } from './compile.ts';
import type { GeoKindData } from './data.ts';
import type { GeoSources } from './sources.ts';

/** Compiles in a thread of its own, so that nobody waits for the parsing of a file. Answers with one result for each of the sources. */
export interface CompileRequest {
  readonly sources: readonly GeoSources[];
  readonly cacheDir: string | undefined;
}
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
