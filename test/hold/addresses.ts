/** What thousands of requests of one key to each address that works long take from the others. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../../bench/support/figures.ts';
import { PERMISSIONS } from '../../src/account/permission.ts';
import { newTenant } from '../support/command.ts';
import { ask, bearer } from '../support/http.ts';
import { eventually, type Weir } from '../support/weir.ts';
import { on, type Settings } from './checks.ts';
import { neighbourOf, WATCHED } from './neighbour.ts';

/** What the workspace has. */
const LISTS = 1240;
const FEEDS = 900;
const RULES = 60_000;
const EXPRESSIONS = 400;
/** Requests to an address at most, how many at a time, and for how long, ms. */
const MOST = 4000;
const AT_ONCE = 200;
const TIME = 2000;
/** Where webhooks and sources of the test go: nobody is there. */
const REACH = { WEBHOOK_NETWORKS: '127.0.0.0/8', SOURCE_NETWORKS: '127.0.0.0/8' };
/** How long another tenant waits for its answer to the same request, ms. */
const PATIENCE = 20_000;

interface Flooded {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

const file = (n: number) => ({
  lists: Array.from({ length: LISTS }, (_, i) => ({ name: `list-${i}`, max_entries: 5000 + n })),
  feeds: Array.from({ length: FEEDS }, (_, i) => ({
    name: `feed-${i}`,
    lists: [...new Set([`list-${i}`, `list-${i % (i < 60 ? 6 : FEEDS)}`])],
  })),
});
const LOG = Array.from(
  { length: 4000 },
  (_, n) => `192.0.2.${n & 255} - - [20/Nov/2026:10:00:00 +0000] "GET /login?${n} HTTP/1.1" 200 512 "-" "curl/8"`,
).join('\n');
const manage = (path: string, body?: object | string, method: Flooded['method'] = 'POST'): Flooded => ({
  path: `/v1/manage${path}`,
  ...(body !== undefined && { body, method }),
});

/** The addresses, each with its n-th request. */
export const FLOODS: Readonly<Record<string, (n: number) => Flooded>> = {
  // First: what is known of feeds that were polled is told by others.
  'feeds that are polled': (n) => ({ path: `/v1/threat/feeds/feed-${n % 900}` }),
  worth: () => manage(`/worth`),
  'worth of a list': (n) => manage(`/lists/list-${n % 900}/worth`),
  status: () => manage('/status'),
  'counts of rules': (n) => manage(`/rules/count?reason=scan%20${n % 50}`),
  'sorted rules': (n) => manage(`/rules?sort=expires&descending=${n % 2 === 1}&limit=1000`),
  'named rules': (n) => manage(`/rules/named?text=scan%20${n % 50}`),
  changes: (n) => manage(`/changes?since=7d&limit=1000${n % 2 === 1 ? `&list=list-${n % 900}` : ''}`),
  'look-ups': (n) => manage(`/lookup?target=10.0.${n & 255}.0/24&path=1`),
  'look-ups of a country': () => manage('/lookup?target=US'),
  'previews of changed rules': (n) => manage('/rules/change', { list: 'list-0', set: { expires: `${(n % 90) + 1}d` }, preview: true }),
  'previews of deleted rules': () => manage('/rules/delete', { list: 'list-0', preview: true }),
  'the file': () => manage('/workspace/file'),
  'files that are compared': (n) => manage('/workspace/apply?dry_run=true', file(n)),
  'files that are applied': (n) => manage('/workspace/apply', file(n)),
  'lists that are made': (n) => manage('/lists', { name: `made ${n}` }),
  'keys that are made': (n) => manage('/keys', { name: `made ${n}`, permissions: ['feed:read'] }),
  'pages of feeds': () => manage('/feeds?limit=1000'),
  'sizes of feeds': (n) => manage('/measure', { lists: [`list-${n % 900}`, 'list-0', 'list-1'] }),
  backtests: (n) => manage(`/backtests?expression=${encodeURIComponent(`http.request.path contains "${n}"`)}`, LOG),
  expressions: (n) =>
    manage('/expressions/test', {
      kind: 'waf_rule',
      expression: `http.request.path contains "${n}"`,
      request: '{"http.request.path": "/login"}',
    }),
  'differences of feeds': (n) => manage(`/difference?feed=feed-${n % 900}&since=1h`),
  'trials of sources': (n) => manage('/sources/try', { url: `http://127.0.0.1:1/${n}` }),
  snoozes: (n) => manage('/attention/snoozes', { key: 'guard_rails', reason: `ticket ${n}`, expires_in: 86_400 }),
  'dropped packets': (n) => ({ path: '/v1/usage-metrics', method: 'POST', body: usage(n) }),
  rules: (n) => manage('/rules', { value: `11.0.${(n >> 8) & 255}.${n & 255}`, reason: `by hand ${n}` }),
  'previews of rules': (n) => manage('/rules', { value: ['US', 'AS64496', '10.0.0.0/9'][n % 3], preview: true }),
  imports: (n) =>
    manage('/imports?list=list-2&preview=1', Array.from({ length: 500 }, (_, i) => `12.${n & 255}.${i >> 8}.${i & 255}`).join('\n')),
  'rules for agents': () => ({ path: '/config' }),
  signals: (n) => ({ path: '/v1/signal', method: 'POST', body: events(n) }),
  'feeds of many devices': (n) => ({ path: `/v1/threat/feeds/feed-${n % 900}?checksum=md5`, headers: { 'user-agent': `firewall ${n}` } }),
  'decisions of many bouncers': (n) => ({ path: '/v1/decisions/stream?startup=true', headers: { 'user-agent': `bouncer ${n}` } }),
  'answers that are kept': (n) => ({
    ...manage('/rules', { value: `13.0.${(n >> 8) & 255}.${n & 255}`, reason: 'x'.repeat(2000) }),
    headers: { 'idempotency-key': `once-${n}` },
  }),
  contents: (n) => manage(`/content?feed=feed-${n % 900}&lines=1000`),
  'the audit log': () => manage('/audit?limit=1000'),
  batches: () => manage('/batches?limit=1000'),
  'lists that are made equal': (n) => manage('/replacements', { list: `list-${n % 900}` }),
  help: () => ({ path: '/console/help/docs/operating.md' }),
};

/** 1,000 addresses. */
const events = (n: number) =>
  Array.from({ length: 1000 }, (_, i) => ({ type: 'access_rules', action: 'block', ip: `14.${n & 255}.${i >> 8}.${i & 255}` }));

/** Counters of 500 lists. */
const usage = (n: number) => ({
  remediation_components: [
    {
      type: 'firewall',
      name: 'fw',
      metrics: [
        {
          meta: { utc_now_timestamp: n, window_size_seconds: 60 },
          items: Array.from({ length: 500 }, (_, i) => ({
            name: 'dropped',
            value: n + 1,
            unit: 'packet',
            labels: { origin: `lists:list-${i}` },
          })),
        },
      ],
    },
  ],
});

/** The status of an answer, which is read to its end; 0: there was none. */
function statusOf(url: string, key: string, { method = 'GET', path, body, headers }: Flooded, agent: Agent, signal: AbortSignal) {
  return new Promise<number>((resolve) => {
    const text = typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body);
    const length = text === undefined ? {} : { 'content-length': Buffer.byteLength(text) };
    const asked = request(url + path, { method, agent, signal, headers: { ...bearer(key), ...length, ...headers } }, (answer) => {
      answer.resume().on('error', () => resolve(0));
      answer.on('end', () => resolve(answer.statusCode!));
    });
    asked.on('error', () => resolve(0)).end(text);
  });
}

/** 4,000 requests at most, 200 at a time, for some seconds; then who waits goes away. How many answers had each status. */
async function flood(url: string, key: string, requests: (n: number) => Flooded): Promise<Record<number, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const leaving = new AbortController();
  const statuses: Record<number, number> = {};
  const timer = setTimeout(() => leaving.abort(), TIME);
  let next = 0;
  const one = async () => {
    while (next < MOST && !leaving.signal.aborted) {
      const status = await statusOf(url, key, requests(next++), agent, leaving.signal);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  clearTimeout(timer);
  agent.destroy();
  return statuses;
}

/** Fills a workspace: lists, feeds, rules, a webhook. */
async function fill({ url }: Weir, key: string): Promise<void> {
  const call = async (path: string, body: object | string) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const { status, text: told } = await ask(url, path, { method: 'POST', headers: bearer(key), body: text });
    if (status >= 300) throw new Error(`${path}: ${status} ${told}`);
  };
  await call('/v1/manage/workspace/apply', file(0));
  await call('/v1/manage/webhooks', { name: 'hook', url: 'http://127.0.0.1:1/', style: 'weir' });
  for (let from = 0; from < RULES; from += 10_000) {
    const lines = Array.from({ length: 10_000 }, (_, i) => {
      const n = from + i;
      return `10.${n >> 15}.${(n >> 7) & 255}.${(n & 127) * 2},scan ${n % 50}`;
    });
    await call(`/v1/manage/imports?list=list-${from / 10_000}&format=csv`, `ip,reason\n${lines.join('\n')}`);
  }
  const rules = Array.from({ length: EXPRESSIONS }, (_, n) => ({
    kind: 'waf_rule',
    op: 'upsert',
    rule_ref: `w${n}`,
    rule: { type: 'custom', action: 'block', expression: `http.request.path contains "${n}"` },
  }));
  await call('/v2/signal', rules);
}

/** Where there is nothing that another tenant's request says: what is there is of him all the same. */
async function fillOther(url: string, key: string): Promise<void> {
  const post = (path: string, body: object) => ask(url, path, { method: 'POST', headers: bearer(key), body: JSON.stringify(body) });
  const names = { lists: ['list-0', 'list-1', 'list-2'].map((name) => ({ name })), feeds: [{ name: 'feed-0', lists: ['list-0'] }] };
  const rule = { type: 'custom', action: 'block', expression: 'http.request.path contains "x"' };
  await post('/v1/manage/workspace/apply', names);
  await post('/v1/manage/webhooks', { name: 'hook', url: 'http://127.0.0.1:1/', style: 'weir' });
  await post('/v2/signal', [
    { kind: 'access_rule', op: 'upsert', rule_ref: 'a', rule: { target: { ip: '10.0.0.1' } } },
    { kind: 'waf_rule', op: 'upsert', rule_ref: 'w', rule },
  ]);
}

/** Floods of these addresses, one after the other: the polls of another tenant, whether he is answered there himself, and memory. */
export const addressFloods = (settings: Settings, names: readonly string[] = Object.keys(FLOODS)): Promise<Figure[]> =>
  on({ ...settings, ...WATCHED, ...REACH, RATE_LIMIT_MANAGE: '0' }, async (weir) => {
    const { url } = weir;
    const all = PERMISSIONS.flatMap((permission) => ['--permission', permission]);
    const { key } = await newTenant({ ...settings }, { organization: 'default', workspace: 'full' }, ...all);
    const other = await newTenant({ ...settings }, { organization: 'default', workspace: 'other' }, ...all);
    await fill(weir, key);
    await fillOther(url, other.key);
    await eventually(async () => {
      const { text } = await ask(url, '/v1/manage/rules/count', { headers: bearer(key) });
      if ((JSON.parse(text) as { rules: number }).rules < RULES) throw new Error('not all has landed');
    }, 60_000);
    const neighbour = await neighbourOf(weir, settings);
    const agent = new Agent();
    const figures: Figure[] = [];
    const refused: string[] = [];
    for (const name of names) {
      const requests = FLOODS[name]!;
      const polls = await neighbour.during(`${AT_ONCE} at once: ${name}`, async () => {
        const flooding = flood(url, key, requests);
        await sleep(TIME / 2);
        const status = await statusOf(url, other.key, requests(0), agent, AbortSignal.timeout(PATIENCE));
        if (status === 0 || status === 429 || status >= 500) refused.push(`${name} (${status})`);
        await flooding;
      });
      figures.push(...polls);
    }
    agent.destroy();
    const what = `${AT_ONCE} at once to each of ${names.length} addresses`;
    return [
      ...figures,
      { what: `${what}: what another tenant is refused${[':', ...refused].join(' ')}`, figure: refused.length, limit: 0 },
      neighbour.memory(what),
    ];
  });
