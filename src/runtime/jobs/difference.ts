/** Differences between two states of a feed, computed on a thread (SPEC D32.7). */
import type { FeedDiffer, FeedDifference } from '../../feed/whatif/difference/difference.ts';
import type { GeoData } from '../../geo/data.ts';
import { fairQueue } from '../../schedule/fair-queue.ts';
import { shared } from '../../serial.ts';
import { answerOf } from './job.ts';
import { JOBS } from './table.ts';
import type { DifferenceData } from './work/difference.ts';

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
