/** The composition root: opens the engines, starts the roles, stops them in order. */

import { isIPv6 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { keyParts, newKeyText } from './account/key.ts';
import { systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { WeirError } from './errors.ts';
import { FeedCache } from './feed/serve/cache.ts';
import type { GeoData } from './geo/data.ts';
import { geoDatabase } from './geo/database.ts';
import { isCountry } from './geo/iso3166.ts';
import { loadGeo } from './geo/load.ts';
import { geoStatus } from './geo/status.ts';
import { watchGeo } from './geo/watch.ts';
import { createApp } from './http/app.ts';
import { type Authenticator, authenticator } from './http/auth/authenticator.ts';
import { feedEndpoint } from './http/feeds/answer.ts';
import { signalSubmission } from './http/signals/submit.ts';
import type { Store } from './ports/store.ts';
import { dataDirWarning, openDataDir } from './runtime/data-dir.ts';
import { type Engine, startEngine } from './runtime/engines.ts';
import { type FeedThread, startFeedThread } from './runtime/feeds.ts';
import { createLogger } from './runtime/logging.ts';
import { readiness } from './runtime/readiness.ts';
import { readSchemes } from './runtime/schemes.ts';
import { caughtUp } from './stream/lag.ts';

export interface ServiceOptions {
  /** Where the bootstrap key and the ready line are printed. */
  readonly stdout: NodeJS.WritableStream;
}

export interface Service {
  /** Address that clients on this machine reach. */
  readonly url: string;
  /** Reads the operator's geo files again (SIGHUP). */
  reload(): Promise<void>;
  /** Stops: not ready at once, served for the drain time, then what is in flight is finished and everything closed. */
  stop(): Promise<void>;
}

/** Longest time that stopping takes after the drain time, ms; the process has 10 s. */
const STOP_LIMIT = 8_000;
const FLUSH_EVERY = 60_000;

const { now } = systemClock;

/** Starts every role of the configuration; nothing is served before the ready line. */
export async function startService(config: Config, { stdout }: ServiceOptions): Promise<Service> {
  const logger = createLogger(config.logLevel);
  const closing: (() => Promise<void> | void)[] = [];
  let draining = false;

  // Without an embedded engine it holds compiled geo data only, which can be missing.
  if (config.databaseUrl === undefined || config.kafkaBrokers === undefined) {
    openDataDir(config.dataDir);
    const warning = dataDirWarning(config.dataDir);
    if (warning !== undefined) logger.warn(warning);
  }
  const loadingGeo = loadGeoData(config, logger);
  // Awaited below; a fault there must not count as unhandled until then.
  loadingGeo.catch(() => undefined);
  const schemes = await Promise.try(() => readSchemes(config.schemesFile)).catch(async (fault: Error) => {
    // Every fault in the settings at once.
    const geoFault = await loadingGeo.then(
      () => undefined,
      (error: Error) => error,
    );
    throw geoFault === undefined ? fault : new WeirError('USAGE', `${fault.message}\n${geoFault.message}`);
  });
  const engine = await startEngine(config, (level, message) => logger[level](message));
  closing.push(() => engine.close());
  const { store, stream } = engine;
  try {
    const geoData = await loadingGeo;
    let geo = geoDatabase(geoData);
    const builder = config.roles.includes('feeds') ? startFeedThread(() => engine.feedSource(), geoData) : undefined;
    closing.push(() => builder?.close());
    const watch = watchGeo({
      files: geoFiles(config),
      data: geoData,
      cacheDir: config.dataDir,
      onChange: (data) => {
        geo = geoDatabase(data);
        builder?.useGeo(data).catch((err: Error) => logger.error({ err }, 'the feed thread did not take the new geo data'));
      },
      log: (outcome, text) => logger[outcome === 'refused' ? 'error' : 'info'](text),
    });
    closing.push(() => watch.close());

    const landing = config.roles.includes('consumer') ? await engine.land() : undefined;
    const authentication = authenticator({ store, now });
    closing.push(flushUsedKeys(authentication, store, logger));

    const app = createApp({
      settings: config,
      authenticator: authentication,
      submitSignals: config.roles.includes('signals')
        ? signalSubmission({
            store,
            stream,
            check: () => ({ schemes, hasAsn: (asn) => geo.hasAsn(asn), isCountry }),
            now,
            logFailure: (err, what) => logger.error({ err }, what),
          })
        : undefined,
      answerFeed: builder && feeds(config, engine, builder, () => geo.version, landing !== undefined, logger),
      readiness: readiness({ store, stream, landing, draining: () => draining, now }),
      draining: () => draining,
      now,
      logger,
    });
    // The last step that can be in vain is behind us, but for the port: a key that is made is shown.
    const bootstrapKey = await bootstrap(config, store, logger);
    await app.listen({ host: config.host, port: config.port }).catch((error: Error) => {
      if (bootstrapKey !== undefined) stdout.write(`${keyLine(bootstrapKey)}\n`);
      throw new WeirError('USAGE', `cannot listen on ${config.host}:${config.port}: ${error.message}`);
    });
    closing.push(() => app.close());

    const { port } = app.server.address() as { port: number };
    const url = addressOf(reachable(config.host), port);
    if (bootstrapKey !== undefined) stdout.write(`${welcome(config.baseUrl ?? url, bootstrapKey)}\n`);
    stdout.write(`weir ready on ${addressOf(config.host, port)}\n`);
    return {
      url,
      reload: () => watch.reload(),
      async stop() {
        draining = true;
        await sleep(config.drainSeconds * 1000);
        const closed = closeAll(closing);
        await Promise.race([closed, sleep(STOP_LIMIT, undefined, { ref: false })]);
      },
    };
  } catch (error) {
    await closeAll(closing);
    throw error;
  }
}

async function closeAll(closing: (() => Promise<void> | void)[]): Promise<void> {
  for (const close of closing.splice(0).reverse()) await close();
}

function feeds(config: Config, engine: Engine, builder: FeedThread, geoVersion: () => string, lands: boolean, logger: Logger) {
  const { store, stream } = engine;
  const report = (err: Error) => logger.error({ err }, 'a feed could not be built from the store');
  const cache = new FeedCache({
    store,
    builder,
    clock: systemClock,
    rebuildSeconds: config.feedRebuildSeconds,
    bodyBytes: config.feedCacheMb * 1024 * 1024,
    geoVersion,
    zlib: `${process.versions.zlib}-${process.arch}`,
    caughtUp: lands ? () => caughtUp(stream, store) : undefined,
    report,
  });
  return feedEndpoint(cache, now, report);
}

const geoFiles = (config: Config) => ({ country: config.geoCountryFile, asn: config.geoAsnFile });

async function loadGeoData(config: Config, logger: Logger): Promise<GeoData> {
  const data = await loadGeo(geoFiles(config), config.dataDir);
  const { country, asn } = geoStatus(data, now());
  logger.info(`geo data: countries ${country.age_days} days old (${country.source}), ASNs ${asn.age_days} days old (${asn.source})`);
  return data;
}

/** Makes the first key (decisions of section "keys"); returns its text when it has to be shown. */
async function bootstrap(config: Config, store: Store, logger: Logger): Promise<string | undefined> {
  const given = config.bootstrapApiKey;
  if (given !== undefined && given.length < 24) logger.warn('BOOTSTRAP_API_KEY is shorter than 24 characters: it can be guessed');
  const text = given ?? newKeyText();
  const { created } = await store.bootstrap({ ...keyParts(text), onlyWhenEmpty: given === undefined });
  return created && given === undefined ? text : undefined;
}

const keyLine = (key: string) => `API key (shown only now): ${key}`;

/** What is printed once, with the first key. */
function welcome(url: string, key: string): string {
  return [
    keyLine(key),
    'Block an address, then read the feed:',
    `  curl -sS -H 'Authorization: Bearer ${key}' -d '[{"type":"access_rules","action":"block","ip":"192.0.2.1"}]' ${url}/v1/signal`,
    `  curl -sS -H 'Authorization: Bearer ${key}' ${url}/v1/threat/feeds`,
  ].join('\n');
}

/** Writes once a minute, and at the end, which keys were used when. */
function flushUsedKeys(authentication: Authenticator, store: Store, logger: Logger): () => Promise<void> {
  const flush = async () => {
    const used = authentication.takeUsed();
    if (used.length === 0) return;
    await store.touchKeys(used).catch((err: Error) => logger.warn({ err }, 'the last use of keys could not be written'));
  };
  const timer = setInterval(() => void flush(), FLUSH_EVERY);
  timer.unref();
  return () => {
    clearInterval(timer);
    return flush();
  };
}

const addressOf = (host: string, port: number): string => `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;

/** An address of this machine to connect to: a wildcard listens everywhere, also on the loopback. */
const reachable = (host: string): string => (host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host);
