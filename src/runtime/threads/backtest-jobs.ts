/** Backtests as jobs with a thread each; results stay in memory for a while (SPEC D19.16 to D19.18). */
import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Report } from '../../backtest/report.ts';
import { WeirError } from '../../errors.ts';
import type { BacktestAsked, BacktestJob, Backtests } from '../../manage/expressions/backtests.ts';
import { type GeoTables, readsGeo } from './backtest-geo.ts';

export interface JobData extends BacktestAsked {
  readonly schemesFile: string | undefined;
  readonly geo: GeoTables | undefined;
  readonly unpackedBytes: number;
  readonly resultBytes: number;
}

/** Progress, finally with the report as JSON, or an error. */
export type JobMessage = { readonly readBytes: number; readonly requests: number; readonly result?: string } | { readonly fault: string };

export interface JobLimits {
  /** Concurrent jobs in all. */
  readonly running: number;
  /** Limits: ms; heap, MiB. */
  readonly time: number;
  readonly memoryMb: number;
  /** Limits of an unpacked recording, and of a result, bytes. */
  readonly unpackedBytes: number;
  readonly resultBytes: number;
  /** Retention of ended jobs, ms; limit per workspace; total bytes of results. */
  readonly retention: number;
  readonly jobsOfWorkspace: number;
  readonly totalBytes: number;
}

const MEBIBYTE = 1024 * 1024;
export const JOB_LIMITS: JobLimits = {
  running: 3,
  time: 300_000,
  memoryMb: 256,
  unpackedBytes: 1024 * MEBIBYTE,
  resultBytes: 2 * MEBIBYTE,
  retention: 3_600_000,
  jobsOfWorkspace: 5,
  totalBytes: 64 * MEBIBYTE,
};

interface Parts {
  readonly schemesFile: string | undefined;
  readonly geo: () => GeoTables;
  /** ms */
  readonly now: () => number;
  readonly report: (error: unknown) => void;
  readonly limits?: JobLimits;
}

type Kept = { -readonly [K in keyof BacktestJob]: BacktestJob[K] } & { readonly workspaceId: string; worker?: Worker; result?: string };

/** Retry-After of a refused workspace, s; how long it keeps its turn, ms. */
const RETRY_AFTER = 10;
const PATIENCE = 30_000;

/** Larger buffers have own memory and can be transferred. */
const OWN_MEMORY = 64 * 1024;

export function backtestJobs({ schemesFile, geo, now, report, limits = JOB_LIMITS }: Parts): Backtests {
  let jobs: readonly Kept[] = [];
  let threads = 0;
  /** Last request of waiting workspaces, ms since 1970, in the order of their first. */
  const waiting = new Map<string, number>();

  /** Rejects with LIMITED if no thread is free, or earlier workspaces wait for the free ones. */
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

  /** Drops old results, and the oldest of the largest owner. */
  function tidy(): void {
    const since = now() - limits.retention;
    jobs = jobs.filter(({ endedAt }) => endedAt === null || endedAt > since);
    const owners = new Set(jobs.map(({ workspaceId }) => workspaceId));
    for (const owner of owners) {
      const ended = endedOf(owner);
      for (const job of ended.slice(0, Math.max(0, ended.length - limits.jobsOfWorkspace))) forget(job);
    }
    const bytesOf = (of: readonly Kept[]) => of.reduce((sum, { result }) => sum + (result?.length ?? 0), 0);
    while (bytesOf(jobs) > limits.totalBytes) {
      const [most] = [...owners].map(endedOf).sort((a, b) => bytesOf(b) - bytesOf(a));
      forget(most![0]!);
    }
  }
  const endedOf = (owner: string) => jobs.filter(({ workspaceId, endedAt }) => workspaceId === owner && endedAt !== null);
  const forget = (job: Kept) => {
    jobs = jobs.filter((each) => each !== job);
  };
  const find = (owner: string, id: string) => {
    tidy();
    return jobs.find((job) => job.workspaceId === owner && job.id === id);
  };

  function end(job: Kept, state: Kept['state'], fault: string | null = null): void {
    if (job.state !== 'running') return;
    Object.assign(job, { state, fault, endedAt: now() });
    void job.worker?.terminate();
    tidy();
    // Expires without requests.
    setTimeout(tidy, limits.retention + 1000).unref();
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
    // The slot is free when the thread has exited.
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
    find,
    result(workspaceId, id) {
      const text = find(workspaceId, id)?.result;
      return text === undefined ? undefined : (JSON.parse(text) as Report);
    },
    remove(workspaceId, id) {
      const job = find(workspaceId, id);
      if (job === undefined) return;
      if (job.state === 'running') end(job, 'cancelled');
      else forget(job);
    },
  };
}
