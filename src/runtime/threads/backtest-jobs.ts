/** Backtests as jobs: each on a thread of its own, their results in memory for a while (SPEC D19.16 to D19.18). */
import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Report } from '../../backtest/report.ts';
import { WeirError } from '../../errors.ts';
import type { BacktestAsked, BacktestJob, Backtests } from '../../manage/expressions/backtests.ts';
import { type GeoTables, readsGeo } from './backtest-geo.ts';

/** What the thread works with. */
export interface JobData extends BacktestAsked {
  readonly schemesFile: string | undefined;
  readonly geo: GeoTables | undefined;
  readonly unpackedBytes: number;
  readonly resultBytes: number;
}

/** What the thread tells: how far it is, with the report as JSON at its end, or why there is none. */
export type JobMessage = { readonly readBytes: number; readonly requests: number; readonly result?: string } | { readonly fault: string };

export interface JobLimits {
  /** Jobs that run at a time, in all. */
  readonly running: number;
  /** How long one may take, ms, and what its thread may hold, MiB. */
  readonly time: number;
  readonly memoryMb: number;
  /** Bytes of a recording once it is unpacked, and of a result. */
  readonly unpackedBytes: number;
  readonly resultBytes: number;
  /** How long a job that has ended is kept, ms; how many of a workspace; bytes of results in all. */
  readonly kept: number;
  readonly keptJobs: number;
  readonly keptBytes: number;
}

const MEBIBYTE = 1024 * 1024;
export const JOB_LIMITS: JobLimits = {
  running: 3,
  time: 300_000,
  memoryMb: 256,
  unpackedBytes: 1024 * MEBIBYTE,
  resultBytes: 2 * MEBIBYTE,
  kept: 3_600_000,
  keptJobs: 5,
  keptBytes: 64 * MEBIBYTE,
};

interface Parts {
  readonly schemesFile: string | undefined;
  /** The geo data in use. */
  readonly geo: () => GeoTables;
  /** ms since 1970 */
  readonly now: () => number;
  /** Is told of what nobody who asks can do anything about. */
  readonly report: (error: unknown) => void;
  readonly limits?: JobLimits;
}

type Kept = { -readonly [K in keyof BacktestJob]: BacktestJob[K] } & { readonly workspaceId: string; worker?: Worker; result?: string };

/** A workspace that was refused is told to ask again after so many seconds, and keeps its turn for so many ms. */
const RETRY_AFTER = 10;
const PATIENCE = 30_000;

/** Recordings of this size came into memory of their own, which can be handed over. */
const OWN_MEMORY = 64 * 1024;

export function backtestJobs({ schemesFile, geo, now, report, limits = JOB_LIMITS }: Parts): Backtests {
  let jobs: readonly Kept[] = [];
  let threads = 0;
  /** When workspaces that wait for their turn asked last, ms since 1970: who asked first is first. */
  const waiting = new Map<string, number>();

  /** Rejects with LIMITED where none is free, or as many others wait for those that are. */
  function requireTurn(workspaceId: string): void {
    for (const [each, at] of waiting) if (Math.abs(now() - at) > PATIENCE) waiting.delete(each);
    const others = [...waiting.keys()];
    const ahead = waiting.has(workspaceId) ? others.indexOf(workspaceId) : others.length;
    if (threads + ahead >= limits.running) {
      waiting.set(workspaceId, now());
      throw new WeirError('LIMITED', 'too many backtests run at this time', { cause: { retryAfter: RETRY_AFTER } });
    }
    waiting.delete(workspaceId);
  }

  /** Lets go of what is too old or too much: the oldest of whoever has most. */
  function tidy(): void {
    const since = now() - limits.kept;
    jobs = jobs.filter(({ endedAt }) => endedAt === null || endedAt > since);
    const owners = new Set(jobs.map(({ workspaceId }) => workspaceId));
    for (const owner of owners) {
      const ended = endedOf(owner);
      for (const job of ended.slice(0, Math.max(0, ended.length - limits.keptJobs))) forget(job);
    }
    const bytesOf = (of: readonly Kept[]) => of.reduce((sum, { result }) => sum + (result?.length ?? 0), 0);
    while (bytesOf(jobs) > limits.keptBytes) {
      const [most] = [...owners].map(endedOf).sort((a, b) => bytesOf(b) - bytesOf(a));
      forget(most![0]!);
    }
  }
  const endedOf = (owner: string) => jobs.filter(({ workspaceId, endedAt }) => workspaceId === owner && endedAt !== null);
  const forget = (job: Kept) => {
    jobs = jobs.filter((each) => each !== job);
  };
  const kept = (owner: string, id: string) => {
    tidy();
    return jobs.find((job) => job.workspaceId === owner && job.id === id);
  };

  function end(job: Kept, state: Kept['state'], fault: string | null = null): void {
    if (job.state !== 'running') return;
    Object.assign(job, { state, fault, endedAt: now() });
    void job.worker?.terminate();
    tidy();
    // Nobody may ask any more: it goes all the same.
    setTimeout(tidy, limits.kept + 1000).unref();
  }

  function run(job: Kept, asked: BacktestAsked): void {
    const { recording } = asked;
    const memory = recording.buffer as ArrayBuffer;
    const data: JobData = {
      ...asked,
      schemesFile,
      geo: readsGeo(asked.rules) ? geo() : undefined,
      unpackedBytes: limits.unpackedBytes,
      resultBytes: limits.resultBytes,
    };
    const worker = new Worker(new URL('./backtest-job.thread.ts', import.meta.url), {
      name: 'backtest',
      workerData: data,
      transferList: recording.length > OWN_MEMORY ? [memory] : [],
      resourceLimits: { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: limits.memoryMb },
    });
    threads += 1;
    job.worker = worker;
    const timer = setTimeout(() => end(job, 'failed', `takes longer than ${limits.time / 60_000} minutes`), limits.time).unref();
    let fault: string | null = 'the backtest could not be done';
    worker.on('message', (message: JobMessage) => {
      if (job.state !== 'running') return;
      if ('fault' in message) fault = message.fault;
      else Object.assign(job, message);
    });
    worker.on('error', (error: Error & { code?: unknown }) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') fault = `takes more than ${limits.memoryMb} MiB of memory`;
      else report(error);
    });
    // It has ended when its thread has: then there is room for the next.
    worker.on('exit', () => {
      clearTimeout(timer);
      threads -= 1;
      delete job.worker;
      if (job.result === undefined) end(job, 'failed', fault);
      else end(job, 'done');
    });
    worker.unref();
  }

  return {
    start(workspaceId, asked) {
      tidy();
      const other = jobs.find((job) => job.workspaceId === workspaceId && job.state === 'running');
      if (other !== undefined) throw new WeirError('REFUSED', `a backtest of the workspace runs already: ${other.id}`);
      requireTurn(workspaceId);
      const job: Kept = {
        ...{ id: randomUUID(), workspaceId, kind: asked.kind, view: asked.view, rules: asked.rules.length, state: 'running' },
        ...{ bytes: asked.recording.length, readBytes: 0, requests: 0, startedAt: now(), endedAt: null, fault: null },
      };
      run(job, asked);
      jobs = [...jobs, job];
      return job;
    },
    of(workspaceId) {
      tidy();
      return jobs.filter((job) => job.workspaceId === workspaceId).reverse();
    },
    find: kept,
    result(workspaceId, id) {
      const text = kept(workspaceId, id)?.result;
      return text === undefined ? undefined : (JSON.parse(text) as Report);
    },
    remove(workspaceId, id) {
      const job = kept(workspaceId, id);
      if (job === undefined) return;
      if (job.state === 'running') end(job, 'cancelled');
      else forget(job);
    },
  };
}
