import { systemClock } from '../clock.ts';
import { WeirError } from '../errors.ts';
import { metricsApp } from '../http/app.ts';
import type { Authenticator } from '../http/auth/authenticator.ts';
import type { MetricsPage } from '../http/metrics.ts';
import type { Check } from '../ports/health.ts';
import type { Log } from '../ports/log.ts';
import { urlOf } from '../runtime/address.ts';
import { metricsPage } from '../runtime/metrics/metrics.ts';
import type { Config } from '../settings/settings.ts';
import type { Base } from './base.ts';
import type { Landing } from './consumer.ts';
import type { Feeds } from './feeds.ts';
import type { Sources } from './sources.ts';
import type { Seen } from './usage.ts';

const DEAD_LETTERS_COUNTED = 10_000;

export function metricsOf(
  { config, store, geo, feedThread, measures, tls }: Base,
  { counts, past }: Pick<Seen, 'counts' | 'past'>,
  { cache, waiting }: Pick<Feeds, 'cache' | 'waiting'>,
  landing: Landing | undefined,
  ready: () => Promise<Record<string, Check>>,
  { refuse }: Pick<Authenticator, 'refuse'>,
  sources: Sources | undefined,
): MetricsPage | undefined {
  if (measures === undefined) return undefined;
  const render = metricsPage({
    http: counts,
    readiness: ready,
    landed: landing && (async () => (await landing()).landed ?? 0),
    deadLetters: landing && (() => store.deadLetterCount(DEAD_LETTERS_COUNTED)),
    builds: feedThread && measures.builds,
    feeds: cache,
    waiting,
    devices: past?.counts,
    endingKeys: past?.endingKeys,
    sources: sources && (() => [...sources.known.values()].map(({ record: { source }, state }) => ({ source, state }))),
    geo: geo.data,
    certificateExpiry: tls?.expiresAt,
    process: measures.process,
    now: systemClock.now,
  });
  return { render, token: config.metricsToken, refuse: (call) => refuse('signal', call) };
}

/** Serves the metrics port, if set. Resolves with a function that closes it. */
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
