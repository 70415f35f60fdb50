/** Starts the threads of jobs. */
import { type Transferable, Worker } from 'node:worker_threads';
import { WeirError } from '../../errors.ts';
import { oneByOne } from '../../serial.ts';
import { remoteCalls, reviving, type Served } from '../threads/rpc.ts';
import { type Answer, JOBS, type JobData, type JobMethods, type JobName, type Question } from './table.ts';

export interface JobStart {
  readonly job: JobName;
  readonly data: unknown;
}

export function startJob<N extends JobName>(job: N, data: JobData<N>, transferList: readonly Transferable[] = []): Worker {
  const { name, memory, young = 12 }: (typeof JOBS)[JobName] & { readonly memory?: number; readonly young?: number } = JOBS[job];
  return new Worker(new URL('./job.thread.ts', import.meta.url), {
    ...{ name, workerData: { job, data } satisfies JobStart, transferList: [...transferList] },
    resourceLimits: { maxYoungGenerationSizeMb: young, ...(memory !== undefined && { maxOldGenerationSizeMb: memory }) },
  });
}

/** On a thread of its own. Rejects with TOO_LARGE above the limits, and like the job. `transfers`: ports in its data. */
export async function answerOf<Q extends Question>(
  question: Q,
  data: JobData<Q>,
  transfers: readonly Transferable[] = [],
): Promise<Answer<Q>> {
  const { doing, time, memory } = JOBS[question];
  const worker = startJob(question, data, transfers);
  worker.unref();
  try {
    return await inBounds(remoteCalls<{ answer(): Promise<Answer<Q>> }>(worker).answer(), time, (what) => {
      const bound = what === 'time' ? `longer than ${time / 1000} s` : `more than ${memory} MiB of memory`;
      return new WeirError('TOO_LARGE', `${doing} takes ${bound}`);
    });
  } finally {
    await worker.terminate();
  }
}

/** Above them rejects with `tooMuch`. */
export const inBounds = <T>(answer: Promise<T>, time: number, tooMuch: (what: 'time' | 'memory') => Error): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(tooMuch('time')), time).unref();
    const failed = (error: { readonly code?: unknown }) => reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch('memory') : error);
    answer.then(resolve, failed).finally(() => clearTimeout(timer));
  });

/** Starts with the first call, again after its end, and ends after `idle` ms without calls. Calls of one name run in sequence. */
export function onDemand<N extends JobName>(
  job: N,
  begin: () => readonly [data: JobData<N>, transfers?: readonly Transferable[]],
  idle = Number.POSITIVE_INFINITY,
) {
  const { thread, end, kill } = reviving<Served<JobMethods<N>>>(() => startJob(job, ...begin()));
  const inTurn = oneByOne();
  let calls = 0;
  let timer: NodeJS.Timeout | undefined;
  async function call<T>(work: (methods: JobMethods<N>) => Promise<T>): Promise<T> {
    clearTimeout(timer);
    calls += 1;
    const { worker, methods } = thread();
    worker.ref();
    try {
      return await work(methods);
    } finally {
      calls -= 1;
      if (calls === 0) {
        worker.unref();
        if (idle < Number.POSITIVE_INFINITY) timer = setTimeout(() => void end().catch(() => {}), idle).unref();
      }
    }
  }
  return {
    use: <T>(work: (methods: JobMethods<N>) => Promise<T>, name = ''): Promise<T> => inTurn(() => call(work), name),
    end() {
      clearTimeout(timer);
      return end();
    },
    kill,
  };
}
