/** Samples (SPEC D21), feed differences (D32.7), expression tests (D19.15), workspace files (D28.9). */

import { WeirError } from '../../errors.ts';
import type { FeedDiffer, FeedDifference } from '../../feed/whatif/difference/difference.ts';
import type { GeoData } from '../../geo/data.ts';
import type { ExpressionTester } from '../../manage/expressions/expression-test.ts';
import type { WorkspaceFiles } from '../../manage/file/file-port.ts';
import type { FeedFreezer } from '../../ports/stored/freeze-store.ts';
import type { TryRules } from '../../sample/judge.ts';
import { fairQueue } from '../../schedule/fair-queue.ts';
import { shared } from '../../serial.ts';
import type { FeedSource } from '../engines.ts';
import { answerOf, inBounds, onDemand } from './job.ts';
import { JOBS } from './table.ts';
import type { DifferenceData } from './work/difference.ts';
import type { FileData } from './work/file.ts';
import type { SampleData } from './work/sample.ts';

export function sampleThread({ databaseUrl, dataDir, schemesFile }: SampleData) {
  const { use, end } = onDemand('sample', () => [{ databaseUrl, dataDir, schemesFile }]);
  // One per workspace: many batches of one do not delay others.
  const tryRules: TryRules = (trial) => use((samples) => samples.tryRules(trial), trial.workspaceId);
  return { tryRules, close: end };
}

interface Options extends Pick<DifferenceData, 'settings' | 'guardRails'> {
  readonly geo: () => GeoData;
}

/** Concurrent equal requests share a result; nothing is cached. */
export function feedDiffer({ settings, guardRails, geo }: Options): FeedDiffer {
  const once = shared<FeedDifference>();
  const line = fairQueue(JOBS.difference.line);
  return (workspaceId, asked) =>
    once(
      () => line(workspaceId, () => answerOf('difference', { workspaceId, asked, settings, guardRails, geo: geo() })),
      `${workspaceId} ${JSON.stringify(asked)}`,
    );
}

export function feedFreezer({ settings, guardRails, geo }: Options): FeedFreezer {
  const line = fairQueue(JOBS.freeze.line);
  return (workspaceId, feedId) => line(workspaceId, () => answerOf('freeze', { workspaceId, feedId, settings, guardRails, geo: geo() }));
}

/** Including the thread's start; idle time, ms. */
const TEST = { limit: 5000, idle: 60_000 };

/** `schemesFile`: SCHEMES_FILE. All tests in sequence on one thread: their authors determine the time. */
export function expressionTester(schemesFile: string | undefined): ExpressionTester {
  const { use, kill } = onDemand('expressionTest', () => [{ schemesFile }], TEST.idle);
  return (input) =>
    use(({ test }) =>
      inBounds(test(input), TEST.limit, tooMuch).catch(async (error) => {
        await kill();
        throw error;
      }),
    );
}

const tooMuch = () => new WeirError('REFUSED', 'the expression takes too long or too much memory on this request');

/** ms; ending the thread frees the heap of a large file. */
const FILE_IDLE = 10_000;

/** One file per workspace at a time. */
export function fileThread(newSource: () => FeedSource, settings: FileData['settings']): WorkspaceFiles & { close(): Promise<void> } {
  const { use, end } = onDemand(
    'file',
    () => {
      const source = newSource();
      return [{ source, settings }, 'writes' in source ? [source.writes] : []];
    },
    FILE_IDLE,
  );
  return {
    exported: (about) => use((files) => files.exported(about), about.workspaceId),
    applied: (about, given) => use((files) => files.applied(about, given), about.workspaceId),
    close: end,
  };
}
