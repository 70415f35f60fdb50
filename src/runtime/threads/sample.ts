/** The sample thread as the main thread sees it: rules are tried on samples where no request waits for it. Started when first needed. */
import type { Worker } from 'node:worker_threads';
import type { TryRules } from '../../sample/judge.ts';
import { oneByOne } from '../../serial.ts';
import type { Config } from '../../settings/settings.ts';
import { remoteCalls } from './rpc.ts';
import { startWaiting } from './waiting-thread.ts';

/** What the thread works with. */
export type SampleThreadData = Pick<Config, 'databaseUrl' | 'dataDir' | 'schemesFile'>;

export interface SampleThreadMethods {
  tryRules: TryRules;
  /** Closes the store and ends the thread. */
  shutdown(): Promise<void>;
}

export interface SampleThread {
  readonly tryRules: TryRules;
  close(): Promise<void>;
}

/** Makes the thread available; where it dies, what it was asked rejects, and the next question starts another. */
export function sampleThread({ databaseUrl, dataDir, schemesFile }: SampleThreadData): SampleThread {
  let running: { readonly worker: Worker; readonly methods: SampleThreadMethods } | undefined;
  const inTurn = oneByOne();

  function thread() {
    if (running !== undefined) return running;
    const { begin } = startWaiting<SampleThreadData>(new URL('./sample.thread.ts', import.meta.url), {
      name: 'sample',
      // Samples of 128 MiB of text, several times that as values.
      resourceLimits: { maxOldGenerationSizeMb: 1024 },
    });
    const worker = begin({ databaseUrl, dataDir, schemesFile });
    const started = { worker, methods: remoteCalls<SampleThreadMethods>(worker) };
    const ended = () => {
      if (running === started) running = undefined;
    };
    worker.on('error', ended).on('exit', ended);
    running = started;
    return started;
  }

  return {
    // A workspace has one trial under way: however many batches it sends, those of others wait for no more than that.
    tryRules: (trial) => inTurn(() => thread().methods.tryRules(trial), trial.workspaceId),
    async close() {
      await running?.methods.shutdown();
      await running?.worker.terminate();
    },
  };
}
