import type { Schemes } from '@weir/expression/scheme.ts';
import about from '../../package.json' with { type: 'json' };
import type { ServiceGuardRails } from '../account/guard-rails.ts';
import { type Clock, systemClock } from '../clock.ts';
import { droppedLog } from '../decisions/serve/ledger.ts';
import { WeirError } from '../errors.ts';
import type { Store } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import { dataDirWarning, openDataDir } from '../runtime/data-dir.ts';
import { type Engine, startEngine } from '../runtime/engines.ts';
import { type GeoInUse, loadGeoData, useGeo } from '../runtime/geo.ts';
import { startGeoUpdates } from '../runtime/geo-updates.ts';
import { serviceGuardRails } from '../runtime/guard-rails.ts';
import { refuseLostStore } from '../runtime/lost-store.ts';
import { readSchemes } from '../runtime/schemes.ts';
import { followClock } from '../runtime/store-clock.ts';
import { type FeedThread, loadFeedThread, startFeedThread } from '../runtime/threads/feeds.ts';
import type { WaitingThread } from '../runtime/threads/waiting-thread.ts';
import type { WriterData } from '../runtime/threads/writer.ts';
import { type TlsInUse, useTls } from '../runtime/tls.ts';
import { startTracing, type Tracing } from '../runtime/tracing.ts';
import type { Config } from '../settings/settings.ts';
import { notedAppends } from '../stream/appenders.ts';
import type { Common } from './component.ts';
import { type MetricsRegistry, startMetricsRegistry } from './metrics-registry.ts';

const HOUR = 3_600_000;

export interface Base extends Common {
  readonly engine: Engine;
  readonly store: Store;
  readonly stream: Stream;
  /** Resolves when the messages that this process published for a workspace have landed, after 2 s at most. */
  landed(workspaceId: string): Promise<void>;
  /** Resolves when the complete stream has landed, after 2 s at most, with the number of remaining messages. */
  untilLanded(): Promise<number>;
  /** This machine's clock, corrected by a store shared by several processes (SPEC D37.1). */
  readonly clock: Clock;
  readonly geo: GeoInUse;
  readonly schemes: Schemes;
  readonly guardRails: ServiceGuardRails;
  readonly feedThread: FeedThread | undefined;
  readonly measures: MetricsRegistry | undefined;
  readonly tracing: Tracing | undefined;
  /** undefined: plain HTTP. */
  readonly tls: TlsInUse | undefined;
}

/** Starts slow parts first and awaits them where needed. `writer`: the writer thread, if already loaded. */
export async function startBase(common: Common, writer: WaitingThread<WriterData> | undefined): Promise<Base> {
  const { config, log, logger, onStop } = common;
  // Without an embedded engine, the folder has only compiled geo data, and may be missing.
  if (config.databaseUrl === undefined || config.kafkaBrokers === undefined) {
    openDataDir(config.dataDir);
    const warning = dataDirWarning(config.dataDir);
    if (warning !== undefined) logger.warn(warning);
  }
  const tls = useTls(config, log);
  onStop(() => tls?.close());
  const loadingGeo = loadGeoData(config, systemClock.now, log);
  // Awaited below; must not count as unhandled until then.
  loadingGeo.catch(() => undefined);
  const schemes = await schemesOf(config, loadingGeo);
  // Loads while this thread waits for the writer.
  const feeds = config.roles.includes('feeds') ? loadFeedThread() : undefined;
  const measures = startMetricsRegistry(config);
  onStop(() => measures?.process.close());
  const tracing = config.otelEndpoint === undefined ? undefined : await startTracing(config.otelEndpoint, about.version, log);
  onStop(() => tracing?.close());
  const engine = await startEngine(config, log, (landing) => tracing?.landed(landing), writer);
  onStop(() => engine.close());
  const { store } = engine;
  const { stream, landed, untilLanded } = notedAppends(engine.stream, store);
  await refuseLostStore(store, stream);
  const geoData = await loadingGeo;
  const guardRails = serviceGuardRails(config);
  const rules = { guardRails, schemesFile: config.schemesFile };
  const followed = config.databaseUrl === undefined ? undefined : await followClock(store);
  onStop(async () => followed?.stop());
  const clock = followed?.clock ?? systemClock;
  const feedThread =
    feeds && startFeedThread(() => engine.feedSource(), geoData, { ...rules, clock: followed?.base }, droppedLog(log, clock.now), feeds);
  onStop(() => feedThread?.close());
  const failed = (err: Error) => logger.error({ err }, 'the feed thread did not accept the new geo data');
  const geo = useGeo(config, geoData, (data) => void feedThread?.useGeo(data).catch(failed), log);
  onStop(() => geo.close());
  const { geoUpdateHours } = config;
  if (geoUpdateHours !== undefined) onStop(startGeoUpdates({ settings: config, every: geoUpdateHours * HOUR, inUse: geo.data, log }));
  return { ...common, engine, store, stream, landed, untilLanded, clock, geo, schemes, guardRails, feedThread, measures, tracing, tls };
}

/** Rejects with all faults of its files and of the geo data. */
async function schemesOf({ schemesFile }: Config, loadingGeo: Promise<unknown>): Promise<Schemes> {
  try {
    return readSchemes(schemesFile);
  } catch (fault) {
    const [geo] = await Promise.allSettled([loadingGeo]);
    if (geo.status === 'fulfilled') throw fault;
    throw new WeirError('USAGE', `${(fault as Error).message}\n${(geo.reason as Error).message}`);
  }
}
