/** A thread that tries one source, from its address to the report. */
import { workerData } from 'node:worker_threads';
import { runTrial } from '../sources/try-job.ts';
import { reading } from './reading.ts';
import type { TryData } from './source-try.ts';

const { job, ...data } = workerData as TryData;
const { settings, guardRails } = data;
reading(data, ({ store, geo }) => runTrial(job, { settings, store, geo, guardRails, onStep: () => {} }));
