/** A thread that tries one source, from its address to the report. */
import { workerData } from 'node:worker_threads';
import { WeirError } from '../../errors.ts';
import { fetchTried, runTrial } from '../sources/try-job.ts';
import { reading } from './reading.ts';
import { remoteCalls } from './rpc.ts';
import type { TryData, TryManners } from './source-try.ts';

const { job, folder, manners: port, given, ...data } = workerData as TryData;
const { settings, guardRails } = data;
const manners = remoteCalls<TryManners>(port);

async function fetch() {
  if (given !== undefined) {
    if (given.kind === 'failed') throw new WeirError('FETCH', given.text);
    return given;
  }
  const answer = await fetchTried(job, settings, folder, (url, credentials) => manners.before(url.href, credentials));
  if (answer.kind === 'refused') await manners.refused(answer.status, answer.retryAfter);
  return answer;
}

reading(data, ({ store, geo }) => runTrial(job, { settings, store, geo, guardRails, onStep: () => {}, fetch }));
