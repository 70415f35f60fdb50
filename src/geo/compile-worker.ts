import { parentPort, workerData } from 'node:worker_threads';
import { writeCache } from './cache.ts';
import { compileSources } from './compile.ts';
import type { GeoKindData } from './data.ts';
import { GeoFault } from './fault.ts';
import type { GeoSources } from './sources.ts';

/** Compiles one kind in a thread of its own, so that nobody waits for the parsing of a file. */
export interface CompileRequest {
  readonly sources: GeoSources;
  readonly cacheDir: string | undefined;
}
export type CompileResult = { readonly data: GeoKindData } | { readonly fault: string };

function compile({ sources, cacheDir }: CompileRequest): CompileResult {
  try {
    const data = compileSources(sources);
    if (cacheDir !== undefined) writeCache(cacheDir, data);
    return { data };
  } catch (error) {
    if (error instanceof GeoFault) return { fault: error.message };
    throw error;
  }
}

parentPort?.postMessage(compile(workerData as CompileRequest));
