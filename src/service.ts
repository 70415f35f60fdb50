/** The composition root. Components start in this order and stop in reverse. */

import { setTimeout as sleep } from 'node:timers/promises';
import { before, systemClock } from './clock.ts';
import { createApp } from './http/app.ts';
import { accessLog } from './http/monitor/access-log.ts';
import { clientAddress } from './http/source.ts';
import type { ProcessStatus } from './manage/status.ts';
import type { Log } from './ports/log.ts';
import { startArchive } from './roles/archive.ts';
import { startBase } from './roles/base.ts';
import type { Close, Common } from './roles/component.ts';
import { readinessOf, startLanding } from './roles/consumer.ts';
import { startFeeds } from './roles/feeds.ts';
import { startManage } from './roles/manage.ts';
import { metricsOf } from './roles/metrics.ts';
import { openPeople } from './roles/people.ts';
import { announce, listen } from './roles/serve.ts';
import { startSignals } from './roles/signals.ts';
import { startSources } from './roles/sources.ts';
import { startKeys, startSeen } from './roles/usage.ts';
import { startWebhooks } from './roles/webhooks.ts';
import { serviceGuardRails } from './runtime/guard-rails.ts';
import { createLogger } from './runtime/logging.ts';
import { judgingSettings } from './runtime/served-settings.ts';
import type { WaitingThread } from './runtime/threads/waiting-thread.ts';
import type { WriterData } from './runtime/threads/writer.ts';
import type { Config } from './settings/settings.ts';
import { watchAppends } from './stream/append-watch.ts';

export interface ServiceOptions {
  readonly stdout: NodeJS.WritableStream;
  readonly writer?: WaitingThread<WriterData> | undefined;
  /** Descriptor of a listening socket, instead of HOST and PORT. */
  readonly socket?: number | undefined;
}

export interface Service {
  readonly url: string;
  /** Reloads the operator's files: certificate, OIDC_FILE, geo data (SIGHUP). */
  reload(): Promise<void>;
  /** Fails readiness, serves requests for the drain time, completes those in progress, closes everything. */
  stop(): Promise<void>;
}

/** Limit of stopping after the drain time, ms; the process has 10 s. */
const STOP_LIMIT = 8_000;

const { now, monotonic } = systemClock;

/** Serves nothing before the ready line. If a step fails, closes what was opened. */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const closing: Close[] = [];
  const secrets = [config.bootstrapApiKey, config.metricsToken, config.webhookSecret].filter((secret) => secret !== undefined);
  const logger = createLogger(config.logLevel, undefined, secrets);
  const log: Log = (level, message) => logger[level](message);
  try {
    return await start({ config, logger, log, onStop: (close) => void closing.push(close) }, options, () => closeAll(closing));
  } catch (error) {
    await closeAll(closing);
    throw error;
  }
}

async function start(common: Common, { stdout, writer, socket }: ServiceOptions, close: () => Promise<void>): Promise<Service> {
  const { config, logger, log } = common;
  const stopping = new AbortController();
  const draining = () => stopping.signal.aborted;
  const address = Promise.withResolvers<string>();

  const people = await openPeople(config, log);
  const base = await startBase(common, writer);
  const landing = await startLanding(base);
  const seen = startSeen(base);
  const authentication = startKeys(base, seen);
  const feeds = startFeeds(base, seen, authentication.keyRevision, stopping.signal);
  const appends = watchAppends(base.stream, monotonic, log);
  const signals = startSignals(base, seen, feeds, appends);
  const sources = startSources(base, signals);
  const ready = readinessOf(base, landing, appends, draining);
  const startedAt = now();
  const ownStatus = async (): Promise<ProcessStatus> => ({
    pid: process.pid,
    url: await address.promise,
    roles: config.roles,
    startedAt,
    checks: await ready(),
    feeds: seen.watch.feeds(),
    judges: judgingSettings(config, serviceGuardRails(config)),
  });
  const metrics = metricsOf(base, seen, feeds, landing, ready, authentication, sources);
  const manage = startManage(base, seen, feeds, signals, ownStatus, sources);
  startWebhooks(base, manage, ownStatus);
  startArchive(base);
  const app = createApp({
    settings: config,
    authenticator: authentication,
    people,
    submitSignals: signals.submitSignals,
    ...feeds.answers,
    manage,
    readiness: ready,
    draining,
    now,
    monotonic,
    counts: seen.counts,
    metrics,
    devices: seen.devices,
    peers: seen.peers,
    activity: seen.activity,
    access: config.accessLog ? accessLog((line) => logger.info(line, 'request'), clientAddress(config.trustProxy)) : undefined,
    tls: base.tls,
    tracer: base.tracing,
    logger,
  });
  const serving = { app, metrics, draining, stdout, socket };
  const url = await listen(base, serving);
  address.resolve(url);
  announce(base, seen, ownStatus, serving);
  return {
    url,
    async reload() {
      base.tls?.reload();
      people?.reload();
      await base.geo.reload();
    },
    async stop() {
      stopping.abort();
      await sleep(config.drainSeconds * 1000);
      await before(close(), STOP_LIMIT);
    },
  };
}

async function closeAll(closing: Close[]): Promise<void> {
  for (const close of closing.splice(0).reverse()) await close();
}
