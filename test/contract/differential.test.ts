/** The same signals to the embedded engine and to PostgreSQL: every answer, feed, list of rules and export is the same. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FORMAT_NAMES } from '../../src/feed/formats/table.ts';
import { KINDS } from '../../src/rule.ts';
import { commandJson, commandText, newTenant } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { getFeed, postSignals } from '../support/http.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { type Random, seededRandom } from '../support/random.ts';
import { mixedV4, mixedV6 } from '../support/random-networks.ts';
import { eventually } from '../support/weir.ts';
import { type Json, startWorld } from '../support/world.ts';
import { ACTIONS, FAMILIES } from './feeds/world.ts';

const SEED = 20261122;
const SIGNALS = 5000;
/** What answers and feeds are compared by. */
const HEADERS = ['content-type', 'content-length', 'x-feed-entry-count', 'x-feed-entry-limit', 'cache-control', 'vary'];

const COUNTRIES = ['198.51.100.0,198.51.100.255,NL', '203.0.113.1,203.0.113.6,DE', '2001:db8:a::,2001:db8:b:ffff:ffff:ffff:ffff:ffff,NL'];
const ASNS = ['198.51.101.0,198.51.101.255,64500,Example', '2001:db8:c::,2001:db8:c:ffff:ffff:ffff:ffff:ffff,64501,Example'];

const TEXTS = [
  ...[
    '',
    ' ',
    'plain',
    'näme 𝄞',
    'a\u2028b\u2029c\u0085d',
    'tab\tLF\nCR\rCRLF\r\n',
    '\u0001\u001f\u007f',
    '"quoted" \\ \'single\' $1 %s {}',
    '\ufeffBOM',
  ],
  ...[
    'e\u0301 is not é',
    '\u202eright to left',
    '-- ; DROP TABLE access_rules',
    '\\u0000',
    'null',
    '[]',
    '😀'.repeat(2048),
    'x'.repeat(2048),
  ],
];
const ODD_TEXTS = ['\0', '\ud800', 'x'.repeat(2049)];
const JSONS = [
  '{}',
  '{"a":{"b":[1,2.5,-0,1e-7,1e21,null,true,[]]},"":0}',
  '{"__proto__":{"a":1},"constructor":"c","toString":1,"😀":"\\u2028"}',
  '{"z":1,"a":2,"10":3,"9":4}',
  '{"confidence":"LOW","severity":"critical"}',
  '{"confidence":"medium"}',
].map((text) => JSON.parse(text) as Json);
const ODD_JSONS = ['{"a":9007199254740993}', '{"a":"\\u0000"}', '[]', '{"a":[[[[[[[[1]]]]]]]]}'].map((text) => JSON.parse(text) as unknown);
const EXPRESSIONS = [
  'ip.src eq 192.0.2.9',
  'ip.src in {192.0.2.0/24 2001:db8::/32}',
  'not ip.src eq 192.0.2.1\n  or ip.src eq ::1',
  'ip.src ==',
  'http.host',
];

/** Signals over few targets and references, so that most meet a rule that is there. */
function signals(random: Random) {
  const networks = Array.from({ length: 250 }, () => random.pick([mixedV4, mixedV6])(random));
  const written = [
    ...networks,
    '192.0.2.1',
    '192.0.2.0/31',
    '192.0.2.77/24',
    '::ffff:192.0.2.5',
    '2001:DB8:0:0::1',
    '10.0.0.0/9',
    '10.128.0.0/9',
  ];
  const odd = ['300.1.1.1', '1.2.3.4/33', '::1%eth0', '01.2.3.4'];
  /** One of the second now and then. */
  const mostly = <T>(usual: readonly T[], seldom: readonly T[]): T => (random.below(40) === 0 ? random.pick(seldom) : random.pick(usual));
  const maybe = (more: () => Json): Json => (random.below(3) === 0 ? more() : {});
  const target = (): Json =>
    random.pick([
      ...Array.from({ length: 8 }, () => () => ({ ip: mostly(written, odd) })),
      () => ({ country: mostly(['NL', 'nl', 'De', 'AQ'], ['XX', 'XK', '']) }),
      () => ({ asn: mostly(['AS64500', 'as064501'], ['AS0', 'AS1', '64500']) }),
    ])();
  const text = () => mostly(TEXTS, ODD_TEXTS);
  const json = () => mostly<unknown>(JSONS, ODD_JSONS);
  const ref = () =>
    mostly(
      Array.from({ length: 100 }, (_, i) => `ref-${i}`),
      ['', '-', 'x'.repeat(129)],
    );
  /** None of these expires while the test runs. */
  const seconds = () => mostly([0, 600, 86_400, 2_600_000_000, 3_155_760_000], [-1, 1.5, 3_155_760_001]);

  const event = (): Json => ({
    type: 'access_rules',
    action: random.pick(['block', 'block', 'block', 'unblock']),
    ...target(),
    ...maybe(() => ({ expiration: seconds() })),
    ...maybe(() => ({ name: text().slice(0, 256) })),
    ...maybe(() => ({ description: text() })),
  });
  const shared = () => ({
    ...maybe(() => ({ expires_in: seconds() })),
    ...maybe(() => ({ reason: text() })),
    ...maybe(() => ({ labels: json() })),
  });
  const access = (): Json => ({
    kind: 'access_rule',
    op: random.pick(['upsert', 'upsert', 'upsert', 'delete']),
    ...maybe(() => ({ rule_ref: ref() })),
    ...shared(),
    rule: {
      target: target(),
      ...maybe(() => ({ action: random.pick(['allow', 'ALLOW', 'block']) })),
      ...maybe(() => ({ config: json() })),
    },
  });
  const expression = (): Json => {
    const kind = random.pick(['waf_rule', 'smart_firewall_rule']);
    const rule = {
      type: random.pick(['custom', 'Generated']),
      expression: mostly(EXPRESSIONS.slice(0, 3), EXPRESSIONS),
      action: random.pick(['block', 'allow', 'BLOCK']),
      ...maybe(() => ({ name: text().slice(0, 256) })),
      ...maybe(() => ({ order: mostly([0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER], [2 ** 53]) })),
      ...maybe(() => ({ short_description: text() })),
      ...maybe(() => ({ config: json() })),
      ...(kind === 'waf_rule' ? maybe(() => ({ phase: random.pick(['request', 'RESPONSE']) })) : {}),
    };
    return { kind, op: random.pick(['upsert', 'upsert', 'delete']), rule_ref: ref(), ...shared(), rule };
  };
  let brief = 0;
  /** Expires while the test runs; each has a reference of its own. */
  const lapsing = (): Json => ({ ...expression(), op: 'upsert', rule_ref: `brief-${brief++}`, expires_in: 1 });
  const last = (): Json => ({ ...access(), expires_in: random.pick([1, 59, 60]) });

  return {
    events: (count: number) => Array.from({ length: count }, event),
    envelopes: (count: number, place: 'first' | 'later' | 'last') =>
      Array.from({ length: count }, () => {
        if (place === 'first' && random.below(10) === 0) return lapsing();
        if (place === 'last' && random.below(4) === 0) return last();
        return random.below(3) === 0 ? expression() : access();
      }),
  };
}

test('D4.17 D4.15 the same 5,000 signals leave the same rules, feeds and exports on the embedded engine and on PostgreSQL', {
  skip: noPostgres(),
  timeout: 600_000,
}, async (t) => {
  const postgres = await startPostgres();
  t.after(() => postgres.stop());
  const folder = temporaryFolder(t);
  const [GEO_COUNTRY_FILE, GEO_ASN_FILE] = ['country.csv', 'asn.csv'].map((name) => join(folder, name)) as [string, string];
  writeFileSync(GEO_COUNTRY_FILE, COUNTRIES.map((row) => `${row}\n`).join(''));
  writeFileSync(GEO_ASN_FILE, ASNS.map((row) => `${row}\n`).join(''));
  const worlds = await Promise.all([
    startWorld({ GEO_COUNTRY_FILE, GEO_ASN_FILE, DATA_DIR: join(folder, 'embedded') }),
    startWorld({ GEO_COUNTRY_FILE, GEO_ASN_FILE, DATA_DIR: join(folder, 'stream'), DATABASE_URL: await postgres.createDatabase() }),
  ]);
  t.after(() => Promise.all(worlds.map((world) => world.stop())));
  /** Does the same on both; both results. */
  const both = <T>(work: (world: (typeof worlds)[number], i: number) => Promise<T>) => Promise.all(worlds.map(work));

  // Lists and key are made on one and moved to the other: they have the same ids.
  const [embedded] = worlds;
  await both(({ text }) => text(['org', 'create', 'acme']));
  const { key } = await newTenant(embedded!.settings, { organization: 'acme', workspace: 'main' });
  const list = async (name: string, ...options: string[]) =>
    (await commandJson<{ id: string }>(['list', 'create', name, '--workspace', 'main', ...options], embedded!.settings)).id;
  const lists = [
    await list('edge', '--format', 'csv_indicator', '--confidence', 'low', '--description', 'a\u2028b'),
    await list('small', '--max-entries', '5'),
    await list('twice', '--action', 'allow', '--family', 'v6'),
    await list('twice', '--severity', 'medium'),
  ];
  const seed = join(folder, 'seed.ndjson');
  await embedded!.text(['export', seed, '--workspace', 'main']);
  await worlds[1]!.text(['workspace', 'create', 'main', '--org', 'acme']);
  await worlds[1]!.text(['import', seed, '--workspace', 'main']);

  /** What a feed is compared by. A commented one names the second at which its content is first seen. */
  const feed = async (url: string, target: string) => {
    const { status, text, headers } = await getFeed(url, key, target);
    const tag = target.includes('commented') ? undefined : headers.etag;
    return { target, status, body: text.replace(/^# generated: .*$/m, ''), tag, headers: HEADERS.map((name) => headers[name]) };
  };
  const same = <T>([one, other]: T[]) => assert.deepEqual(other, one, `seed ${SEED}`);

  const random = seededRandom(SEED);
  const { events, envelopes } = signals(random);
  /** When each batch was sent to each engine, ms; and when the last rule is gone that expires while the test runs. */
  const sentAt: number[][] = [[], []];
  let lapsed = 0;
  for (let sent = 0; sent < SIGNALS; ) {
    const count = Math.min(1 + random.below(900), SIGNALS - sent);
    const place = sent < SIGNALS / 3 ? 'first' : sent + count === SIGNALS ? 'last' : 'later';
    const version = place === 'last' ? 2 : 1 + random.below(2);
    const batch = version === 1 ? events(count) : envelopes(count, place);
    const query = random.pick(['', '?list=default', ...lists.map((id) => `?list=${id}`)]);
    sent += count;
    same(
      await both(async ({ weir }, i) => {
        sentAt[i]!.push(Date.now());
        const { status, text } = await postSignals(weir().url, key, batch, `/v${version}/signal${query}`);
        return { status, text };
      }),
    );
    if (place === 'first') lapsed = Date.now() + 2000;
    await both(({ landed }) => landed());
    await eventually(async () => same(await both(({ weir }) => feed(weir().url, '?format=plain'))));
  }
  await sleep(Math.max(0, lapsed - Date.now()));

  /** A rule or a line of an export with its instants as numbers of batches, and its expiry as seconds from acceptance. */
  const timeless = (i: number, { id: _, batch_id: __, key_id: ___, before, ...rule }: Json): Json => {
    const batchOf = (instant: unknown) => sentAt[i]!.findLastIndex((at) => at <= Date.parse(String(instant)));
    const lifetime = rule.expires_at && Math.floor((Date.parse(String(rule.expires_at)) - Date.parse(String(rule.updated_at))) / 1000);
    const past = before === undefined ? {} : { before: timeless(i, before as Json) };
    return { ...rule, created_at: batchOf(rule.created_at), updated_at: batchOf(rule.updated_at), expires_at: lifetime, ...past };
  };
  const [stored, ...otherStored] = await both(async ({ settings }, i) => {
    const rules: Json[] = [];
    for (const kind of KINDS) {
      const listed = await commandJson<Json[]>(['rule', 'ls', '--workspace', 'main', '--kind', kind], settings);
      rules.push(...listed.map((rule) => timeless(i, rule)));
    }
    return rules;
  });
  same([stored, ...otherStored]);
  for (const kind of KINDS) assert.ok(stored!.filter((rule) => rule.kind === kind).length > 20, kind);
  assert.ok(stored!.length > 500 && stored!.every(({ rule_ref }) => !String(rule_ref).startsWith('brief')));

  const statuses = new Set<number>();
  for (const path of ['', '/default', ...lists.map((id) => `/${id}`), '/twice', '/nowhere']) {
    for (const format of FORMAT_NAMES) {
      for (const family of FAMILIES) {
        for (const action of ACTIONS) {
          const feeds = await both(({ weir }) => feed(weir().url, `${path}?format=${format}&family=${family}&action=${action}`));
          same(feeds);
          statuses.add(feeds[0]!.status);
        }
      }
    }
    same(await both(({ weir }) => feed(weir().url, `${path}?checksum=md5&format=plain`)));
  }
  assert.deepEqual([...statuses].sort(), [200, 404, 409, 413]);

  same(
    await both(async ({ settings }, i) => {
      const file = join(folder, `export-${i}.ndjson`);
      await commandText(['export', file, '--workspace', 'main'], settings);
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(1);
      return lines.map((line) => {
        const [[word, value]] = Object.entries(JSON.parse(line) as Record<string, Json>) as [[string, Json]];
        if (word === 'key') return { ...value, last_used_at: null };
        return word === 'rule' ? timeless(i, value) : value;
      });
    }),
  );
});
