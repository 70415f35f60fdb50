/** A thread that tries one source, from its address to the report. */
import { workerData } from 'node:worker_threads';
import { runTrial } from '../sources/try-job.ts';
import { reading } from './reading.ts';
import type { TryData } from './source-try.ts';

const { job, folder, ...data } = workerData as TryData;
const { settings, guardRails } = data;
reading(data, ({ store, geo }) => runTrial(job, { folder, settings, store, geo, guardRails, onStep: () => {} }));
