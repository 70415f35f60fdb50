/**
 * Every limit of the contract at both of its edges, over real HTTP and the command line: what is just allowed gets into the feed's bytes,
 * the store, an export and back; what is just beyond is refused and leaves nothing. Every engine runs it. The cap of 131,072 networks
 * stands in feeds/cap.ts.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { KINDS } from '../../src/rule.ts';
import { LIMITS } from '../../src/signal/limits.ts';
import { command, commandJson, newKey } from '../support/command.ts';
import { getFeed, type Reply } from '../support/http.ts';
import { eventually } from '../support/weir.ts';
import { type Client, type Json, startWorld, type World } from '../support/world.ts';
import { contractSuite, type Engine } from './engine.ts';

const V1 = '/v1/signal';
const V2 = '/v2/signal';
const DAY = 86_400;
const YEARS = LIMITS.expirySeconds;
const SAFE = Number.MAX_SAFE_INTEGER;
const EXPRESSION = 'ip.src eq 192.0.2.9';
/** One character in two UTF-16 code units and four bytes. */
const ASTRAL = '😀';

interface Edge {
  readonly path: typeof V1 | typeof V2;
  /** JSON of the entry. */
  readonly text: string;
  /** By which its rule is known: the target of an access rule, `rule_ref` of the others. */
  readonly name: string;
  /** Members of the rule in `rule ls`; `lifetime` in seconds, null = for good. */
  readonly stored: Json;
}
interface Refused extends Omit<Edge, 'stored'> {
  /** The field whose fault it is. */
  readonly fault: string;
}

// ---------------------------------------------------------------- entries, each with a target or a rule_ref of its own

let made = 0;
/** Hosts in ascending order, no two of them adjacent: each is one line of a feed. */
const host = (n: number) => `10.0.${n >> 7}.${2 * (n & 127) + 1}`;

type Entry = Pick<Edge, 'path' | 'name'> & { readonly entry: Json };

function v1(more: Json = {}): Entry {
  const ip = host(made++);
  return { path: V1, name: ip, entry: { type: 'access_rules', action: 'block', ip, ...more } };
}
function access(more: Json = {}, rule: Json = {}): Entry {
  const ip = host(made++);
  return { path: V2, name: ip, entry: { kind: 'access_rule', op: 'upsert', rule: { target: { ip }, ...rule }, ...more } };
}
const expression =
  (kind: string) =>
  (more: Json = {}, rule: Json = {}): Entry => {
    const name = `r-${made++}`;
    const body = { type: 'custom', expression: EXPRESSION, action: 'block', ...rule };
    return { path: V2, name, entry: { kind, op: 'upsert', rule_ref: name, rule: body, ...more } };
  };
const waf = expression('waf_rule');
const smart = expression('smart_firewall_rule');

/** An entry, or the text of one, that is taken and stored so. */
const taken = ({ path, name, entry }: Entry, stored: Json = {}, text = JSON.stringify(entry)): Edge => ({ path, name, stored, text });
/** The same for one that is an error of its own. */
const error = ({ path, name, entry }: Entry, fault: string, text = JSON.stringify(entry)): Refused => ({ path, name, fault, text });

/** Texts of exactly so many characters, of one byte and of four. */
const texts = (length: number) => ['a'.repeat(length), ASTRAL.repeat(length)];
/** An object of exactly so many bytes as JSON, some of them in characters of several. */
const sized = (bytes: number): Json => ({ text: `${ASTRAL}é${'x'.repeat(bytes - '{"text":"😀é"}'.length - 3)}` });
/** An object of so many levels. */
const deep = (levels: number): Json => (levels === 1 ? {} : { a: levels % 2 === 0 ? deep(levels - 1) : [deep(levels - 2)] });
/** The entry as JSON of exactly so many bytes, by a field that nobody knows. */
function padded({ entry }: Entry, bytes: number): string {
  const bare = Buffer.byteLength(JSON.stringify({ ...entry, padding: '' }));
  return JSON.stringify({ ...entry, padding: 'x'.repeat(bytes - bare) });
}
/** The same by white space. */
function spaced({ entry }: Entry, bytes: number): string {
  const text = JSON.stringify(entry);
  return `{${' '.repeat(bytes - Buffer.byteLength(text))}${text.slice(1)}`;
}
const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as unknown;
const hostIs = (length: number, filler: string) => `http.request.host eq "${filler.repeat(length - 'http.request.host eq ""'.length)}"`;
const regexes = (count: number) => Array(count).fill('http.request.host matches "a"').join(' or ');

/** The cases of one limit; each is made anew, so that every target is used once. */
interface Edges {
  readonly allowed: readonly Edge[];
  readonly refused: readonly Refused[];
  /** What is said of those. */
  readonly says: RegExp;
}

/** Limits that are not of one entry; they have tests of their own below. */
type OfBatch = 'batchEntries' | 'batchBytes';
/** A limit without its edges does not compile. */
type Limit = Exclude<keyof typeof LIMITS, OfBatch> | 'ruleRef' | 'order' | 'integers' | 'prefix' | 'asn';

const EDGES: Record<Limit, () => Edges> = {
  name: () => ({
    says: /^must be at most 256 characters$/,
    allowed: texts(LIMITS.name).flatMap((name) => [taken(v1({ name }), { name }), taken(waf({}, { name }), { name })]),
    refused: texts(LIMITS.name + 1).flatMap((name) => [error(v1({ name }), 'name'), error(smart({}, { name }), 'rule.name')]),
  }),
  text: () => ({
    says: /^must be at most 2048 characters$/,
    allowed: texts(LIMITS.text).flatMap((text) => [
      taken(v1({ description: text }), { reason: text }),
      taken(access({ reason: text }), { reason: text }),
      taken(waf({ reason: text }, { short_description: text }), { reason: text, short_description: text }),
    ]),
    refused: texts(LIMITS.text + 1).flatMap((text) => [
      error(v1({ description: text }), 'description'),
      error(access({ reason: text }), 'reason'),
      error(smart({}, { short_description: text }), 'rule.short_description'),
    ]),
  }),
  expression: () => ({
    says: /^must be at most 4096 characters$/,
    allowed: ['a', ASTRAL]
      .map((filler) => hostIs(LIMITS.expression, filler))
      .map((text) => taken(waf({}, { expression: text }), { expression: text })),
    refused: ['a', ASTRAL].map((filler) => error(waf({}, { expression: hostIs(LIMITS.expression + 1, filler) }), 'rule.expression')),
  }),
  regexes: () => ({
    says: /^must hold at most 64 regular expressions$/,
    allowed: [taken(waf({}, { expression: regexes(LIMITS.regexes) }), { expression: regexes(LIMITS.regexes) })],
    refused: [error(waf({}, { expression: regexes(LIMITS.regexes + 1) }), 'rule.expression')],
  }),
  labelsBytes: () => {
    const [most, more] = [sized(LIMITS.labelsBytes), sized(LIMITS.labelsBytes + 1)];
    return {
      says: /^must be at most 8192 bytes as JSON$/,
      allowed: [access, waf, smart].map((kind) => taken(kind({ labels: most }), { labels: most })),
      refused: [access, waf, smart].map((kind) => error(kind({ labels: more }), 'labels')),
    };
  },
  configBytes: () => {
    const [most, more] = [sized(LIMITS.configBytes), sized(LIMITS.configBytes + 1)];
    return {
      says: /^must be at most 32768 bytes as JSON$/,
      allowed: [access, waf, smart].map((kind) => taken(kind({}, { config: most }), { config: most })),
      refused: [access, waf, smart].map((kind) => error(kind({}, { config: more }), 'rule.config')),
    };
  },
  jsonDepth: () => {
    const [most, more] = [deep(LIMITS.jsonDepth), deep(LIMITS.jsonDepth + 1)];
    return {
      says: /^must be at most 8 levels deep$/,
      allowed: [taken(access({ labels: most }, { config: most }), { labels: most, config: most })],
      refused: [error(access({ labels: more }), 'labels'), error(waf({}, { config: more }), 'rule.config')],
    };
  },
  integers: () => ({
    says: /^must not hold an integer beyond ±9007199254740991; /,
    allowed: [SAFE, -SAFE].map((n) => taken(access({ labels: { n } }, { config: { n: [n] } }), { labels: { n }, config: { n: [n] } })),
    refused: [SAFE + 1, -SAFE - 1].flatMap((n) => [
      error(access({ labels: { n } }), 'labels'),
      error(waf({}, { config: { n: [n] } }), 'rule.config'),
    ]),
  }),
  order: () => ({
    says: /^must be an integer from -9007199254740991 to 9007199254740991$/,
    allowed: [SAFE, -SAFE, 0].flatMap((order) => [taken(waf({}, { order }), { order }), taken(smart({}, { order }), { order })]),
    refused: [SAFE + 1, -SAFE - 1, 0.5].map((order) => error(waf({}, { order }), 'rule.order')),
  }),
  entryBytes: () => {
    const [event, rule] = [v1({ name: 'large' }), waf()];
    return {
      says: /^must be at most 65536 bytes as JSON$/,
      allowed: [taken(event, { name: 'large' }, padded(event, LIMITS.entryBytes)), taken(rule, {}, padded(rule, LIMITS.entryBytes))],
      refused: [v1(), access(), smart()].map((entry) => error(entry, 'entry', padded(entry, LIMITS.entryBytes + 1))),
    };
  },
  entryRawBytes: () => {
    const [event, rule] = [v1(), access()];
    return {
      says: /^must be at most 524288 bytes with its white space and escapes$/,
      allowed: [taken(event, {}, spaced(event, LIMITS.entryRawBytes)), taken(rule, {}, spaced(rule, LIMITS.entryRawBytes))],
      refused: [v1(), access()].map((entry) => error(entry, 'entry', spaced(entry, LIMITS.entryRawBytes + 1))),
    };
  },
  entryDepth: () => ({
    says: /^is nested too deeply$/,
    allowed: [v1, access].map((make) => taken(make({ unknown: nested(63) }))),
    refused: [v1, access].map((make) => error(make({ unknown: nested(64) }), 'entry')),
  }),
  expirySeconds: () => {
    const withFloor: [seconds: number | null, lifetime: number][] = [
      [null, DAY],
      [0, DAY],
      [1, 60],
      [59, 60],
      [60, 60],
      [61, 61],
    ];
    const long = [2_600_000_000, YEARS];
    const allow = { action: 'allow' };
    return {
      says: /^must be an integer from 0 to 3155760000$/,
      allowed: [
        ...[...withFloor, ...long.map((n) => [n, n] as const)].flatMap(([seconds, lifetime]) => [
          taken(v1({ expiration: seconds }), { lifetime }),
          taken(access({ expires_in: seconds }), { lifetime }),
          taken(access({ expires_in: seconds }, allow), { lifetime: seconds ? lifetime : null }),
        ]),
        ...[null, 0, 59, 60, ...long].flatMap((seconds) =>
          [waf, smart].map((kind) => taken(kind({ expires_in: seconds }), { lifetime: seconds || null })),
        ),
      ],
      refused: [-1, 0.5, YEARS + 1].flatMap((seconds) => [
        error(v1({ expiration: seconds }), 'expiration'),
        ...[access, waf, smart].map((kind) => error(kind({ expires_in: seconds }), 'expires_in')),
      ]),
    };
  },
  ruleRef: () => {
    const refs = ['a', '7', `Z${'.x:_-'.repeat(26).slice(0, 127)}`];
    return {
      says: /^must match /,
      allowed: refs.flatMap((rule_ref) => [
        taken(access({ rule_ref }), { rule_ref }),
        ...[waf, smart].map((kind) => taken({ ...kind({ rule_ref }), name: rule_ref }, { rule_ref })),
      ]),
      refused: ['', '-a', `${refs[2]}x`].flatMap((rule_ref) => [access, waf, smart].map((kind) => error(kind({ rule_ref }), 'rule_ref'))),
    };
  },
  prefix: () => {
    const target = (make: typeof v1 | typeof access, ip: string) => {
      const more = { name: ip, entry: make === v1 ? v1({ ip }).entry : access({}, { target: { ip } }).entry };
      return { path: make === v1 ? V1 : V2, ...more } as const;
    };
    return {
      // The widest networks, which swallow all others, have a list of their own below.
      says: /^(the prefix length must be 0 to (32|128)|a prefix length must follow the slash)$/,
      allowed: [
        taken({ ...target(v1, '192.0.2.1/32'), name: '192.0.2.1' }),
        taken({ ...target(access, '2001:db8::1/128'), name: '2001:db8::1' }),
      ],
      refused: ['192.0.2.1/33', '2001:db8::1/129', '192.0.2.1/-1', '192.0.2.1/'].flatMap((ip) => [
        error(target(v1, ip), 'ip'),
        error(target(access, ip), 'rule.target.ip'),
      ]),
    };
  },
  asn: () => {
    const both = (asn: string) => [v1({ ip: undefined, asn }), access({}, { target: { asn } })].map((entry) => ({ ...entry, name: asn }));
    return {
      says: /^(AS0 does not exist in the ASN data|must be AS and a number up to 4294967295, )/,
      allowed: [taken(both('AS1')[0]!), taken(both('AS4294967295')[1]!)],
      // No network has AS 0.
      refused: ['AS0', 'AS4294967296'].flatMap((asn) => both(asn).map((entry, i) => error(entry, i === 0 ? 'asn' : 'rule.target.asn'))),
    };
  },
};
/** What AS1 and AS4294967295 have. */
const ASNS = ['198.51.100.0,198.51.100.127,1,First', '198.51.100.128,198.51.100.255,4294967295,Last'];
const ASN_FEED = ['198.51.100.0/24'];

// ---------------------------------------------------------------- the suite

export function limitContract(engine: Engine): void {
  const start = (settings: Readonly<Record<string, string>>, folder: string) => {
    const [GEO_COUNTRY_FILE, GEO_ASN_FILE] = ['country.csv', 'asn.csv'].map((name) => join(folder, name)) as [string, string];
    writeFileSync(GEO_COUNTRY_FILE, '203.0.113.0,203.0.113.255,NL\n');
    writeFileSync(GEO_ASN_FILE, ASNS.map((row) => `${row}\n`).join(''));
    return startWorld({ DATA_DIR: join(folder, 'data'), ...settings, GEO_COUNTRY_FILE, GEO_ASN_FILE });
  };
  contractSuite('limits', engine, start, (world, once) => {
    test('8, D3.5, D3.7, D3.18, D3.23, D4.11 just allowed: an entry arrives whole in store, feed and export, and comes back from it', async () => {
      const client = await world().client();
      const edges = Object.values(EDGES).flatMap((of) => of().allowed);
      await postAll(client, edges, async (batch, { status, text }) => assert.equal(status, 200, `${text}\n${batch.length}`));

      const rules = await allRules(client);
      assert.equal(rules.length, edges.length);
      for (const { path, name, stored, text } of edges) {
        const kind = path === V1 ? 'access_rule' : (JSON.parse(text) as Json).kind;
        const rule = rules.find((each) => each.kind === kind && (each.target ?? each.rule_ref) === name);
        assert.ok(rule, name);
        const { lifetime, ...fields } = stored;
        for (const [field, value] of Object.entries(fields)) assert.deepEqual(rule[field], value, `${field} of ${name}`);
        if (lifetime !== undefined) assert.equal(lifetimeOf(rule), lifetime, `lifetime of ${name}`);
      }
      const published = (action: string) =>
        edges
          .filter(({ name }) => rules.some((rule) => rule.target === name && rule.action === action))
          .map(({ name }) => name)
          .filter((name) => name.startsWith('10.'))
          .map((name) => `${name}/32`)
          .sort(byAddress);
      assert.deepEqual((await client.feed()).trimEnd().split('\n'), [
        ...published('block'),
        '192.0.2.1/32',
        ...ASN_FEED,
        '2001:db8::1/128',
      ]);
      assert.deepEqual((await client.feed('?action=allow')).trimEnd().split('\n'), published('allow'));
      await movesWhole(world(), client);
    });

    once('8, D3.5, D3.7, D3.18, D3.23 just beyond: an error of the entry that names the field, and nothing of it lands', async () => {
      const client = await world().client();
      const edges = Object.values(EDGES).flatMap((of) => {
        const { refused, says } = of();
        return refused.map((edge) => ({ ...edge, says }));
      });
      await postAll(client, edges, async (batch, { status, text }) => {
        const { message, errors } = JSON.parse(text) as { message: string; errors: string[] };
        assert.deepEqual([status, message], [206, `Processed 0 entries, ${batch.length} failed`]);
        for (const [i, { fault, says }] of batch.entries()) {
          const [line, begin] = [errors[i]!, `Entry ${i}: Schema validation failed: ${fault}: `];
          assert.equal(line.slice(0, begin.length), begin);
          assert.match(line.slice(begin.length), says);
        }
      });
      assert.deepEqual(await allRules(client), []);
      assert.equal(await client.feed(), '');
    });

    once('8, D3.1 a batch has 1 to 1000 entries and 16 MiB; one more or one less is 400, and none of it lands', async () => {
      const client = await world().client();
      const events = (count: number) => Array.from({ length: count }, () => v1().entry);
      for (const count of [0, 1001]) assert.equal((await client.post(V1, events(count))).status, 400);
      for (const count of [1, 1000]) assert.equal((await client.post(V1, events(count))).status, 200);
      assert.equal((await client.feed()).split('\n').length, 1002);

      const config = sized(LIMITS.configBytes);
      const entries = Array.from({ length: 400 }, () => waf({ labels: sized(7000) }, { config }).entry);
      const whole = JSON.stringify(entries);
      const body = (bytes: number) => `${whole}${' '.repeat(bytes - Buffer.byteLength(whole))}`;
      assert.equal((await client.post(V2, body(16_777_217))).status, 400);
      assert.deepEqual(await client.rules('waf_rule'), []);
      // A machine that is busy with other things may not store so much in the time that an answer has: a 500 that may be sent again.
      await eventually(async () => assert.equal((await client.post(V2, body(16_777_216))).status, 200), 60_000);
      const rules = await client.rules('waf_rule');
      assert.equal(rules.length, 400);
      assert.deepEqual([rules[0]!.config, rules[399]!.config], [config, config]);
    });

    test('2.6, 4.6.1, D2.1, D5.1 lists and keys: names, descriptions, max_entries and lifetimes at their edges', async () => {
      const client = await world().client();
      const inSpace = ['--workspace', client.workspace];
      const list = (name: string, ...options: string[]) => world().json(['list', 'create', name, ...inSpace, ...options]);
      const refused = async (...args: string[]) => assert.equal((await command([...args, ...inSpace], world().settings)).code, 2);
      const [longest, description] = [ASTRAL.repeat(200), ASTRAL.repeat(2048)];
      const rows = [
        ...(await list('a', '--max-entries', '1')),
        ...(await list(longest, '--max-entries', '4000000', '--description', description, '--format', 'commented')),
      ];
      assert.deepEqual(
        rows.map(({ name, description: d, max_entries }) => [name, d, max_entries]),
        [
          ['a', null, 1],
          [longest, description, 4_000_000],
        ],
      );
      for (const name of ['', `${longest}a`]) await refused('list', 'create', name);
      for (const count of ['0', '4000001', '-1', '1.5']) await refused('list', 'set', 'a', '--max-entries', count);
      await refused('list', 'set', 'a', '--description', `${description}a`);

      const key = (...options: string[]) => world().json(['key', 'create', ...inSpace, ...options]);
      const [eternal] = await key('--expires-in', String(YEARS), '--name', longest);
      assert.ok(Math.abs(Date.parse(String(eternal!.expires_at)) - Date.parse(String(eternal!.created_at)) - YEARS * 1000) < 60_000);
      const feed = (name: string, query = '') => getFeed(world().weir().url, String(eternal!.key), `/${encodeURIComponent(name)}${query}`);
      const [brief] = await key('--expires-in', '1');
      await eventually(async () => assert.equal((await getFeed(world().weir().url, String(brief!.key))).status, 401), 10_000);
      for (const seconds of ['0', String(YEARS + 1)]) await refused('key', 'create', '--expires-in', seconds);
      await refused('key', 'create', '--name', `${longest}a`);

      const counts = ({ status, headers }: Reply) => [status, headers['x-feed-entry-count'], headers['x-feed-entry-limit']];
      const post = (name: string, ip: string) => client.post(`${V1}?list=${encodeURIComponent(name)}`, [v1({ ip }).entry]);
      await post('a', '0.0.0.0/0');
      await post(longest, '::/0');
      await world().landed();
      assert.deepEqual([(await feed('a')).text, counts(await feed('a'))], ['0.0.0.0/0\n', [200, '1', '1']]);
      assert.equal((await feed('a', '?format=csv_indicator')).text, '0.0.0.0-255.255.255.255,IP Range,high,high\n');
      const [header, second, ...lines] = (await feed(longest)).text.split('\n');
      assert.deepEqual([header, second, lines.at(-2)], [`# ${longest}`, `# ${ASTRAL.repeat(200)}`, '::/0']);
      assert.deepEqual(counts(await feed(longest)), [200, '1', '4000000']);
      await post('a', '::/0');
      await eventually(async () => assert.deepEqual(counts(await feed('a')), [413, '2', '1']));
      assert.deepEqual(counts(await feed('a', '?family=v6')), [200, '1', '1']);
      await movesWhole(world(), client);
    });
  });
}

/** Posts entries in batches of one path; `answered` judges each. */
async function postAll<E extends Pick<Edge, 'path' | 'text'>>(
  { post }: Client,
  edges: readonly E[],
  answered: (batch: readonly E[], reply: Reply) => Promise<void>,
): Promise<void> {
  for (const path of [V1, V2]) {
    const batch = edges.filter((edge) => edge.path === path);
    await answered(batch, await post(path, `[${batch.map(({ text }) => text).join(',')}]`));
  }
}

/** The active rules of every kind. */
async function allRules({ rules }: Client): Promise<Json[]> {
  const all = [];
  for (const kind of KINDS) all.push(...(await rules(kind)));
  return all;
}

/** Seconds from acceptance to expiry, null = for good. */
function lifetimeOf({ updated_at, expires_at }: Json): number | null {
  return expires_at === null ? null : Math.floor((Date.parse(String(expires_at)) - Date.parse(String(updated_at))) / 1000);
}

const byAddress = (a: string, b: string) => numberOf(a) - numberOf(b);
const numberOf = (network: string) => network.split(/[./]/).reduce((sum, part, i) => (i < 4 ? sum * 256 + Number(part) : sum), 0);

let moves = 0;
/** Exports the workspace and imports it into a new one: its export and all its feeds are the same. */
async function movesWhole({ settings, text, weir, landed }: World, { workspace }: Client): Promise<void> {
  moves += 1;
  await landed();
  const [file, again] = [join(settings.DATA_DIR!, `${moves}.ndjson`), join(settings.DATA_DIR!, `${moves}-again.ndjson`)];
  const [{ id: organization }] = await commandJson<[{ id: string }]>(['org', 'ls'], settings);
  const copy = await commandJson<{ id: string }>(['workspace', 'create', `copy ${moves}`, '--org', organization], settings);
  await text(['export', file, '--workspace', workspace]);
  await text(['import', file, '--workspace', copy.id]);
  await text(['export', again, '--workspace', copy.id]);
  const [before, after] = [content(file), content(again)];
  assert.ok(before.length > 1);
  assert.deepEqual(after, before);

  const [key, copyKey] = [await newKey(settings, workspace), await newKey(settings, copy.id)];
  const listsOf = (id: string) => commandJson<{ id: string; name: string }[]>(['list', 'ls', '--workspace', id], settings);
  const [lists, copies] = [await listsOf(workspace), await listsOf(copy.id)];
  for (const [i, { id, name }] of lists.entries()) {
    assert.equal(copies[i]!.name, name);
    for (const query of ['?format=plain', '?format=csv_indicator', '?format=set_elements', '?format=plain&action=allow']) {
      const [one, other] = [
        await getFeed(weir().url, key, `/${id}${query}`),
        await getFeed(weir().url, copyKey, `/${copies[i]!.id}${query}`),
      ];
      assert.deepEqual([other.status, other.text, other.headers.etag], [one.status, one.text, one.headers.etag]);
    }
  }
}

/** Lists and rules of an export, lists numbered as they come: another workspace of the same store has other ids. */
function content(file: string): string[] {
  const ids = new Map<string, string>();
  const numbered = (id: string) => ids.get(id) ?? ids.set(id, `list ${ids.size}`).get(id)!;
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => /^\{"(rule|list)"/.test(line))
    .map((line) => line.replace(/(?<=^\{"list":\{"id":"|^\{"rule":\{"kind":"access_rule".*"list_id":")[0-9a-f-]{36}/, numbered));
}
