import { Bouncers } from '../decisions/serve/bouncers.ts';
import { findDecisions } from '../decisions/serve/find-decisions.ts';
import { hitRecorder } from '../decisions/serve/hit-recorder.ts';
import { bouncerLog, writeBouncers } from '../decisions/serve/ledger.ts';
import { Waiting } from '../decisions/serve/waiting.ts';
import { DECISIONS } from '../feed/document.ts';
import { type FeedForecast, feedForecast } from '../feed/monitor/forecast.ts';
import { DocumentCache } from '../feed/serve/cache.ts';
import type { AppParts } from '../http/app.ts';
import { bouncerEndpoints, NO_LIST, type Sign } from '../http/bouncers/answer.ts';
import { countOfList } from '../http/counts.ts';
import { documentEndpoint } from '../http/feeds/document.ts';
import { signer } from '../http/feeds/signature.ts';
import { countBuilds } from '../runtime/metrics/builds.ts';
import { everyMinute, soon } from '../schedule/debounce.ts';
import type { Base } from './base.ts';
import type { Seen } from './usage.ts';

export interface Feeds {
  readonly cache?: DocumentCache;
  readonly forecast?: FeedForecast;
  readonly waiting?: Pick<Waiting, 'size'>;
  readonly answers?: Pick<AppParts, 'answerDocument' | 'bouncers'>;
}

export function startFeeds(
  base: Base,
  { watch, counts }: Pick<Seen, 'watch' | 'counts'>,
  keyRevision: () => number | undefined,
  stopping: AbortSignal,
): Feeds {
  const { config, store, geo, feedThread, measures, clock, log, logger, onStop } = base;
  const { now, monotonic } = clock;
  if (feedThread === undefined) return {};
  // A poll waits for earlier batches only where this process lands them.
  const landed = config.roles.includes('consumer') ? { caughtUp: base.landed } : { caughtUp: undefined };
  const report = (err: Error) => logger.error({ err }, 'a feed could not be built from the store');
  const cache = new DocumentCache({
    store,
    builder: measures ? countBuilds(feedThread, measures.builds, monotonic) : feedThread,
    clock,
    rebuildSeconds: config.feedRebuildSeconds,
    bodyBytes: config.feedCacheMb * 1024 * 1024,
    geoVersion: () => geo.database().version,
    zlib: `${process.versions.zlib}-${process.arch}`,
    keyRevision,
    watch,
    ...landed,
    report,
  });
  const bouncers = new Bouncers(bouncerLog(log, now));
  const unwritten = (err: Error) => logger.warn({ err }, 'the bouncers could not be written');
  const early = soon(writeBouncers(() => bouncers.takeNew(), store, now, unwritten));
  bouncers.onNew(early.ask);
  onStop(everyMinute(writeBouncers(() => bouncers.takeSeen(), store, now, unwritten)));
  onStop(early.stop);
  const hits = hitRecorder(
    store,
    now,
    (listId, count) => countOfList(counts.listHits, listId ?? 'none', count),
    (err) => logger.warn({ err }, 'dropped packets reported by bouncers could not be written'),
  );
  const decisions = findDecisions(cache, (request) => feedThread.decisions(request), monotonic);
  // The other half of the connections stays for polls.
  const most = { ofKey: config.waitingPerKey, ofWorkspace: config.waitingPerWorkspace, inAll: Math.floor(config.maxConnections / 2) };
  const waiting = new Waiting({ documents: cache, store, clock, interval: config.feedRebuildSeconds * 1000, most });
  stopping.addEventListener('abort', () => waiting.drain());
  const sign = signer(config.secretsKey, now);
  const signed: Sign = async (found, { workspaceId, feedId }) => {
    const { named } = await cache.findNamed({ workspaceId, list: feedId, variant: DECISIONS, boundTo: feedId }, false);
    return named === undefined ? NO_LIST : sign.stream(found, named, workspaceId);
  };
  return {
    cache,
    waiting,
    forecast: feedForecast({ previewer: feedThread, watch, geo: () => geo.database(), ...landed, clock, log }),
    answers: {
      answerDocument: documentEndpoint(cache, sign.feed, now, report),
      bouncers: bouncerEndpoints({ decisions, sign: signed, bouncers, waiting, hits, now, monotonic, report }),
    },
  };
}
