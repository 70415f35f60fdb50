/** A thread each; results stay in memory for a while (SPEC D19.16 to D19.18). */
import { randomUUID } from 'node:crypto';
import type { Worker } from 'node:worker_threads';
import type { Report } from '../../backtest/report.ts';
import { hasCode, WeirError } from '../../errors.ts';
import type { BacktestAsked, BacktestJob, Backtests } from '../../manage/expressions/backtests.ts';
import { remoteCalls } from '../threads/rpc.ts';
import { inBounds, startJob } from './job.ts';
import { JOBS, type JobMethods } from './table.ts';
import type { Progress } from './work/backtest.ts';
import { type GeoTables, readsGeo } from './work/backtest-geo.ts';

/** In all, and ms each. */
const [RUNNING, TIME] = [3, 300_000];
/** Of ended jobs, ms; limit per workspace; total bytes of results. */
const [RETENTION, OF_WORKSPACE, RESULT_BYTES] = [3_600_000, 5, 64 * 1024 * 1024];

interface Parts {
  readonly schemesFile: string | undefined;
  readonly geo: () => GeoTables;
  /** ms */
  readonly now: () => number;
  readonly report: (error: unknown) => void;
}

type StoredJob = { -readonly [K in keyof BacktestJob]: BacktestJob[K] } & {
  readonly workspaceId: string;
  worker?: Worker;
  result?: string;
};

/** Of a refused workspace, s; how long it keeps its turn, ms. */
const RETRY_AFTER = 10;
const PATIENCE = 30_000;

/** Larger buffers have own memory and can be transferred. */
const OWN_MEMORY = 64 * 1024;

export function backtestJobs({ schemesFile, geo, now, report }: Parts): Backtests {
  let jobs: readonly StoredJob[] = [];
  let threads = 0;
  /** Of waiting workspaces, ms since 1970, in the order of their first. */
  const waiting = new Map<string, number>();

  /** LIMITED: no thread is free, or earlier workspaces wait for the free ones. */
  function requireTurn(workspaceId: string): void {
    for (const [each, at] of waiting) if (Math.abs(now() - at) > PATIENCE) waiting.delete(each);
    const others = [...waiting.keys()];
    const ahead = waiting.has(workspaceId) ? others.indexOf(workspaceId) : others.length;
    if (threads + ahead >= RUNNING) {
      waiting.set(workspaceId, now());
      throw new WeirError('LIMITED', 'too many backtests run at this time', { cause: { retryAfter: RETRY_AFTER } });
    }
    waiting.delete(workspaceId);
  }

  /** Old ones, and the oldest of the largest owner. */
  function tidy(): void {
    const since = now() - RETENTION;
    jobs = jobs.filter(({ endedAt }) => endedAt === null || endedAt > since);
    const owners = new Set(jobs.map(({ workspaceId }) => workspaceId));
    for (const owner of owners) {
      const ended = endedOf(owner);
      for (const job of ended.slice(0, Math.max(0, ended.length - OF_WORKSPACE))) forget(job);
    }
    const bytesOf = (of: readonly StoredJob[]) => of.reduce((sum, { result }) => sum + (result?.length ?? 0), 0);
    while (bytesOf(jobs) > RESULT_BYTES) {
      const [most] = [...owners].map(endedOf).sort((a, b) => bytesOf(b) - bytesOf(a));
      forget(most![0]!);
    }
  }
  const endedOf = (owner: string) => jobs.filter(({ workspaceId, endedAt }) => workspaceId === owner && endedAt !== null);
  const forget = (job: StoredJob) => {
    jobs = jobs.filter((each) => each !== job);
  };
  const find = (owner: string, id: string) => {
    tidy();
    return jobs.find((job) => job.workspaceId === owner && job.id === id);
  };

  function end(job: StoredJob, state: StoredJob['state'], fault: string | null = null): void {
    if (job.state !== 'running') return;
    Object.assign(job, { state, fault, endedAt: now() });
    void job.worker?.terminate();
    tidy();
    // Expires without requests.
    setTimeout(tidy, RETENTION + 1000).unref();
  }

  function run(job: StoredJob, asked: BacktestAsked): void {
    const { recording } = asked;
    const worker = startJob(
      'backtest',
      { ...asked, schemesFile, geo: readsGeo(asked.rules) ? geo() : undefined },
      recording.length > OWN_MEMORY ? [recording.buffer as ArrayBuffer] : [],
    );
    worker.unref();
    threads += 1;
    job.worker = worker;
    const note = (message: Progress | object): undefined => {
      if ('readBytes' in message && job.state === 'running') Object.assign(job, message);
    };
    worker.on('message', note);
    const fault = inBounds(remoteCalls<JobMethods<'backtest'>>(worker).run(), TIME, tooMuch).then(note, (error: Error) => {
      if (hasCode(error, 'REFUSED') || hasCode(error, 'TOO_LARGE')) return error.message;
      if (String((error as { code?: unknown }).code).startsWith('Z_')) return `the recording cannot be unpacked: ${error.message}`;
      if (job.state === 'running') report(error);
      return 'the backtest could not be done';
    });
    void fault.then(async (text) => {
      // The slot is free when the thread has exited.
      await worker.terminate();
      threads -= 1;
      delete job.worker;
      end(job, text === undefined ? 'done' : 'failed', text);
    });
  }

  return {
    start(workspaceId, asked) {
      tidy();
      const other = jobs.find((job) => job.workspaceId === workspaceId && job.state === 'running');
      if (other !== undefined) throw new WeirError('REFUSED', `a backtest of the workspace runs already: ${other.id}`);
      requireTurn(workspaceId);
      const job: StoredJob = {
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

const tooMuch = (what: 'time' | 'memory') =>
  new WeirError(
    'TOO_LARGE',
    what === 'time' ? `takes longer than ${TIME / 60_000} minutes` : `takes more than ${JOBS.backtest.memory} MiB of memory`,
  );
