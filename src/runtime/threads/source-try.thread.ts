/** A thread that tries one source, from its address to the report. */
import { workerData } from 'node:worker_threads';
import { geoDatabase } from '../../geo/database.ts';
import type { Config } from '../../settings/settings.ts';
import { openReads } from '../engines.ts';
import { runTrial } from '../sources/try-job.ts';
import type { TryData } from './source-try.ts';
import { answering } from './thread-answer.ts';

const { job, settings, guardRails, geo } = workerData as TryData;
await answering(async () => {
  const store = await openReads(settings as Config);
  try {
    return await runTrial(job, { settings, store, geo: geoDatabase(geo), guardRails, onStep: () => {} });
  } finally {
    await store.close();
  }
});
