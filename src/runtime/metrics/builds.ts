/** How long builds of feeds take and how large they are. */
import type { BuildResult, DocumentBuilder } from '../../feed/builder.ts';
import { type Histogram, newHistogram, observe } from '../../histogram.ts';

/** Bounds of the times of builds, seconds: a small feed takes milliseconds, one of 131,072 rules a quarter of a second. */
const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];
/** Bounds of the sizes of feeds, bytes. */
const BYTES = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8];

/** What came of a build; `failed`: the store did not answer, or it was a defect. */
export type BuildOutcome = BuildResult['kind'] | 'failed';

/** The builds since the start of the process. */
export interface BuildCounts {
  /** Seconds from asking for a build to having it, waiting for the feed thread included. */
  readonly seconds: Map<BuildOutcome, Histogram>;
  /** The bytes of each body that was built, before compression. */
  readonly bytes: Histogram;
}

/** No build yet. */
export const newBuildCounts = (): BuildCounts => ({ seconds: new Map(), bytes: newHistogram(BYTES) });

/** The same builder, counting what it builds. `monotonic`: ms. */
export function countBuilds(builder: DocumentBuilder, { seconds, bytes }: BuildCounts, monotonic: () => number): DocumentBuilder {
  const count = (outcome: BuildOutcome, begun: number) => {
    const times = seconds.get(outcome) ?? newHistogram(SECONDS);
    seconds.set(outcome, times);
    observe(times, (monotonic() - begun) / 1000);
  };
  return {
    forget: builder.forget,
    async build(request) {
      const begun = monotonic();
      try {
        const result = await builder.build(request);
        count(result.kind, begun);
        if (result.kind === 'document') observe(bytes, result.bytes.length);
        return result;
      } catch (error) {
        count('failed', begun);
        throw error;
      }
    },
  };
}
