/** What is measured of a process, from before its engines start their threads. */

import { type BuildCounts, newBuildCounts } from '../runtime/metrics/builds.ts';
import { type ProcessWatch, watchProcess } from '../runtime/metrics/process.ts';
import type { Config } from '../settings/settings.ts';

/** What is measured. */
export interface MetricsRegistry {
  readonly process: ProcessWatch;
  readonly builds: BuildCounts;
}

/** Begins to measure; undefined where nobody asks for metrics. */
export function startMetricsRegistry({ metricsPort, metricsToken }: Config): MetricsRegistry | undefined {
  if (metricsPort === undefined && metricsToken === undefined) return undefined;
  return { process: watchProcess(), builds: newBuildCounts() };
}
