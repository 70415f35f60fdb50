/** The metrics of a running weir equal what was done with it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { METRICS } from '../../src/runtime/metrics/metrics.ts';
import { openSqliteStream } from '../../src/stream/sqlite/stream.ts';
import { commandJson, commandText, newKey } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer, getFeed, postSignals } from '../support/http.ts';
import { locate, needs } from '../support/programs.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

const TOKEN = 'a-token-of-some-length';

suite('metrics of the embedded engine', () => {
  const folder = temporaryFolder({ after });
  const settings = { DATA_DIR: join(folder, 'data') };
  let weir: Weir;
  let metricsUrl: string;

  before(async () => {
    weir = await startWeir({
      ...settings,
      ...smallGeo(folder),
      BOOTSTRAP_API_KEY: KEY,
      FEED_REBUILD_SECONDS: '0',
      RATE_LIMIT_ENTRIES: '1000',
      METRICS_TOKEN: TOKEN,
      METRICS_PORT: '0',
      LOG_LEVEL: 'info',
    });
    metricsUrl = await eventually(() => {
      const { stderr } = weir.output();
      return /metrics on (http:\/\/127\.0\.0\.1:\d+)\/metrics/.exec(stderr)?.[1] ?? assert.fail(stderr);
    });
  });
  after(() => weir.kill('SIGKILL'));

  const page = async (base = weir.url): Promise<string> => {
    const { status, text } = await ask(base, '/metrics', { headers: bearer(TOKEN) });
    assert.equal(status, 200);
    return text;
  };
  /** The samples by what stands before their values. */
  const samples = (text: string) =>
    new Map([...text.matchAll(/^([^# ][^ ]*(?:\{.*\})?) (\S+)$/gm)].map(([, series, value]) => [series!, Number(value)]));

  test('D12.1, D12.2 the page is the same on both ports; no key of a workspace opens it, not even one that may manage', async () => {
    assert.match(await page(metricsUrl), /^weir_ready\{part="store"\} 1$/m);
    const manager = await newKey(settings, 'default', '--permission', 'manage');
    for (const base of [weir.url, metricsUrl]) {
      for (const key of [KEY, manager]) assert.equal((await ask(base, '/metrics', { headers: bearer(key) })).status, 401);
      assert.equal((await ask(base, '/metrics')).status, 401);
    }
    assert.equal((await ask(weir.url, '/metrics', { method: 'POST', headers: bearer(TOKEN) })).status, 405);
    assert.equal((await ask(metricsUrl, '/healthz')).status, 404);
    assert.equal((await getFeed(weir.url, TOKEN)).status, 401, 'nor is the token a key');
  });

  test('D12.3 the metrics of a scripted scenario equal what was done', async () => {
    const { id: edge } = await commandJson<{ id: string }>(
      ['list', 'create', 'edge', '--workspace', 'default', '--max-entries', '1'],
      settings,
    );
    const start = samples(await page());
    const ip = (n: number) => ({ type: 'access_rules', action: 'block', ip: `192.0.2.${n}` });
    const waf = (type: string | undefined, expression: string) => ({
      kind: 'waf_rule',
      op: 'upsert',
      rule_ref: 'r',
      rule: { type, expression, action: 'block' },
    });
    const send = async (status: number, entries: unknown, target: string) =>
      assert.equal((await postSignals(weir.url, KEY, entries, target)).status, status, target);

    await send(200, [ip(1), ip(3), ip(5)], '/v1/signal?list=edge');
    await send(206, [ip(7), ip(999)], '/v1/signal');
    await send(206, [waf('custom', 'http.request.method eq "GET"'), waf('custom', 'nonsense'), { kind: 'teapot' }], '/v2/signal');
    await send(400, [waf('custom', 'http.request.method eq "GET"'), waf(undefined, 'http.host eq "a"')], '/v2/signal');
    await send(400, 'no JSON', '/v1/signal');
    // So many that they do not come back within half a minute.
    await send(206, [...Array.from({ length: 500 }, () => ip(9)), ip(998)], '/v1/signal?dry_run=1');
    await send(
      429,
      Array.from({ length: 1000 }, (_, n) => ip(n)),
      '/v1/signal',
    );

    // A message that nobody can understand, beside the five that were accepted.
    const stream = openSqliteStream(settings.DATA_DIR);
    await stream.publish([{ key: 'nobody', headers: { schema_version: '9' }, value: 'no signal' }]);
    await stream.close();

    await eventually(async () => {
      const now = samples(await page());
      assert.equal(now.get('weir_landed_messages_total')! - start.get('weir_landed_messages_total')!, 6);
    });
    const feed = await getFeed(weir.url, KEY);
    assert.deepEqual([feed.status, feed.headers['x-feed-entry-count']], [200, '4']);
    for (let n = 0; n < 3; n += 1) {
      const again = await ask(weir.url, '/v1/threat/feeds', { headers: { ...bearer(KEY), 'if-none-match': feed.headers.etag } });
      assert.equal(again.status, 304);
    }
    assert.equal((await getFeed(weir.url, KEY, '/edge')).status, 413);
    assert.equal((await getFeed(weir.url, KEY, '/nowhere')).status, 404);
    for (let n = 0; n < 2; n += 1) assert.equal((await getFeed(weir.url, 'weir-wrong-key-0123456789')).status, 401);
    assert.equal((await ask(weir.url, '/v1/threat/feeds')).status, 401);

    // A request is counted when its answer has gone out, which its client may have read by then.
    const end = await eventually(async () => {
      const end = samples(await page());
      const grown = (series: string) => (end.get(series) ?? 0) - (start.get(series) ?? 0);
      const requests = (route: string, status: number) =>
        grown(`weir_http_request_duration_seconds_count{route="${route}",status="${status}"}`);
      const entries = (kind: string, outcome: string) => grown(`weir_entries_total{kind="${kind}",outcome="${outcome}"}`);
      assert.deepEqual(
        {
          v1: [200, 206, 400, 429].map((status) => requests('/v1/signal', status)),
          v2: [200, 206, 400].map((status) => requests('/v2/signal', status)),
          feeds: [200, 304, 401].map((status) => requests('/v1/threat/feeds', status)),
          lists: [404, 413].map((status) => requests('/v1/threat/feeds/{list}', status)),
          access: ['accepted', 'failed', 'refused', 'dry_run', 'not_published'].map((outcome) => entries('access_rule', outcome)),
          waf: ['accepted', 'failed'].map((outcome) => entries('waf_rule', outcome)),
          unknown: ['failed', 'refused'].map((outcome) => entries('unknown', outcome)),
          edge: grown(`weir_list_entries_total{list="${edge}"}`),
          limited: grown('weir_limited_total{limit="entries"}'),
          wrongKeys: grown('weir_failed_authentications_total'),
          deadLetters: grown('weir_dead_letters'),
          bodies: [end.get('weir_request_bodies'), end.get('weir_request_body_bytes')],
          lag: end.get('weir_landing_lag_messages'),
          feedsHeld: [end.get('weir_feeds'), end.get('weir_feeds_over_cap'), end.get('weir_feeds_stale')],
          tooLarge: grown('weir_feed_build_duration_seconds_count{result="too_large"}'),
          ready: ['store', 'stream', 'landing', 'feeds'].map((part) => end.get(`weir_ready{part="${part}"}`)),
        },
        {
          v1: [1, 2, 1, 1],
          v2: [0, 1, 1],
          feeds: [1, 3, 3],
          lists: [1, 1],
          access: [4, 1, 0, 501, 0],
          waf: [1, 1],
          unknown: [1, 2],
          edge: 3,
          limited: 1,
          wrongKeys: 2,
          deadLetters: 1,
          bodies: [0, 0],
          lag: 0,
          feedsHeld: [2, 1, 0],
          tooLarge: 1,
          ready: [1, 1, 1, 1],
        },
      );
      return end;
    });
    const own = [...end].filter(([series]) => /^weir_feed_entr/.test(series) && series.includes(edge)).map(([, value]) => value);
    assert.deepEqual(own, [3, 1], 'entries and cap of the list');
    assert.ok(end.get('weir_feed_build_size_bytes_sum')! > 0);
    for (const thread of ['main', 'writer', 'feeds', 'appender'])
      assert.ok(end.get(`weir_thread_cpu_seconds_total{thread="${thread}"}`)! > 0);
  });

  test('D12.6 no key, no token, no address and no name of anybody is on the page', async () => {
    await commandText(['list', 'create', 'secret-project', '--workspace', 'default'], settings);
    await getFeed(weir.url, KEY, '/secret-project');
    const text = await page();
    assert.doesNotMatch(text, /secret-project|192\.0\.2|127\.0\.0\.1|weir-test-key|weir-wrong-key|a-token-of/);
  });

  test('D12.1 promtool finds no fault in the page', { skip: needs('promtool') }, async () => {
    const { status, stdout, stderr } = spawnSync(locate('promtool')!, ['check', 'metrics'], { input: await page(), encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
  });

  test('D12.3 every metric has a name of its own, and all but those of TLS, and of sources and hits, which there are none, are on the page of this process', async () => {
    const names = METRICS.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    const shown = [...(await page()).matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
    assert.deepEqual(
      shown,
      names.filter((name) => !/^weir_(certificate|source|list_hits)/.test(name)),
    );
  });
});
