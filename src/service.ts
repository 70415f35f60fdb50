/** The composition root: opens the engines, starts the roles, stops them in order. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Schemes } from '@weir/expression/scheme.ts';
import about from '../package.json' with { type: 'json' };
import { areOff, mayBlock } from './account/guard-rails.ts';
import { Bouncers } from './bouncers/serve/bouncers.ts';
import { findDecisions } from './bouncers/serve/find-decisions.ts';
import { bouncerLog, writeBouncers } from './bouncers/serve/ledger.ts';
import { systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { FeedWatch } from './document/watch/feed-watch.ts';
import { WeirError } from './errors.ts';
import { activityCounter } from './http/activity.ts';
import { agentEndpoint } from './http/agent/answer.ts';
import { createApp } from './http/app.ts';
import { authenticator } from './http/auth/authenticator.ts';
import { bouncerEndpoints } from './http/bouncers/answer.ts';
import { newHttpCounts } from './http/counts.ts';
import { deviceLedger, pollOf } from './http/device-ledger.ts';
import { feedEndpoint } from './http/feeds/answer.ts';
import { documentEndpoint } from './http/feeds/document.ts';
import type { MetricsPage } from './http/metrics.ts';
import { rulesEndpoint } from './http/rules/answer.ts';
import { signalSubmission } from './http/signals/submit.ts';
import { clientAddress } from './http/source.ts';
import { accessLog } from './http/watch/access-log.ts';
import type { ProcessStatus } from './manage/status.ts';
import type { Log } from './ports/log.ts';
import { documentCache, feedReport, forecastFrom } from './roles/feeds.ts';
import { managePorts, resumeLeftBehind } from './roles/manage.ts';
import { serveMetrics, startMeasures } from './roles/metrics.ts';
import { acceptBatches } from './roles/signals.ts';
import { localUrlOf, urlOf } from './runtime/address.ts';
import { startAuditLog } from './runtime/audit-log.ts';
import { loggedChecks } from './runtime/check-log.ts';
import type { LandingReport } from './runtime/consumer-role.ts';
import { dataDirWarning, openDataDir } from './runtime/data-dir.ts';
import { startEngine } from './runtime/engines.ts';
import { everyMinute } from './runtime/every-minute.ts';
import { startFailureLog } from './runtime/failed-keys.ts';
import { loadFeedThread, startFeedThread } from './runtime/feeds.ts';
import { ensureFirstKey, keyLine, welcome } from './runtime/first-key.ts';
import { loadGeoData, useGeo } from './runtime/geo.ts';
import { startGeoUpdates } from './runtime/geo-updates.ts';
import { GUARD_RAILS_OFF, serviceGuardRails } from './runtime/guard-rails.ts';
import { startKeyUsage } from './runtime/key-usage.ts';
import { createLogger } from './runtime/logging.ts';
import { refuseLostStore } from './runtime/lost-store.ts';
import { countBuilds } from './runtime/metrics/builds.ts';
import { metricsPage } from './runtime/metrics/metrics.ts';
import { startPast } from './runtime/past.ts';
import { readiness } from './runtime/readiness.ts';
import { sampleThread } from './runtime/sample-thread.ts';
import { readSchemes } from './runtime/schemes.ts';
import { type StatusFile, startStatusFile } from './runtime/status-file.ts';
import { useTls } from './runtime/tls.ts';
import { startTracing } from './runtime/tracing.ts';
import type { WaitingThread } from './runtime/waiting-thread.ts';
import type { WriterData } from './runtime/writer.ts';
import { shared } from './serial.ts';
import { watchAppends } from './stream/append-watch.ts';
import { unlanded } from './stream/lag.ts';

export interface ServiceOptions {
  /** Where the first key and the ready line are printed. */
  readonly stdout: NodeJS.WritableStream;
  /** The writer thread, where it has been started before. */
  readonly writer?: WaitingThread<WriterData> | undefined;
}

export interface Service {
  /** The URL under which clients on this machine reach the service. */
  readonly url: string;
  /** Reads the operator's geo files again (SIGHUP). */
  reload(): Promise<void>;
  /** Stops: not ready from now on, requests served for the drain time, then what is in flight is finished and everything closed. */
  stop(): Promise<void>;
}

/** Longest time that stopping takes after the drain time, ms; the process has 10 s. */
const STOP_LIMIT = 8_000;

/** In ms. */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Dead letters that metrics count at most. */
const DEAD_LETTERS_COUNTED = 10_000;

const { now, monotonic } = systemClock;

/** Starts every role of the configuration. Nothing is served before the ready line; when a step fails, what was opened is closed again. */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const closing: Close[] = [];
  try {
    return await start(config, options, closing);
  } catch (error) {
    await closeAll(closing);
    throw error;
  }
}

/** The steps of a start; each puts into `closing` what closes what it has opened. */
async function start(config: Config, { stdout, writer }: ServiceOptions, closing: Close[]): Promise<Service> {
  const secrets = [config.bootstrapApiKey, config.metricsToken].filter((secret) => secret !== undefined);
  const logger = createLogger(config.logLevel, undefined, secrets);
  const log: Log = (level, message) => logger[level](message);
  let draining = false;
  let statusFile: StatusFile | undefined;

  // Without an embedded engine it holds compiled geo data only, which can be missing.
  if (config.databaseUrl === undefined || config.kafkaBrokers === undefined) {
    openDataDir(config.dataDir);
    const warning = dataDirWarning(config.dataDir);
    if (warning !== undefined) logger.warn(warning);
  }
  const tls = useTls(config, log);
  closing.push(() => tls?.close());
  const loadingGeo = loadGeoData(config, now, log);
  // Awaited below; a fault there must not count as unhandled until then.
  loadingGeo.catch(() => undefined);
  const schemes = await schemesOf(config, loadingGeo);
  // It loads its part while this thread waits for the writer, and makes what is served.
  const feeds = config.roles.includes('feeds') ? loadFeedThread() : undefined;
  const measures = startMeasures(config);
  closing.push(() => measures?.process.close());
  const tracing = config.otelEndpoint === undefined ? undefined : await startTracing(config.otelEndpoint, about.version, log);
  closing.push(() => tracing?.close());
  const engine = await startEngine(config, log, (landing) => tracing?.landed(landing), writer);
  closing.push(() => engine.close());
  const { store, stream } = engine;
  await refuseLostStore(store, stream);
  const geoData = await loadingGeo;
  const guardRails = serviceGuardRails(config);
  const rules = { guardRails, schemesFile: config.schemesFile };
  const feedThread = feeds && startFeedThread(() => engine.feedSource(), geoData, rules, feeds);
  closing.push(() => feedThread?.close());
  const geo = useGeo(
    config,
    geoData,
    (data) => {
      feedThread?.useGeo(data).catch((err: Error) => logger.error({ err }, 'the feed thread did not take the new geo data'));
    },
    log,
  );
  closing.push(() => geo.close());
  const { geoUpdateHours } = config;
  if (geoUpdateHours !== undefined) {
    closing.push(startGeoUpdates({ settings: config, every: geoUpdateHours * HOUR, inUse: geo.data, log }));
  }

  const watch = new FeedWatch((level, message) => {
    log(level, message);
    statusFile?.soon();
  }, now);
  const takesSignals = config.roles.includes('signals');
  const appends = watchAppends(stream, monotonic, log);
  const forecast = feedThread && forecastFrom(feedThread, config, engine, geo, watch, log);
  const landingNow = config.roles.includes('consumer') ? await engine.land() : undefined;
  const asking = shared<LandingReport>();
  const landing = landingNow && (() => asking(landingNow));
  const counts = newHttpCounts();
  const addressOf = clientAddress(config.trustProxy);
  // Where nobody can ask for it nothing is counted.
  const activity = config.roles.includes('manage') ? activityCounter(now) : undefined;
  if (activity !== undefined) {
    const timer = setInterval(() => void activity.turn(store), MINUTE).unref();
    closing.push(() => clearInterval(timer));
  }
  const devices = feedThread && deviceLedger(now);
  const onInvalid: Parameters<typeof authenticator>[0]['onInvalid'] =
    devices &&
    ((group, { request, ip }, digest) => {
      if (group !== 'signal' && request !== undefined) devices.noteRefused(digest, pollOf(request, ip, { status: 401 }));
    });
  const authentication = authenticator({ store, now, monotonic, counts, ...(onInvalid && { onInvalid }) });
  const past = devices && startPast({ store, devices, sizes: watch.sizes, log, now });
  closing.push(() => past?.stop());
  closing.push(startFailureLog(authentication.takeFailed, log));
  closing.push(startKeyUsage(authentication.takeUsed, store, (err) => logger.warn({ err }, 'the last use of keys could not be written')));

  const ready = loggedChecks(
    readiness({
      store,
      stream: takesSignals ? { ping: () => appends.check() } : landing && stream,
      landing,
      lag: () => unlanded(stream, store),
      feeds: feedThread,
      draining: () => draining,
      now,
    }),
    log,
  );
  const cache =
    feedThread &&
    documentCache(
      measures ? countBuilds(feedThread, measures.builds, monotonic) : feedThread,
      config,
      engine,
      geo,
      watch,
      authentication.keyRevision,
      logger,
    );
  const bouncers = new Bouncers(bouncerLog(log, now));
  if (cache !== undefined) {
    closing.push(everyMinute(writeBouncers(bouncers, store, now, (err) => logger.warn({ err }, 'the bouncers could not be written'))));
  }
  const decisions = cache && feedThread && findDecisions(cache, (request) => feedThread.decisions(request), monotonic);
  const documents = cache && documentEndpoint(cache, now, feedReport(logger));
  const metrics: MetricsPage | undefined = measures && {
    render: metricsPage({
      http: counts,
      readiness: ready,
      landed: landing && (async () => (await landing()).landed ?? 0),
      deadLetters: landing && (() => store.deadLetterCount(DEAD_LETTERS_COUNTED)),
      builds: feedThread && measures.builds,
      feeds: cache,
      devices: past?.counts,
      geo: geo.data,
      certificateExpiry: tls?.expiresAt,
      process: measures.process,
      now,
    }),
    token: config.metricsToken,
    refuse: (call) => authentication.refuse('signal', call),
  };

  const startedAt = now();
  let url = '';
  const ownStatus = async (): Promise<ProcessStatus> => ({
    pid: process.pid,
    url,
    roles: config.roles,
    startedAt,
    checks: await ready(),
    feeds: watch.feeds(),
  });

  const managed = config.roles.includes('manage');
  const samples = sampleThread(config);
  closing.push(() => samples.close());
  const judges = { schemes, geo, guardRails, forecast, tryRules: samples.tryRules, counts, noteEntries: activity?.entries };
  const accept = takesSignals || managed ? acceptBatches(store, appends, config, judges, logger) : undefined;
  const management =
    managed && accept
      ? managePorts({
          ...{ config, engine, accept, judges, activity, watch, cache, feedThread, geo, ownStatus },
          report: (err) => logger.error({ err }, 'a backtest failed'),
        })
      : undefined;
  if (management !== undefined) closing.push(resumeLeftBehind(management, log));
  const app = createApp({
    settings: config,
    authenticator: authentication,
    submitSignals: takesSignals && accept ? signalSubmission({ accept, forecast }) : undefined,
    answerFeed: documents && feedEndpoint(documents),
    answerRules: documents && rulesEndpoint(documents),
    answerAgent: documents && agentEndpoint(documents),
    bouncers: decisions && bouncerEndpoints({ decisions, bouncers, now, monotonic, report: feedReport(logger) }),
    manage: management,
    readiness: ready,
    draining: () => draining,
    now,
    monotonic,
    counts,
    metrics,
    devices,
    activity,
    access: config.accessLog ? accessLog((line) => logger.info(line, 'request'), addressOf) : undefined,
    tls,
    tracer: tracing,
    logger,
  });
  // Only the ports can still be refused: a key that is made now is always shown.
  const { made, shown: firstKey } = await ensureFirstKey(config.bootstrapApiKey, store, now(), log);
  const scheme = tls === undefined ? 'http' : 'https';
  const listen = async () => {
    const address = await app.listen({ host: config.host, port: config.port }).catch((error: Error) => {
      throw new WeirError('USAGE', `cannot listen on ${config.host}:${config.port}: ${error.message}`);
    });
    log('info', `listening on ${address}`);
    closing.push(() => app.close());
    const report = (err: unknown) => logger.error({ err }, 'the metrics could not be read');
    if (metrics !== undefined) closing.push(await serveMetrics(metrics, config, () => draining, log, report));
  };
  await listen().catch((error: Error) => {
    if (firstKey !== undefined) stdout.write(`${keyLine(firstKey)}\n`);
    throw error;
  });
  closing.push(startAuditLog(store, log));
  if (made && areOff(guardRails)) log('warn', GUARD_RAILS_OFF);

  const { port } = app.server.address() as { port: number };
  url = localUrlOf(config.host, port, scheme);
  if (firstKey !== undefined) stdout.write(`${welcome(config.baseUrl ?? url, firstKey, mayBlock(guardRails))}\n`);
  statusFile = startStatusFile(config.dataDir, ownStatus, log);
  closing.push(statusFile.stop);
  stdout.write(`weir ready on ${urlOf(config.host, port, scheme)}\n`);
  return {
    url,
    async reload() {
      tls?.reload();
      await geo.reload();
    },
    async stop() {
      draining = true;
      await sleep(config.drainSeconds * 1000);
      await Promise.race([closeAll(closing), sleep(STOP_LIMIT, undefined, { ref: false })]);
    },
  };
}

type Close = () => Promise<void> | void;

/** Closes in the reverse order of opening. */
async function closeAll(closing: Close[]): Promise<void> {
  for (const close of closing.splice(0).reverse()) await close();
}

/** The schemes of the configuration; rejects with every fault in its files at once, those of the geo data included. */
async function schemesOf({ schemesFile }: Config, loadingGeo: Promise<unknown>): Promise<Schemes> {
  try {
    return readSchemes(schemesFile);
  } catch (fault) {
    const [geo] = await Promise.allSettled([loadingGeo]);
    if (geo.status === 'fulfilled') throw fault;
    throw new WeirError('USAGE', `${(fault as Error).message}\n${(geo.reason as Error).message}`);
  }
}
