import { ENDING_WORDS } from '../../account/key.ts';
import type { CachedFeed } from '../../feed/serve/cache.ts';
import { GEO_KINDS } from '../../geo/kind.ts';
import type { Check } from '../../ports/health.ts';
import { shared } from '../../serial.ts';
import { exposition, histogramSamples, labelsOf, type Metric, rememberedLabels, type Sample } from './exposition.ts';
import { LABELS_REMEMBERED, type MetricSources, MOST_SERIES, OTHER, type Reading, readAll } from './reading.ts';
import { contentAge, type MeasuredSource, perSource, statesOf } from './sources.ts';

const DAY = 86_400;

const metric =
  (type: Metric<Reading>['type']) =>
  (name: string, help: string, read: Metric<Reading>['read']): Metric<Reading> => ({ name, type, help, read });
const [counter, gauge, histogram] = [metric('counter'), metric('gauge'), metric('histogram')];

/** In the order of the page and of docs/operating.md. */
export const METRICS: readonly Metric<Reading>[] = [
  histogram(
    'weir_http_request_duration_seconds',
    'Time from the headers of a request to the end of its answer, by route and status; status 0: the client went away before',
    function* ({ http }) {
      for (const [route, statuses] of http.requests) {
        for (const [status, times] of statuses) yield* histogramSamples(times, labelsOf({ route, status }));
      }
    },
  ),
  gauge('weir_connections', 'Open connections', ({ http }) => one(http.connections)),
  counter('weir_failed_authentications_total', 'Requests with a wrong key', ({ http }) => one(http.failedAuthentications)),
  counter('weir_limited_total', 'Requests answered with 429 and connections closed, by the limit that they were over', ({ http }) =>
    byName('limit', http.limited),
  ),
  gauge('weir_request_bodies', 'Request bodies in memory', ({ http }) => one(http.bodies)),
  gauge('weir_request_body_bytes', 'Bytes held for request bodies, of BODY_BUDGET_MB', ({ http }) => one(http.bodyBytes)),
  counter(
    'weir_entries_total',
    'Entries of signals, by kind and by what became of them: accepted, failed, refused with their batch, not_published, dry_run',
    function* ({ http }) {
      for (const [kind, outcomes] of http.entries) {
        for (const [outcome, value] of Object.entries(outcomes)) yield { labels: labelsOf({ kind, outcome }), value };
      }
    },
  ),
  counter(
    'weir_list_entries_total',
    'Accepted entries for access rules, by the id of the list where they land; weir list ls has the names',
    function* ({ http, listLabels }) {
      for (const [list, value] of http.listEntries) yield { labels: listLabels(list, () => labelsOf({ list })), value };
    },
  ),
  counter(
    'weir_list_hits_total',
    'Packets and requests that bouncers told to have dropped, by the id of the list; none: of no list',
    function* ({ http, listLabels }) {
      for (const [list, value] of http.listHits) yield { labels: listLabels(list, () => labelsOf({ list })), value };
    },
  ),
  gauge('weir_ready', '1 when a part of this process is ready, as /readyz says', function* ({ checks }) {
    for (const [part, { ok }] of Object.entries(checks)) yield { labels: labelsOf({ part }), value: Number(ok) };
  }),
  gauge('weir_store_clock_difference_seconds', 'The clock of the store minus that of this machine', ({ checks }) =>
    detail(checks.store, 'clock_difference_ms', 0.001),
  ),
  gauge('weir_landing_lag_messages', 'Messages of the stream that have not landed', ({ checks }) => detail(checks.landing, 'lag_messages')),
  gauge('weir_landing_lag_seconds', 'Time since the oldest message was accepted that has not landed', ({ checks }) =>
    detail(checks.landing, 'lag_seconds'),
  ),
  counter('weir_landed_messages_total', 'Messages that this process has landed, dead letters included', ({ landed }) => one(landed)),
  gauge('weir_dead_letters', 'Dead letters in the store; at most 10,000 are counted', ({ deadLetters }) => one(deadLetters)),
  histogram(
    'weir_feed_build_duration_seconds',
    'Time from asking for a build of a feed to having it, by what came of it',
    function* ({ builds }) {
      for (const [result, times] of builds?.seconds ?? []) yield* histogramSamples(times, labelsOf({ result }));
    },
  ),
  histogram('weir_feed_build_size_bytes', 'Size of the feeds that were built', function* ({ builds }) {
    if (builds !== undefined) yield* histogramSamples(builds.bytes);
  }),
  gauge('weir_feeds', 'Feeds that are held, each in one or more variants', ({ feeds }) => one(feeds?.length)),
  gauge('weir_feeds_stale', 'Feeds that were served stale when last asked for, at most 15 minutes ago', ({ feeds }) =>
    one(feeds?.filter(({ isStale }) => isStale).length),
  ),
  gauge('weir_feeds_over_cap', 'Feeds that are answered with 413 in a variant', ({ feeds }) =>
    one(feeds?.filter(({ entries, limit }) => entries > limit).length),
  ),
  gauge('weir_feed_entries', 'Networks of a feed, in its variant that is nearest to its cap; weir status has the names', (reading) =>
    perFeed(reading, ({ entries }) => entries),
  ),
  gauge('weir_feed_entry_limit', 'The entry cap of a feed; weir status has the names', (reading) => perFeed(reading, ({ limit }) => limit)),
  gauge('weir_feed_cache_bytes', 'Bytes of ready feed bodies, of FEED_CACHE_MB', ({ bodyBytes }) => one(bodyBytes)),
  gauge(
    'weir_devices',
    'Devices in the store that pull regularly (pulling), and those that have stopped within a day and are not back (stopped)',
    function* ({ devices }) {
      const counts = devices?.();
      for (const state of counts === undefined ? [] : (['pulling', 'stopped'] as const)) {
        yield { labels: labelsOf({ state }), value: counts![state] };
      }
    },
  ),
  gauge('weir_keys_ending', `${ENDING_WORDS}; weir status names them`, ({ endingKeys }) => one(endingKeys?.())),
  gauge('weir_sources', 'Sources of all workspaces by their state, told by the process that refreshes them', ({ sources, now }) =>
    statesOf(sources, now()),
  ),
  gauge('weir_source_content_age_seconds', 'Time since the content of a source was last confirmed, by workspace and name', (reading) =>
    everySource(reading, (one) => contentAge(one, reading.now())),
  ),
  gauge('weir_source_failures', 'Refreshes of a source that have failed in a row', (reading) =>
    everySource(reading, ({ state }) => state.failures),
  ),
  gauge('weir_source_held', '1 when a refresh of a source is held back and waits for somebody', (reading) =>
    everySource(reading, ({ state }) => Number(state.held !== null)),
  ),
  gauge('weir_source_entries', 'Entries of a source', (reading) => everySource(reading, ({ state }) => state.entries)),
  gauge('weir_geo_age_seconds', 'Age of the geo data in use, in whole days', function* ({ geo, now }) {
    const data = geo();
    for (const kind of GEO_KINDS) {
      const days = Math.floor((now() - Date.parse(data[kind].date)) / 1000 / DAY);
      yield { labels: labelsOf({ data: kind }), value: Math.max(0, days) * DAY };
    }
  }),
  gauge('weir_certificate_expiry_timestamp_seconds', 'When the certificate of the service ends, since 1970', ({ certificateExpiry }) =>
    one(certificateExpiry && certificateExpiry() / 1000),
  ),
  gauge(
    'weir_event_loop_delay_seconds',
    'How late the event loop of the main thread came to its work since the last reading, by percentile',
    function* ({ process: { loopDelay } }) {
      for (const { quantile, seconds } of loopDelay) yield { labels: labelsOf({ percentile: quantile * 100 }), value: seconds };
    },
  ),
  counter('weir_thread_cpu_seconds_total', 'CPU time of each thread', function* ({ process: { threads } }) {
    for (const { name, seconds } of threads) yield { labels: labelsOf({ thread: name }), value: seconds };
  }),
  counter('process_cpu_seconds_total', 'CPU time of the process', ({ process }) => one(process.cpuSeconds)),
  gauge('process_resident_memory_bytes', 'Memory of the process', ({ process }) => one(process.residentMemory)),
  gauge('process_start_time_seconds', 'When the process was started, since 1970', ({ process }) => one(process.startedAt)),
];

/** Concurrent requests share a page. */
export function metricsPage(sources: MetricSources): () => Promise<string> {
  const labels = {
    listLabels: rememberedLabels(LABELS_REMEMBERED),
    feedLabels: rememberedLabels(LABELS_REMEMBERED),
    sourceLabels: rememberedLabels(LABELS_REMEMBERED),
  };
  const writing = shared<string>();
  return () => writing(async () => exposition(METRICS, await readAll(sources, labels)));
}

const everySource = ({ sources, sourceLabels }: Reading, pick: (one: MeasuredSource) => number | undefined) =>
  perSource(sources.slice(0, MOST_SERIES), sourceLabels, pick);

const one = (value: number | undefined): Sample[] => (value === undefined ? [] : [{ value }]);

const byName = (label: string, values: Readonly<Record<string, number>>): Sample[] =>
  Object.entries(values).map(([name, value]) => ({ labels: labelsOf({ [label]: name }), value }));

/** A number of a check, in another unit. */
function detail(check: Check | undefined, name: string, unit = 1): Sample[] {
  const value = check?.[name];
  return typeof value === 'number' ? [{ value: value * unit }] : [];
}

/** One sample per feed, up to the limit, and a sum of the rest. */
function perFeed({ feeds = [], feedLabels }: Reading, pick: (feed: CachedFeed) => number): Sample[] {
  const samples: Sample[] = feedLabels.map((labels, place) => ({ labels, value: pick(feeds[place]!) }));
  const others = feeds.slice(MOST_SERIES);
  if (others.length === 0) return samples;
  const sum = others.reduce((sum, feed) => sum + pick(feed), 0);
  return [...samples, { labels: labelsOf({ workspace: OTHER, feed: OTHER }), value: sum }];
}
