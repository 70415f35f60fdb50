/** Tests rules on samples, off the main thread. */
import type { TryRules } from '../../sample/judge.ts';
import { oneByOne } from '../../serial.ts';
import type { Config } from '../../settings/settings.ts';
import { reviving } from './rpc.ts';
import { startWaiting } from './waiting-thread.ts';

export type SampleThreadData = Pick<Config, 'databaseUrl' | 'dataDir' | 'schemesFile'>;

export interface SampleThreadMethods {
  tryRules: TryRules;
  shutdown(): Promise<void>;
}

/** Restarts a dead thread; pending calls reject. */
export function sampleThread({ databaseUrl, dataDir, schemesFile }: SampleThreadData) {
  const inTurn = oneByOne();
  const { thread, end } = reviving<SampleThreadMethods>(() =>
    startWaiting<SampleThreadData>(new URL('./sample.thread.ts', import.meta.url), {
      name: 'sample',
      // For 128 MiB of text as values.
      resourceLimits: { maxYoungGenerationSizeMb: 24, maxOldGenerationSizeMb: 1024 },
    }).begin({ databaseUrl, dataDir, schemesFile }),
  );
  // One per workspace: many batches of one do not delay others.
  const tryRules: TryRules = (trial) => inTurn(() => thread().tryRules(trial), trial.workspaceId);
  return { tryRules, close: end };
}
