/** A thread that tries one source, from its address to the report. */
import { constants, setPriority } from 'node:os';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { codeOf } from '../../errors.ts';
import { geoDatabase } from '../../geo/database.ts';
import type { Config } from '../../settings/settings.ts';
import { openReads } from '../engines.ts';
import { runTrial } from '../sources/try-job.ts';
import type { TryData, TryMessage } from './source-try.ts';

const { job, settings, guardRails, geo } = workerData as TryData;
const tell = (message: TryMessage) => (parentPort as MessagePort).postMessage(message);

// Where a thread has a priority of its own, those that answer go first.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);
try {
  const store = await openReads(settings as Config);
  try {
    tell({ report: await runTrial(job, { settings, store, geo: geoDatabase(geo), guardRails, onStep: () => {} }) });
  } finally {
    await store.close();
  }
} catch (error) {
  tell({ error: { code: codeOf(error), message: (error as Error).message } });
}
