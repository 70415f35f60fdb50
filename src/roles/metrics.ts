/** What is measured of a process, and where it is served. */
import type { Config } from '../config.ts';
import { WeirError } from '../errors.ts';
import { metricsApp } from '../http/app.ts';
import type { MetricsPage } from '../http/metrics.ts';
import type { Log } from '../ports/log.ts';
import { urlOf } from '../runtime/address.ts';
import { type BuildCounts, newBuildCounts } from '../runtime/metrics/builds.ts';
import { type ProcessWatch, watchProcess } from '../runtime/metrics/process.ts';

/** What is measured where metrics are asked for, from before the engines start their threads. */
export function startMeasures({ metricsPort, metricsToken }: Config): { process: ProcessWatch; builds: BuildCounts } | undefined {
  if (metricsPort === undefined && metricsToken === undefined) return undefined;
  return { process: watchProcess(), builds: newBuildCounts() };
}

/** Serves the metrics on their own port, where one is set. Resolves with what ends that. */
export async function serveMetrics(
  page: MetricsPage,
  config: Config,
  draining: () => boolean,
  log: Log,
  report: (error: unknown) => void,
): Promise<() => Promise<void> | void> {
  const { metricsHost: host, metricsPort: port } = config;
  if (port === undefined) return () => {};
  const app = metricsApp(page, draining, report);
  const url = await app.listen({ host, port }).catch((error: Error) => {
    throw new WeirError('USAGE', `cannot listen on ${host}:${port} for metrics: ${error.message}`);
  });
  log('info', `metrics on ${urlOf(host, Number(new URL(url).port))}/metrics`);
  return app.close;
}
