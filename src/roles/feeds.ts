/** The role `feeds`: what is polled, and what signals would change of it. */
import type { Logger } from 'pino';
import { Bouncers } from '../bouncers/serve/bouncers.ts';
import { findDecisions } from '../bouncers/serve/find-decisions.ts';
import { bouncerLog, writeBouncers } from '../bouncers/serve/ledger.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { DocumentBuilder } from '../document/builder.ts';
import { DocumentCache } from '../document/serve/cache.ts';
import type { FeedWatch } from '../document/watch/feed-watch.ts';
import { type FeedForecast, feedForecast } from '../document/watch/forecast.ts';
import { agentEndpoint } from '../http/agent/answer.ts';
import { bouncerEndpoints } from '../http/bouncers/answer.ts';
import { feedEndpoint } from '../http/feeds/answer.ts';
import { documentEndpoint } from '../http/feeds/document.ts';
import { rulesEndpoint } from '../http/rules/answer.ts';
import type { Served } from '../http/served.ts';
import type { Log } from '../ports/log.ts';
import type { Engine } from '../runtime/engines.ts';
import { everyMinute } from '../runtime/every-minute.ts';
import type { FeedThread } from '../runtime/feeds.ts';
import type { GeoInUse } from '../runtime/geo.ts';
import { caughtUp } from '../stream/lag.ts';

/** Logs a build that failed. */
export const feedReport = (logger: Logger) => (err: Error) => logger.error({ err }, 'a feed could not be built from the store');

/** The documents that are served, and the builder behind them. */
export function documentCache(
  builder: DocumentBuilder,
  config: Config,
  engine: Engine,
  geo: GeoInUse,
  watch: FeedWatch,
  keyRevision: () => number | undefined,
  logger: Logger,
): DocumentCache {
  return new DocumentCache({
    store: engine.store,
    builder,
    clock: systemClock,
    rebuildSeconds: config.feedRebuildSeconds,
    bodyBytes: config.feedCacheMb * 1024 * 1024,
    geoVersion: () => geo.database().version,
    zlib: `${process.versions.zlib}-${process.arch}`,
    keyRevision,
    watch,
    caughtUp: waitForLanding(config, engine),
    report: feedReport(logger),
  });
}

/** Waits until what was accepted before has landed; undefined where another process lands. */
const waitForLanding = ({ roles }: Config, { store, stream }: Engine) =>
  roles.includes('consumer')
    ? async () => {
        await caughtUp(stream, store);
      }
    : undefined;

/** Tells what signals would change of feeds. */
export const forecastFrom = (
  previewer: FeedThread,
  config: Config,
  engine: Engine,
  geo: GeoInUse,
  watch: FeedWatch,
  log: Log,
): FeedForecast =>
  feedForecast({ previewer, watch, geo: () => geo.database(), caughtUp: waitForLanding(config, engine), clock: systemClock, log });

/** What answers the addresses that are polled; `close` writes last who pulls decisions. */
export function startPolled(
  cache: DocumentCache,
  feedThread: FeedThread,
  store: Engine['store'],
  log: Log,
  logger: Logger,
): { readonly served: Served; close(): Promise<void> | void } {
  const { now, monotonic } = systemClock;
  const report = feedReport(logger);
  const bouncers = new Bouncers(bouncerLog(log, now));
  const decisions = findDecisions(cache, (request) => feedThread.decisions(request), monotonic);
  const documents = documentEndpoint(cache, now, report);
  const served = {
    answerFeed: feedEndpoint(documents),
    answerRules: rulesEndpoint(documents),
    answerAgent: agentEndpoint(documents),
    bouncers: bouncerEndpoints({ decisions, bouncers, now, monotonic, report }),
  };
  const onError = (err: Error) => logger.warn({ err }, 'the bouncers could not be written');
  return { served, close: everyMinute(writeBouncers(bouncers, store, now, onError)) };
}
