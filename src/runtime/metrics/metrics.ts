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
    'Time from the headers of a request to the end of its response, by route and status; status 0: the client disconnected first',
    function* ({ http }) {
      for (const [route, statuses] of http.requests) {
        for (const [status, times] of statuses) yield* histogramSamples(times, labelsOf({ route, status }));
      }
    },
  ),
  gauge('weir_connections', 'Open connections', ({ http }) => one(http.connections)),
  counter('weir_failed_authentications_total', 'Requests with an invalid key', ({ http }) => one(http.failedAuthentications)),
  counter('weir_limited_total', 'Requests answered with 429 and closed connections, by limit', ({ http }) => byName('limit', http.limited)),
  gauge('weir_request_bodies', 'Request bodies in memory', ({ http }) => one(http.bodies)),
  gauge('weir_request_body_bytes', 'Bytes reserved for request bodies, of BODY_BUDGET_MB', ({ http }) => one(http.bodyBytes)),
  counter(
    'weir_entries_total',
    'Entries of signals, by kind and outcome: accepted, failed, refused with their batch, not_published, dry_run',
    function* ({ http }) {
      for (const [kind, outcomes] of http.entries) {
        for (const [outcome, value] of Object.entries(outcomes)) yield { labels: labelsOf({ kind, outcome }), value };
      }
    },
  ),
  counter(
    'weir_list_entries_total',
    'Accepted entries for access rules, by list id; weir list ls has the names',
    function* ({ http, listLabels }) {
      for (const [list, value] of http.listEntries) yield { labels: listLabels(list, () => labelsOf({ list })), value };
    },
  ),
  counter(
    'weir_list_hits_total',
    'Packets and requests reported as dropped by bouncers, by list id; none: no list',
    function* ({ http, listLabels }) {
      for (const [list, value] of http.listHits) yield { labels: listLabels(list, () => labelsOf({ list })), value };
    },
  ),
  gauge('weir_ready', '1 when a part of this process is ready, as in /readyz', function* ({ checks }) {
    for (const [part, { ok }] of Object.entries(checks)) yield { labels: labelsOf({ part }), value: Number(ok) };
  }),
  gauge('weir_store_clock_difference_seconds', 'Clock of the store minus clock of this machine', ({ checks }) =>
    detail(checks.store, 'clock_difference_ms', 0.001),
  ),
  gauge('weir_landing_lag_messages', 'Messages of the stream not yet landed', ({ checks }) => detail(checks.landing, 'lag_messages')),
  gauge('weir_landing_lag_seconds', 'Age of the oldest accepted message not yet landed', ({ checks }) =>
    detail(checks.landing, 'lag_seconds'),
  ),
  counter('weir_landed_messages_total', 'Messages landed by this process, including dead letters', ({ landed }) => one(landed)),
  gauge('weir_dead_letters', 'Dead letters in the store, counted up to 10,000', ({ deadLetters }) => one(deadLetters)),
  histogram('weir_feed_build_duration_seconds', 'Time from the request of a feed build to its end, by result', function* ({ builds }) {
    for (const [result, times] of builds?.seconds ?? []) yield* histogramSamples(times, labelsOf({ result }));
  }),
  histogram('weir_feed_build_size_bytes', 'Size of built feeds', function* ({ builds }) {
    if (builds !== undefined) yield* histogramSamples(builds.bytes);
  }),
  gauge('weir_feeds', 'Cached feeds, each in one or more variants', ({ feeds }) => one(feeds?.length)),
  gauge('weir_feeds_stale', 'Feeds served stale at their last request, within 15 minutes', ({ feeds }) =>
    one(feeds?.filter(({ isStale }) => isStale).length),
  ),
  gauge('weir_feeds_over_cap', 'Feeds with a variant over its cap (413)', ({ feeds }) =>
    one(feeds?.filter(({ entries, limit }) => entries > limit).length),
  ),
  gauge('weir_feed_entries', 'Networks of a feed, in the variant nearest to its cap; weir status has the names', (reading) =>
    perFeed(reading, ({ entries }) => entries),
  ),
  gauge('weir_feed_entry_limit', 'Entry cap of a feed; weir status has the names', (reading) => perFeed(reading, ({ limit }) => limit)),
  gauge('weir_waiting_clients', 'Clients waiting for a change of their feed', ({ waiting }) => one(waiting?.size)),
  gauge('weir_feed_cache_bytes', 'Bytes of cached feed bodies, of FEED_CACHE_MB', ({ bodyBytes }) => one(bodyBytes)),
  gauge(
    'weir_devices',
    'Devices that poll regularly (pulling), and devices that stopped within a day and have not resumed (stopped)',
    function* ({ devices }) {
      const counts = devices?.();
      for (const state of counts === undefined ? [] : (['pulling', 'stopped'] as const)) {
        yield { labels: labelsOf({ state }), value: counts![state] };
      }
    },
  ),
  gauge('weir_keys_ending', `${ENDING_WORDS}; weir status names them`, ({ endingKeys }) => one(endingKeys?.())),
  gauge('weir_sources', 'Sources of all workspaces by state, from the process that refreshes them', ({ sources, now }) =>
    statesOf(sources, now()),
  ),
  gauge('weir_source_content_age_seconds', 'Time since the content of a source was last confirmed, by workspace and name', (reading) =>
    everySource(reading, (one) => contentAge(one, reading.now())),
  ),
  gauge('weir_source_failures', 'Consecutive failed refreshes of a source', (reading) =>
    everySource(reading, ({ state }) => state.failures),
  ),
  gauge('weir_source_held', '1 when a refresh of a source is on hold and needs a decision', (reading) =>
    everySource(reading, ({ state }) => Number(state.held !== null)),
  ),
  gauge('weir_source_entries', 'Entries of a source', (reading) => everySource(reading, ({ state }) => state.entries)),
  gauge('weir_geo_age_seconds', 'Age of the geo data, in whole days', function* ({ geo, now }) {
    const data = geo();
    for (const kind of GEO_KINDS) {
      const days = Math.floor((now() - Date.parse(data[kind].date)) / 1000 / DAY);
      yield { labels: labelsOf({ data: kind }), value: Math.max(0, days) * DAY };
    }
  }),
  gauge('weir_certificate_expiry_timestamp_seconds', 'Expiry of the service certificate, seconds since 1970', ({ certificateExpiry }) =>
    one(certificateExpiry && certificateExpiry() / 1000),
  ),
  gauge(
    'weir_event_loop_delay_seconds',
    'Delay of the event loop of the main thread since the last reading, by percentile',
    function* ({ process: { loopDelay } }) {
      for (const { quantile, seconds } of loopDelay) yield { labels: labelsOf({ percentile: quantile * 100 }), value: seconds };
    },
  ),
  counter('weir_thread_cpu_seconds_total', 'CPU time of each thread', function* ({ process: { threads } }) {
    for (const { name, seconds } of threads) yield { labels: labelsOf({ thread: name }), value: seconds };
  }),
  counter('process_cpu_seconds_total', 'CPU time of the process', ({ process }) => one(process.cpuSeconds)),
  gauge('process_resident_memory_bytes', 'Memory of the process', ({ process }) => one(process.residentMemory)),
  gauge('process_start_time_seconds', 'Start of the process, seconds since 1970', ({ process }) => one(process.startedAt)),
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

/** Up to the limit, and a sum of the rest. */
function perFeed({ feeds = [], feedLabels }: Reading, pick: (feed: CachedFeed) => number): Sample[] {
  const samples: Sample[] = feedLabels.map((labels, place) => ({ labels, value: pick(feeds[place]!) }));
  const others = feeds.slice(MOST_SERIES);
  if (others.length === 0) return samples;
  const sum = others.reduce((sum, feed) => sum + pick(feed), 0);
  return [...samples, { labels: labelsOf({ workspace: OTHER, feed: OTHER }), value: sum }];
}
