/** Differences between two states of a feed, computed on a thread (SPEC D32.7). */
import type { DifferenceAsked, FeedDiffer, FeedDifference } from '../../../feed/whatif/difference/difference.ts';
import type { GeoData } from '../../../geo/data.ts';
import { fairQueue } from '../../../schedule/fair-queue.ts';
import { shared } from '../../../serial.ts';
import type { ReadingData } from '../reading.ts';
import { threadAnswer } from '../thread-answer.ts';

export interface DifferenceData extends ReadingData {
  readonly workspaceId: string;
  readonly asked: DifferenceAsked;
}

const LINE = { running: 2, asked: { inAll: 64, ofWorkspace: 4 }, refusal: 'too many feeds are being compared' };
const THREAD = { name: 'difference', doing: 'comparing two states of a feed', time: 60_000, memory: 512 };

interface Options extends Pick<DifferenceData, 'settings' | 'guardRails'> {
  readonly geo: () => GeoData;
}

/** Concurrent equal requests share a result; nothing is cached. */
export function feedDiffer({ settings, guardRails, geo }: Options): FeedDiffer {
  const once = shared<FeedDifference>();
  const line = fairQueue(LINE);
  const file = new URL('./difference.thread.ts', import.meta.url);
  return (workspaceId, asked) =>
    once(
      () => line(workspaceId, () => threadAnswer<FeedDifference>(file, { workspaceId, asked, settings, guardRails, geo: geo() }, THREAD)),
      `${workspaceId} ${JSON.stringify(asked)}`,
    );
}
