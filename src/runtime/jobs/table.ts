/** Work on threads of its own. `load` imports the module in the thread; its `serve` returns the methods for the caller. */
import type { MessagePort } from 'node:worker_threads';
import type { Line } from '../../schedule/fair-queue.ts';

interface Job {
  /** Of the thread; a label of metrics. */
  readonly name: string;
  /** MiB: of old objects, and of young ones (default 12). */
  readonly memory?: number;
  readonly young?: number;
  /** After all other threads, if the system has priorities per thread. */
  readonly isLow?: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: each module declares its own data
  readonly load: () => Promise<{ serve(data: any, port: MessagePort): object }>;
}

interface AskedJob extends Job {
  /** For the error message. */
  readonly doing: string;
  /** ms */
  readonly time: number;
  readonly line: Line;
}

const QUESTIONS = {
  overlap: {
    ...{ name: 'worth', doing: 'computing the overlap of the lists of the workspace', time: 180_000, memory: 256, isLow: true },
    line: { running: 2, asked: { inAll: 256, ofWorkspace: 4 }, refusal: 'the overlap of too many lists is being computed' },
    load: () => import('./work/overlap.ts'),
  },
  difference: {
    ...{ name: 'difference', doing: 'comparing two states of a feed', time: 60_000, memory: 512, isLow: true },
    line: { running: 2, asked: { inAll: 64, ofWorkspace: 4 }, refusal: 'too many feeds are being compared' },
    load: () => import('./work/difference.ts'),
  },
  freeze: {
    ...{ name: 'freeze', doing: 'reading the feed', time: 60_000, memory: 512, isLow: true },
    line: { running: 2, asked: { inAll: 64, ofWorkspace: 2 }, refusal: 'too many feeds are being frozen' },
    load: () => import('./work/freeze.ts'),
  },
  past: {
    ...{ name: 'past', doing: 'reading the archive', time: 300_000, memory: 512, isLow: true },
    line: { running: 2, asked: { inAll: 64, ofWorkspace: 2 }, refusal: 'too much of the archive is being read' },
    load: () => import('./work/past.ts'),
  },
  sourceTry: {
    ...{ name: 'source-try', doing: 'trying it', time: 60_000, memory: 512, isLow: true },
    line: { running: 2, asked: { inAll: 64, ofWorkspace: 1 }, refusal: 'too many sources are being tried' },
    load: () => import('./work/source-try.ts'),
  },
} satisfies Record<string, AskedJob>;

export const JOBS = {
  ...QUESTIONS,
  archive: { name: 'archive', memory: 384, isLow: true, load: () => import('./work/archive.ts') },
  backtest: { name: 'backtest', memory: 256, isLow: true, load: () => import('./work/backtest.ts') },
  backtestPart: { name: 'backtest part', young: 24, load: () => import('./work/backtest-part.ts') },
  expressionTest: { name: 'expression test', memory: 128, load: () => import('./work/expression-test.ts') },
  /** 20,000 objects as rows and text. */
  file: { name: 'file', memory: 384, load: () => import('./work/file.ts') },
  /** 128 MiB of text as values. */
  sample: { name: 'sample', memory: 1024, young: 24, load: () => import('./work/sample.ts') },
} satisfies Record<string, Job>;

export type JobName = keyof typeof JOBS;
type Serve<N extends JobName> = Awaited<ReturnType<(typeof JOBS)[N]['load']>>['serve'];
export type JobData<N extends JobName> = Parameters<Serve<N>>[0];
export type JobMethods<N extends JobName> = Awaited<ReturnType<Serve<N>>>;
export type Question = keyof typeof QUESTIONS;
export type Answer<Q extends Question> = Awaited<ReturnType<JobMethods<Q>['answer']>>;
