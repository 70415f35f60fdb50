/** Trials of sources as the main thread sees them: each on a thread of its own, which ends with it. */
import { Worker } from 'node:worker_threads';
import type { ServiceGuardRails } from '../../account/guard-rails.ts';
import { WeirError } from '../../errors.ts';
import type { GeoData } from '../../geo/data.ts';
import type { Config } from '../../settings/settings.ts';
import type { SourceTrier, TryJob, TryReport } from '../../source/try-source.ts';
import type { FetchSettings } from '../sources/fetching.ts';

/** What the thread works with. */
export interface TryData {
  readonly job: TryJob;
  readonly settings: FetchSettings & Pick<Config, 'databaseUrl' | 'dataDir'>;
  readonly guardRails: ServiceGuardRails;
  readonly geo: GeoData;
}

/** What it tells in the end. */
export type TryMessage =
  | { readonly report: TryReport }
  | { readonly error: { readonly code: string | undefined; readonly message: string } };

/** Trials in all, how long one may take, ms, and what its thread may hold, MiB. */
const RUNNING = 2;
const TIME = 60_000;
const MEMORY = 512;

/** `geo`: the data in use. */
export function sourceTrier({ settings, guardRails, geo }: Omit<TryData, 'job' | 'geo'> & { readonly geo: () => GeoData }): SourceTrier {
  const running = new Set<string>();
  return async (job) => {
    if (running.has(job.workspaceId)) throw new WeirError('REFUSED', 'a source of the workspace is being tried already');
    if (running.size >= RUNNING)
      throw new WeirError('LIMITED', 'too many sources are being tried at this time', { cause: { retryAfter: 10 } });
    running.add(job.workspaceId);
    try {
      return await runOn({ job, settings, guardRails, geo: geo() });
    } finally {
      running.delete(job.workspaceId);
    }
  };
}

async function runOn(data: TryData): Promise<TryReport> {
  const worker = new Worker(new URL('./source-try.thread.ts', import.meta.url), {
    name: 'source-try',
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY },
  });
  worker.unref();
  const { promise, resolve, reject } = Promise.withResolvers<TryReport>();
  const timer = setTimeout(() => reject(new WeirError('TIMEOUT', `trying takes longer than ${TIME / 1000} s`)), TIME).unref();
  worker.on('message', (message: TryMessage) => {
    if ('report' in message) resolve(message.report);
    else reject(Object.assign(new Error(message.error.message), { code: message.error.code }));
  });
  worker.on('error', (error: Error & { code?: unknown }) =>
    reject(
      error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new WeirError('REFUSED', `trying it takes more than ${MEMORY} MiB of memory`) : error,
    ),
  );
  worker.on('exit', () => reject(new Error('the thread has ended')));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
