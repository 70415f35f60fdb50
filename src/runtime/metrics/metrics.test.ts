import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_GUARDS, newState, type Source } from '../../account/source.ts';
import { newHttpCounts } from '../../http/counts.ts';
import { exposition, histogramSamples, labelsOf } from './exposition.ts';
import { metricsPage } from './metrics.ts';
import type { MetricSources } from './reading.ts';

const SOURCES: MetricSources = {
  http: newHttpCounts(),
  readiness: async () => ({}),
  landed: undefined,
  deadLetters: undefined,
  builds: undefined,
  feeds: undefined,
  waiting: undefined,
  devices: undefined,
  endingKeys: undefined,
  sources: undefined,
  geo: () => ({ country: { date: '2026-11-01' }, asn: { date: '2026-11-20' } }) as never,
  certificateExpiry: undefined,
  process: { read: async () => ({ threads: [], cpuSeconds: 1, residentMemory: 2, startedAt: 3, loopDelay: [] }) },
  now: () => Date.parse('2026-11-11T12:00:00Z'),
};

test('D12.4 a thousand feeds have series of their own in each metric, all further ones are summed in one', async () => {
  const cached = (n: number) => ({ workspaceId: 'w', feedId: n === 0 ? null : `feed-${n}`, entries: 10, limit: 100, isStale: n < 3 });
  const feeds = Array.from({ length: 1200 }, (_, n) => cached(n));
  const page = await metricsPage({ ...SOURCES, feeds: { cached: () => feeds, bodyBytes: () => 5 } })();
  const lines = page.split('\n').filter((line) => line.startsWith('weir_feed_entries{'));
  assert.equal(lines.length, 1001);
  assert.equal(lines[0], 'weir_feed_entries{workspace="w",feed="workspace"} 10');
  assert.equal(lines.at(-1), 'weir_feed_entries{workspace="other",feed="other"} 2000');
  assert.match(page, /^weir_feed_entry_limit\{workspace="other",feed="other"\} 20000$/m);
  assert.match(page, /^weir_feeds 1200$/m);
  assert.match(page, /^weir_feeds_stale 3$/m);
});

test('D12.5 what does not answer is left out, the rest of the page is there; what is asked for at one time is written once', async () => {
  let asked = 0;
  const page = metricsPage({
    ...SOURCES,
    readiness: async () => {
      asked += 1;
      return { store: { ok: false, reason: 'gone' }, landing: { ok: true, lag_messages: 7, lag_seconds: 2 } };
    },
    landed: async () => 12,
    deadLetters: () => Promise.reject(new Error('gone')),
  });
  const [text, same] = await Promise.all([page(), page()]);
  assert.equal(text, same);
  assert.equal(asked, 1);
  for (const line of [
    'weir_ready{part="store"} 0',
    'weir_ready{part="landing"} 1',
    'weir_landing_lag_messages 7',
    'weir_landed_messages_total 12',
  ]) {
    assert.ok(text.includes(`\n${line}\n`), line);
  }
  assert.doesNotMatch(text, /weir_dead_letters|weir_store_clock|weir_feed_build|weir_certificate/);
  assert.match(text, /^weir_geo_age_seconds\{data="country"\} 864000$/m);
  assert.match(text, /^weir_geo_age_seconds\{data="asn"\} 0$/m);
});

test('D12.1 the text format: labels are escaped, a histogram adds up, and numbers that are none are written as Prometheus reads them', () => {
  const histogram = { bounds: [1, 5], counts: Float64Array.of(2, 0, 1), sum: 9.5 };
  const text = exposition(
    [
      { name: 'a', type: 'gauge', help: 'A', read: () => [{ labels: labelsOf({ x: 'q"\\\n', y: 1 }), value: Number.POSITIVE_INFINITY }] },
      { name: 'b', type: 'histogram', help: 'B', read: () => histogramSamples(histogram, 'k="v"') },
      { name: 'c', type: 'counter', help: 'C', read: () => [] },
    ],
    undefined,
  );
  assert.deepEqual(text.split('\n'), [
    '# HELP a A',
    '# TYPE a gauge',
    'a{x="q\\"\\\\\\n",y="1"} +Inf',
    '# HELP b B',
    '# TYPE b histogram',
    'b_bucket{k="v",le="1"} 2',
    'b_bucket{k="v",le="5"} 2',
    'b_bucket{k="v",le="+Inf"} 3',
    'b_sum{k="v"} 9.5',
    'b_count{k="v"} 3',
    '',
  ]);
});

test('D23.23, D44.8 a paused source whose list was emptied or is soon counts as expired or stale, as in alerts', async () => {
  const [now, day] = [Date.parse('2026-11-11T12:00:00Z'), 86_400_000];
  const paused = (name: string, days: number, expired: boolean) => ({
    source: { id: name, workspaceId: 'w', name, purpose: 'block', guards: DEFAULT_GUARDS, isPaused: true } as Source,
    state: { ...newState(now), fetchedAt: now, confirmedAt: now - days * day, expired, entries: 7 },
  });
  const sources = [paused('new', 1, false), paused('old', 5, false), paused('gone', 9, true)];
  const page = await metricsPage({ ...SOURCES, sources: () => sources })();
  const counted = [...page.matchAll(/^weir_sources\{state="(\w+)"\} 1$/gm)].map(([, state]) => state);
  assert.deepEqual(counted, ['paused', 'expired', 'stale']);
});

test('D23.23 sources are counted by their state, and each tells the age of its content, its failures, and whether it waits for somebody', async () => {
  const now = Date.parse('2026-11-11T12:00:00Z');
  const source = (name: string, more: Partial<Source> = {}) =>
    ({ id: name, workspaceId: 'w', name, purpose: 'block', guards: DEFAULT_GUARDS, isPaused: false, ...more }) as Source;
  const good = { ...newState(now), fetchedAt: now, confirmedAt: now - 60_000, entries: 7 };
  const sources = [
    { source: source('good'), state: good },
    { source: source('bad'), state: { ...newState(now), fetchedAt: null, failures: 4, stop: 'refused' as const } },
    { source: source('paused', { isPaused: true }), state: { ...good, held: {} as never } },
  ];
  const page = await metricsPage({ ...SOURCES, sources: () => sources })();
  const lines = page.split('\n').filter((line) => /^weir_source.*[1-9]/.test(line) && !line.endsWith(' 0'));
  assert.deepEqual(lines, [
    'weir_sources{state="paused"} 1',
    'weir_sources{state="stopped"} 1',
    'weir_sources{state="ok"} 1',
    'weir_source_content_age_seconds{workspace="w",source="good"} 60',
    'weir_source_failures{workspace="w",source="bad"} 4',
    'weir_source_held{workspace="w",source="paused"} 1',
    'weir_source_entries{workspace="w",source="good"} 7',
    'weir_source_entries{workspace="w",source="paused"} 7',
  ]);
});
