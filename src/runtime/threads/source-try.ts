/** Trials of sources as the main thread sees them: each on a thread of its own, which ends with it. */
import { WeirError } from '../../errors.ts';
import type { GeoData } from '../../geo/data.ts';
import { leastInterval } from '../../source/catalogue.ts';
import type { SourceTrier, TryJob, TryReport } from '../../source/try-source.ts';
import type { FetchSettings } from '../sources/fetching.ts';
import { inTrialFolder } from '../sources/trial-folder.ts';
import type { ReadingData } from './reading.ts';
import { threadAnswer } from './thread-answer.ts';

/** What the thread works with. */
export interface TryData extends ReadingData {
  readonly job: TryJob;
  readonly folder: string;
  readonly settings: FetchSettings & ReadingData['settings'];
}

/** Trials in all. */
const RUNNING = 2;
const THREAD = { name: 'source-try', doing: 'trying it', time: 60_000, memory: 512 };

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
}: Omit<TryData, 'job' | 'folder' | 'geo'> & { readonly geo: () => GeoData; readonly now?: () => number }): SourceTrier {
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
      return await inTrialFolder((folder) => {
        const data: TryData = { job, folder, settings, guardRails, geo: geo() };
        return threadAnswer<TryReport>(new URL('./source-try.thread.ts', import.meta.url), data, THREAD);
      });
    } finally {
      running.delete(job.workspaceId);
    }
  };
}
