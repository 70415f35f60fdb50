/** Trials of sources as the main thread sees them: each on a thread of its own, which ends with it. */
import { Worker } from 'node:worker_threads';
import type { ServiceGuardRails } from '../../account/guard-rails.ts';
import { WeirError } from '../../errors.ts';
import type { GeoData } from '../../geo/data.ts';
import type { Config } from '../../settings/settings.ts';
import { leastInterval } from '../../source/catalogue.ts';
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

/** Trials of a workspace from one host in an hour: of those that let themselves be asked now and then only, and of others. */
const PATIENT = 3;
const USUAL = 60;
const HOUR = 3_600_000;

/** `geo`: the data in use; `now`: ms. */
export function sourceTrier({
  settings,
  guardRails,
  geo,
  now = Date.now,
}: Omit<TryData, 'job' | 'geo'> & { readonly geo: () => GeoData; readonly now?: () => number }): SourceTrier {
  const running = new Set<string>();
  let lately: readonly { readonly who: string; readonly at: number }[] = [];

  /** Trials must not make a host shut the whole service out. */
  function countTrial({ workspaceId, content: { url } }: TryJob): void {
    const { host } = new URL(url);
    const [who, at] = [`${workspaceId} ${host}`, now()];
    lately = lately.filter((each) => each.at > at - HOUR);
    const own = lately.filter((each) => each.who === who);
    const most = leastInterval(host) === undefined ? USUAL : PATIENT;
    if (own.length >= most) {
      const retryAfter = Math.ceil((own[0]!.at + HOUR - at) / 1000);
      throw new WeirError('LIMITED', `${host} was asked ${own.length} times for trials in the last hour`, { cause: { retryAfter } });
    }
    lately = [...lately, { who, at }];
  }

  return async (job) => {
    if (running.has(job.workspaceId)) throw new WeirError('REFUSED', 'a source of the workspace is being tried already');
    if (running.size >= RUNNING)
      throw new WeirError('LIMITED', 'too many sources are being tried at this time', { cause: { retryAfter: 10 } });
    countTrial(job);
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
