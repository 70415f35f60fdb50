import type { HeldFeed } from '../../document/serve/cache.ts';
import { GEO_KINDS } from '../../geo/kind.ts';
import type { Check } from '../../ports/health.ts';
import { shared } from '../../serial.ts';
import { exposition, histogramSamples, labelsOf, type Metric, rememberedLabels, type Sample } from './exposition.ts';

import { LABELS_REMEMBERED, type MetricSources, MOST_SERIES, OTHER, type Reading, readAll } from './reading.ts';

const DAY = 86_400;

/** Every metric, in the order of the page and of docs/operating.md. */
export const METRICS: readonly Metric<Reading>[] = [
  {
    name: 'weir_http_request_duration_seconds',
    type: 'histogram',
    help: 'Time from the headers of a request to the end of its answer, by route and status; status 0: the client went away before',
    *read({ http }) {
      for (const [route, statuses] of http.requests) {
        for (const [status, times] of statuses) yield* histogramSamples(times, labelsOf({ route, status }));
      }
    },
  },
  {
    name: 'weir_connections',
    type: 'gauge',
    help: 'Open connections',
    read: ({ http }) => one(http.connections),
  },
  {
    name: 'weir_failed_authentications_total',
    type: 'counter',
    help: 'Requests with a wrong key',
    read: ({ http }) => one(http.failedAuthentications),
  },
  {
    name: 'weir_limited_total',
    type: 'counter',
    help: 'Requests answered with 429 and connections closed, by the limit that they were over',
    read: ({ http }) => byName('limit', http.limited),
  },
  {
    name: 'weir_request_bodies',
    type: 'gauge',
    help: 'Request bodies in memory',
    read: ({ http }) => one(http.bodies),
  },
  {
    name: 'weir_request_body_bytes',
    type: 'gauge',
    help: 'Bytes held for request bodies, of BODY_BUDGET_MB',
    read: ({ http }) => one(http.bodyBytes),
  },
  {
    name: 'weir_entries_total',
    type: 'counter',
    help: 'Entries of signals, by kind and by what became of them: accepted, failed, refused with their batch, not_published, dry_run',
    *read({ http }) {
      for (const [kind, outcomes] of http.entries) {
        for (const [outcome, value] of Object.entries(outcomes)) yield { labels: labelsOf({ kind, outcome }), value };
      }
    },
  },
  {
    name: 'weir_list_entries_total',
    type: 'counter',
    help: 'Accepted entries for access rules, by the list where they land',
    *read({ http, listLabels }) {
      for (const [list, value] of http.listEntries) yield { labels: listLabels(list, () => labelsOf({ list })), value };
    },
  },
  {
    name: 'weir_ready',
    type: 'gauge',
    help: '1 when a part of this process is ready, as /readyz says',
    *read({ checks }) {
      for (const [part, { ok }] of Object.entries(checks)) yield { labels: labelsOf({ part }), value: Number(ok) };
    },
  },
  {
    name: 'weir_store_clock_difference_seconds',
    type: 'gauge',
    help: 'The clock of the store minus that of this machine',
    read: ({ checks }) => detail(checks.store, 'clock_difference_ms', 0.001),
  },
  {
    name: 'weir_landing_lag_messages',
    type: 'gauge',
    help: 'Messages of the stream that have not landed',
    read: ({ checks }) => detail(checks.landing, 'lag_messages'),
  },
  {
    name: 'weir_landing_lag_seconds',
    type: 'gauge',
    help: 'Time since the oldest message was accepted that has not landed',
    read: ({ checks }) => detail(checks.landing, 'lag_seconds'),
  },
  {
    name: 'weir_landed_messages_total',
    type: 'counter',
    help: 'Messages that this process has landed, dead letters included',
    read: ({ landed }) => one(landed),
  },
  {
    name: 'weir_dead_letters',
    type: 'gauge',
    help: 'Dead letters in the store; at most 10,000 are counted',
    read: ({ deadLetters }) => one(deadLetters),
  },
  {
    name: 'weir_feed_build_duration_seconds',
    type: 'histogram',
    help: 'Time from asking for a build of a feed to having it, by what came of it',
    *read({ builds }) {
      for (const [result, times] of builds?.seconds ?? []) yield* histogramSamples(times, labelsOf({ result }));
    },
  },
  {
    name: 'weir_feed_build_size_bytes',
    type: 'histogram',
    help: 'Size of the feeds that were built',
    *read({ builds }) {
      if (builds !== undefined) yield* histogramSamples(builds.bytes);
    },
  },
  {
    name: 'weir_feeds',
    type: 'gauge',
    help: 'Feeds that are held, each in one or more variants',
    read: ({ feeds }) => one(feeds?.length),
  },
  {
    name: 'weir_feeds_stale',
    type: 'gauge',
    help: 'Feeds that were served stale when last asked for, at most 15 minutes ago',
    read: ({ feeds }) => one(feeds?.filter(({ isStale }) => isStale).length),
  },
  {
    name: 'weir_feeds_over_cap',
    type: 'gauge',
    help: 'Feeds that are answered with 413 in a variant',
    read: ({ feeds }) => one(feeds?.filter(({ entries, limit }) => entries > limit).length),
  },
  {
    name: 'weir_feed_entries',
    type: 'gauge',
    help: 'Networks of a feed, in its variant that is nearest to its cap',
    read: (reading) => perFeed(reading, ({ entries }) => entries),
  },
  {
    name: 'weir_feed_entry_limit',
    type: 'gauge',
    help: 'The entry cap of a feed',
    read: (reading) => perFeed(reading, ({ limit }) => limit),
  },
  {
    name: 'weir_feed_cache_bytes',
    type: 'gauge',
    help: 'Bytes of ready feed bodies, of FEED_CACHE_MB',
    read: ({ bodyBytes }) => one(bodyBytes),
  },
  {
    name: 'weir_devices',
    type: 'gauge',
    help: 'Devices in the store that pull regularly (pulling), and those that have stopped within a day and are not back (stopped)',
    *read({ devices }) {
      const counts = devices?.();
      for (const state of counts === undefined ? [] : (['pulling', 'stopped'] as const)) {
        yield { labels: labelsOf({ state }), value: counts![state] };
      }
    },
  },
  {
    name: 'weir_keys_ending',
    type: 'gauge',
    help: 'Keys that end within 14 days and were used within 30; weir status names them',
    *read({ endingKeys }) {
      const keys = endingKeys?.();
      if (keys !== undefined) yield { labels: '', value: keys };
    },
  },
  {
    name: 'weir_geo_age_seconds',
    type: 'gauge',
    help: 'Age of the geo data in use, in whole days',
    *read({ geo, now }) {
      const data = geo();
      for (const kind of GEO_KINDS) {
        const days = Math.floor((now() - Date.parse(data[kind].date)) / 1000 / DAY);
        yield { labels: labelsOf({ data: kind }), value: Math.max(0, days) * DAY };
      }
    },
  },
  {
    name: 'weir_certificate_expiry_timestamp_seconds',
    type: 'gauge',
    help: 'When the certificate of the service ends, since 1970',
    read: ({ certificateExpiry }) => one(certificateExpiry && certificateExpiry() / 1000),
  },
  {
    name: 'weir_event_loop_delay_seconds',
    type: 'gauge',
    help: 'How late the event loop of the main thread came to its work since the last reading, by percentile',
    *read({ process: { loopDelay } }) {
      for (const { quantile, seconds } of loopDelay) yield { labels: labelsOf({ percentile: quantile * 100 }), value: seconds };
    },
  },
  {
    name: 'weir_thread_cpu_seconds_total',
    type: 'counter',
    help: 'CPU time of each thread',
    *read({ process: { threads } }) {
      for (const { name, seconds } of threads) yield { labels: labelsOf({ thread: name }), value: seconds };
    },
  },
  {
    name: 'process_cpu_seconds_total',
    type: 'counter',
    help: 'CPU time of the process',
    read: ({ process }) => one(process.cpuSeconds),
  },
  {
    name: 'process_resident_memory_bytes',
    type: 'gauge',
    help: 'Memory of the process',
    read: ({ process }) => one(process.residentMemory),
  },
  {
    name: 'process_start_time_seconds',
    type: 'gauge',
    help: 'When the process was started, since 1970',
    read: ({ process }) => one(process.startedAt),
  },
];

/** Writes the page of metrics; who asks while it is being written gets the same. */
export function metricsPage(sources: MetricSources): () => Promise<string> {
  const labels = { listLabels: rememberedLabels(LABELS_REMEMBERED), feedLabels: rememberedLabels(LABELS_REMEMBERED) };
  const writing = shared<string>();
  return () => writing(async () => exposition(METRICS, await readAll(sources, labels)));
}

const one = (value: number | undefined): Sample[] => (value === undefined ? [] : [{ value }]);

const byName = (label: string, values: Readonly<Record<string, number>>): Sample[] =>
  Object.entries(values).map(([name, value]) => ({ labels: labelsOf({ [label]: name }), value }));

/** A number that a check shows, in another unit. */
function detail(check: Check | undefined, name: string, unit = 1): Sample[] {
  const value = check?.[name];
  return typeof value === 'number' ? [{ value: value * unit }] : [];
}

/** A sample for each of the first feeds, and the sum of all others. */
function perFeed({ feeds = [], feedLabels }: Reading, pick: (feed: HeldFeed) => number): Sample[] {
  const samples: Sample[] = feedLabels.map((labels, place) => ({ labels, value: pick(feeds[place]!) }));
  const others = feeds.slice(MOST_SERIES);
  if (others.length === 0) return samples;
  const sum = others.reduce((sum, feed) => sum + pick(feed), 0);
  return [...samples, { labels: labelsOf({ workspace: OTHER, feed: OTHER }), value: sum }];
}
