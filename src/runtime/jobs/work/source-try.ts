import type { MessagePort } from 'node:worker_threads';
import { WeirError } from '../../../errors.ts';
import type { Before } from '../../../fetch/exchange.ts';
import type { Refused } from '../../../source/taxii/ask.ts';
import type { TryJob } from '../../../source/try-source.ts';
import type { FetchSettings } from '../../sources/fetching.ts';
import { fetchTried, runTrial, type TriedAnswer } from '../../sources/try-job.ts';
import type { Visit } from '../../sources/visits.ts';
import { remoteCalls } from '../../threads/rpc.ts';
import { type ReadingData, reading } from './reading.ts';

export interface TryData extends ReadingData {
  readonly job: TryJob;
  readonly settings: FetchSettings & ReadingData['settings'];
  /** The main thread removes it. */
  readonly folder: string;
  /** Serves a `RemoteVisit`. */
  readonly visitPort: MessagePort;
  /** Fetched by the main thread; undefined: the thread fetches. */
  readonly prefetched: TriedAnswer | { readonly kind: 'failed'; readonly text: string } | undefined;
}

export interface RemoteVisit extends Pick<Visit, 'refused'> {
  before(url: string, credentials: Parameters<Before>[1]): Promise<void>;
}

export function serve({ job, folder, visitPort, prefetched, ...data }: TryData) {
  const { settings, guardRails } = data;
  const visit = remoteCalls<RemoteVisit>(visitPort);

  async function fetch(): Promise<TriedAnswer> {
    if (prefetched !== undefined) {
      if (prefetched.kind === 'failed') throw new WeirError('FETCH', prefetched.text);
      return prefetched;
    }
    try {
      const answer = await fetchTried(job, settings, folder, (url, credentials) => visit.before(url.href, credentials));
      if (answer.kind === 'refused') await visit.refused(answer.status, answer.retryAfter);
      return answer;
    } catch (error) {
      const { status, retryAfter } = ((error as Error).cause ?? {}) as Partial<Refused>;
      if (status !== undefined) await visit.refused(status, retryAfter);
      throw error;
    }
  }

  return reading(data, ({ store, geo }) => runTrial(job, { settings, store, geo, guardRails, onStep: () => {}, fetch }));
}
