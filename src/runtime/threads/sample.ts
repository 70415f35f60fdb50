/** The sample thread as the main thread sees it: rules are tried on samples where no request waits for it. Started when first needed. */
import type { TryRules } from '../../sample/judge.ts';
import { oneByOne } from '../../serial.ts';
import type { Config } from '../../settings/settings.ts';
import { reviving } from './rpc.ts';
import { startWaiting } from './waiting-thread.ts';

/** What the thread works with. */
export type SampleThreadData = Pick<Config, 'databaseUrl' | 'dataDir' | 'schemesFile'>;

export interface SampleThreadMethods {
  tryRules: TryRules;
  /** Closes the store and ends the thread. */
  shutdown(): Promise<void>;
}

/** Makes the thread available; where it dies, what it was asked rejects, and the next question starts another. */
export function sampleThread({ databaseUrl, dataDir, schemesFile }: SampleThreadData) {
  const inTurn = oneByOne();
  const { thread, end } = reviving<SampleThreadMethods>(() =>
    startWaiting<SampleThreadData>(new URL('./sample.thread.ts', import.meta.url), {
      name: 'sample',
      // Samples of 128 MiB of text, several times that as values.
      resourceLimits: { maxYoungGenerationSizeMb: 24, maxOldGenerationSizeMb: 1024 },
    }).begin({ databaseUrl, dataDir, schemesFile }),
  );
  // A workspace has one trial under way: however many batches it sends, those of others wait for no more than that.
  const tryRules: TryRules = (trial) => inTurn(() => thread().tryRules(trial), trial.workspaceId);
  return { tryRules, close: end };
}
