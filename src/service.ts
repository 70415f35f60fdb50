/** The composition root: the parts of a process in the order in which they start; they stop in the reverse order. */

import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from './clock.ts';
import { createApp } from './http/app.ts';
import { accessLog } from './http/monitor/access-log.ts';
import { clientAddress } from './http/source.ts';
import type { ProcessStatus } from './manage/status.ts';
import type { Log } from './ports/log.ts';
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
  /** Where the first key and the ready line are printed. */
  readonly stdout: NodeJS.WritableStream;
  /** The writer thread, where it has been started before. */
  readonly writer?: WaitingThread<WriterData> | undefined;
}

export interface Service {
  /** The URL under which clients on this machine reach the service. */
  readonly url: string;
  /** Reads the operator's files again: certificate, OIDC_FILE, geo data (SIGHUP). */
  reload(): Promise<void>;
  /** Stops: not ready from now on, requests served for the drain time, then what is in flight is finished and everything closed. */
  stop(): Promise<void>;
}

/** Longest time that stopping takes after the drain time, ms; the process has 10 s. */
const STOP_LIMIT = 8_000;

const { now, monotonic } = systemClock;

/** Starts every role of the configuration. Nothing is served before the ready line; when a step fails, what was opened is closed again. */
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

async function start(common: Common, { stdout, writer }: ServiceOptions, close: () => Promise<void>): Promise<Service> {
  const { config, logger, log } = common;
  const stopping = new AbortController();
  const draining = () => stopping.signal.aborted;
  const address = Promise.withResolvers<string>();

  const people = await openPeople(config, log);
  const base = await startBase(common, writer);
  const landing = await startLanding(base);
  const seen = startSeen(base);
  const authentication = startKeys(base, seen);
  const feeds = startFeeds(base, seen, authentication.keyRevision);
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
    activity: seen.activity,
    access: config.accessLog ? accessLog((line) => logger.info(line, 'request'), clientAddress(config.trustProxy)) : undefined,
    tls: base.tls,
    tracer: base.tracing,
    logger,
  });
  const serving = { app, metrics, draining, stdout };
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
      await Promise.race([close(), sleep(STOP_LIMIT, undefined, { ref: false })]);
    },
  };
}

/** Closes in the reverse order of opening. */
async function closeAll(closing: Close[]): Promise<void> {
  for (const close of closing.splice(0).reverse()) await close();
}
