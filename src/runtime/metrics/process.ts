import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Worker } from 'node:worker_threads';
import { within } from '../../clock.ts';

/** Sampling of the event loop delay, ms. */
const RESOLUTION = 20;
/** Timeout of a busy thread, ms. */
const PATIENCE = 500;
const QUANTILES = [0.5, 0.99, 1] as const;

export interface ProcessReading {
  /** CPU seconds per running thread. */
  readonly threads: readonly { readonly name: string; readonly seconds: number }[];
  readonly cpuSeconds: number;
  /** Bytes. */
  readonly residentMemory: number;
  /** Seconds since 1970. */
  readonly startedAt: number;
  /** Of the main thread since the last reading, seconds. */
  readonly loopDelay: readonly { readonly quantile: number; readonly seconds: number }[];
}

export interface ProcessWatch {
  read(): Promise<ProcessReading>;
  close(): void;
}

/** Misses threads started before, and threads of threads. */
export function watchProcess(): ProcessWatch {
  const workers = new Set<Worker>();
  const onWorker = (worker: Worker) => {
    workers.add(worker);
    worker.once('exit', () => workers.delete(worker));
  };
  process.on('worker', onWorker);
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  delay.enable();

  return {
    async read() {
      const own = { name: 'main', seconds: secondsOf(process.threadCpuUsage()) };
      const others = [...workers].map(async (worker) => {
        const usage = await within(worker.cpuUsage(), PATIENCE, 'a thread').catch(() => undefined);
        return usage === undefined ? [] : [{ name: worker.threadName ?? 'other', seconds: secondsOf(usage) }];
      });
      const loopDelay = QUANTILES.map((quantile) => {
        const nanoseconds = delay.count === 0 ? 0 : delay.percentile(quantile * 100);
        return { quantile, seconds: Math.max(0, nanoseconds / 1e9 - RESOLUTION / 1000) };
      });
      delay.reset();
      return {
        threads: [own, ...(await Promise.all(others)).flat()],
        cpuSeconds: secondsOf(process.cpuUsage()),
        residentMemory: process.memoryUsage.rss(),
        startedAt: performance.timeOrigin / 1000,
        loopDelay,
      };
    },
    close() {
      process.off('worker', onWorker);
      delay.disable();
    },
  };
}

/** `usage` in µs. */
const secondsOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1e6;
