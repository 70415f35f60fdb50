import { type BuildCounts, newBuildCounts } from '../runtime/metrics/builds.ts';
import { type ProcessWatch, watchProcess } from '../runtime/metrics/process.ts';
import type { Config } from '../settings/settings.ts';

export interface MetricsRegistry {
  readonly process: ProcessWatch;
  readonly builds: BuildCounts;
}

export function startMetricsRegistry({ metricsPort, metricsToken }: Config): MetricsRegistry | undefined {
  if (metricsPort === undefined && metricsToken === undefined) return undefined;
  return { process: watchProcess(), builds: newBuildCounts() };
}
