import { workerData } from 'node:worker_threads';
import { WeirError } from '../../errors.ts';
import type { Refused } from '../../source/taxii/ask.ts';
import { fetchTried, runTrial } from '../sources/try-job.ts';
import { reading } from './reading.ts';
import { remoteCalls } from './rpc.ts';
import type { RemoteVisit, TryData } from './source-try.ts';

const { job, folder, visitPort, prefetched, ...data } = workerData as TryData;
const { settings, guardRails } = data;
const visit = remoteCalls<RemoteVisit>(visitPort);

async function fetch() {
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

reading(data, ({ store, geo }) => runTrial(job, { settings, store, geo, guardRails, onStep: () => {}, fetch }));
