import type { BuildResult, DocumentBuilder } from '../../feed/builder.ts';
import { type Histogram, newHistogram, observe } from '../../histogram.ts';

/** A small feed takes milliseconds, 131,072 rules a quarter of a second. */
const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];
const BYTES = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8];

/** `failed`: store failure or defect. */
export type BuildOutcome = BuildResult['kind'] | 'failed';

export interface BuildCounts {
  /** Including the wait for the feed thread. */
  readonly seconds: Map<BuildOutcome, Histogram>;
  readonly bytes: Histogram;
}

export const newBuildCounts = (): BuildCounts => ({ seconds: new Map(), bytes: newHistogram(BYTES) });

/** `monotonic`: ms. */
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
