/** Runs a job of the table. */
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { serveCalls, shutdownBy } from '../threads/rpc.ts';
import type { JobStart } from './job.ts';
import { JOBS } from './table.ts';

const { job, data } = workerData as JobStart;
const about = JOBS[job];
if ('isLow' in about && process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);
const port = parentPort!;
const { serve } = await about.load();
const { close = async () => {}, ...methods } = await (serve as (data: unknown, port: unknown) => { close?(): Promise<void> })(data, port);
serveCalls(port, { ...methods, shutdown: shutdownBy(port, close) });
