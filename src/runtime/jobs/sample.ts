/** Tests rules on samples, off the main thread. */
import type { TryRules } from '../../sample/judge.ts';
import { oneByOne } from '../../serial.ts';
import { onDemand } from './job.ts';
import type { SampleData } from './work/sample.ts';

export function sampleThread({ databaseUrl, dataDir, schemesFile }: SampleData) {
  const inTurn = oneByOne();
  const { use, end } = onDemand('sample', () => [{ databaseUrl, dataDir, schemesFile }]);
  // One per workspace: many batches of one do not delay others.
  const tryRules: TryRules = (trial) => inTurn(() => use((samples) => samples.tryRules(trial)), trial.workspaceId);
  return { tryRules, close: end };
}
