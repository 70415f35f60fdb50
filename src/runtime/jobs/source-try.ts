/** Trials, each on a thread. */
import { MessageChannel } from 'node:worker_threads';
import { hasCode, WeirError } from '../../errors.ts';
import type { Before } from '../../fetch/exchange.ts';
import type { GeoData } from '../../geo/data.ts';
import { fairQueue } from '../../schedule/fair-queue.ts';
import { hostOf } from '../../source/host.ts';
import type { SourceTrier, TryJob, TryReport } from '../../source/try-source.ts';
import type { PoliteFetching } from '../sources/fetching.ts';
import { inTrialFolder } from '../sources/trial-folder.ts';
import { trialRequest, trialVisit } from '../sources/try-job.ts';
import { serveCalls } from '../threads/rpc.ts';
import { answerOf } from './job.ts';
import { JOBS } from './table.ts';
import type { RemoteVisit, TryData } from './work/source-try.ts';

/** Per workspace, host and hour: of hosts with rare requests, and of others. */
const PATIENT = 3;
const USUAL = 60;
const HOUR = 3_600_000;

interface TrierParts extends Pick<TryData, 'settings' | 'guardRails'> {
  /** Of the refreshing process, if it is another. */
  readonly recall: () => Promise<void>;
  readonly fetching: PoliteFetching;
  readonly geo: () => GeoData;
  /** ms */
  readonly now?: () => number;
}

export function sourceTrier({ settings, guardRails, recall, fetching, geo, now = Date.now }: TrierParts): SourceTrier {
  const { cache, visits, leastInterval } = fetching;
  const running = new Set<string>();
  const line = fairQueue(JOBS.sourceTry.line);
  let recent: readonly { readonly client: string; readonly at: number }[] = [];

  /** Trials must not get the service banned from a host. */
  function countTrial(workspaceId: string, url: URL): void {
    const host = hostOf(url);
    const [client, at] = [`${workspaceId} ${host}`, now()];
    recent = recent.filter((each) => each.at > at - HOUR);
    const own = recent.filter((each) => each.client === client);
    const most = leastInterval(url.href) === 0 ? USUAL : PATIENT;
    if (own.length >= most) {
      const retryAfter = Math.ceil((own[0]!.at + HOUR - at) / 1000);
      throw new WeirError('LIMITED', `${host} was asked ${own.length} times for trials in the last hour`, { cause: { retryAfter } });
    }
    recent = [...recent, { client, at }];
  }

  /** Catalogue URLs through the shared cache; undefined: another URL. */
  async function prefetch(job: TryJob, before: Before): Promise<(TryData['prefetched'] & Partial<AsyncDisposable>) | undefined> {
    const request = trialRequest(job);
    if (!cache.caches(request)) return undefined;
    try {
      return await cache.fetch({ ...request, before, signal: new AbortController().signal });
    } catch (error) {
      if (!hasCode(error, 'FETCH')) throw error;
      return { kind: 'failed', text: error.message };
    }
  }

  async function run(job: TryJob): Promise<TryReport> {
    await recall();
    const hosts = new Set<string>();
    using visit = trialVisit(visits, job);
    const before: Before = async (url, credentials) => {
      if (!hosts.has(hostOf(url))) countTrial(job.workspaceId, url);
      hosts.add(hostOf(url));
      await visit.before(url, credentials);
    };
    const { port1, port2 } = new MessageChannel();
    serveCalls(port1, { before: (url, credentials) => before(new URL(url), credentials), refused: visit.refused } satisfies RemoteVisit);
    let content: Awaited<ReturnType<typeof prefetch>>;
    try {
      content = await prefetch(job, before);
      const { [Symbol.asyncDispose]: _, ...plain } = content ?? {};
      const data = { job, settings, guardRails, geo: geo(), visitPort: port2, prefetched: content && (plain as TryData['prefetched']) };
      return await inTrialFolder((folder) => answerOf('sourceTry', { ...data, folder } satisfies TryData, [port2]));
    } finally {
      port1.close();
      await content?.[Symbol.asyncDispose]?.();
    }
  }

  return async (job) => {
    if (running.has(job.workspaceId)) throw new WeirError('REFUSED', 'a source of the workspace is being tried already');
    running.add(job.workspaceId);
    try {
      return await line(job.workspaceId, () => run(job));
    } finally {
      running.delete(job.workspaceId);
    }
  };
}
