/** Pulls from TAXII servers on this machine that do what servers in the wild do. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { ANYWHERE, sourceReach } from '../../src/fetch/reach.ts';
import { taxiiServer } from '../../src/fetch/taxii.ts';
import { isRefused } from '../../src/source/taxii/ask.ts';
import { type KnownCollection, knownFrom, linesOf } from '../../src/source/taxii/known.ts';
import { listLines, taxiiEntries } from '../../src/source/taxii/list.ts';
import { pulledOf, pullTaxii, type TaxiiPulled } from '../../src/source/taxii/pull.ts';

const NOW = Date.parse('2026-11-23T12:00:00Z');
const DAY = 24 * 3_600_000;

interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
}

/** A server that answers with what `answer` makes of a request. Resolves with its address and what it was asked. */
async function serve(t: TestContext, answer: (url: URL, request: IncomingMessage) => Answer) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://x');
    asked.push(
      decodeURIComponent(url.search.slice(1)).replace('match[type]=indicator&limit=500', '') || (url.search === '' ? url.pathname : ''),
    );
    const { status = 200, headers = {}, body } = answer(url, request);
    response.writeHead(status, { 'content-type': 'application/taxii+json;version=2.1', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const COLLECTION = '/root/collections/c/';

interface Pull {
  readonly known?: KnownCollection | undefined;
  readonly collection?: string;
  readonly now?: number;
  readonly credentials?: Record<string, string>;
  readonly bytes?: number;
  readonly reach?: typeof ANYWHERE;
  readonly mostPages?: number;
}

const pull = (url: string, { known, collection, now = NOW, credentials, bytes = 1 << 20, reach = ANYWHERE, mostPages }: Pull = {}) => {
  const limits = { idleMs: 30_000, totalMs: 60_000, bytes };
  const request = { url, userAgent: 'weir/test', limits, reach, signal: new AbortController().signal, ...(credentials && { credentials }) };
  return pullTaxii({ server: taxiiServer(request, () => now), collection, known, now: () => now, ...(mostPages && { mostPages }) });
};

async function pulled(url: string, more: Pull = {}): Promise<TaxiiPulled> {
  const found = await pull(url, more);
  assert.ok(!isRefused(found), JSON.stringify(found));
  return found;
}

const networks = ({ list }: TaxiiPulled) => [...list.rows].map((row) => row.value);

const indicator = (n: number, more: object = {}) => ({
  type: 'indicator',
  id: `indicator--${n}`,
  created: '2026-01-01T00:00:00.000Z',
  modified: '2026-01-01T00:00:00.000Z',
  pattern: `[ipv4-addr:value = '192.0.2.${n}']`,
  pattern_type: 'stix',
  valid_from: '2026-01-01T00:00:00Z',
  ...more,
});
const added = (n: number, micros = '000123') => ({
  'x-taxii-date-added-last': `2026-11-01T00:00:${String(n).padStart(2, '0')}.${micros}Z`,
});

test('D23.31 pages by next, by the instant of the last, and both; instants go back as they came, with microseconds', async (t) => {
  const { origin, asked } = await serve(t, ({ searchParams }) => {
    const page = searchParams.get('next') ?? searchParams.get('added_after');
    if (page === null) return { headers: added(1), body: { more: true, next: 'a/ b', objects: [indicator(1)] } };
    if (page === 'a/ b') return { headers: added(2), body: { more: true, objects: [indicator(2)] } };
    if (page.endsWith('02.000123Z')) return { headers: added(3, '999999'), body: { more: false, objects: [indicator(3)] } };
    return { body: {} };
  });
  const first = await pulled(origin + COLLECTION);
  assert.deepEqual(networks(first), ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
  assert.deepEqual([first.pages, first.known.cursor, first.note], [3, '2026-11-01T00:00:03.999999Z', undefined]);
  const second = await pulled(origin + COLLECTION, { known: first.known });
  const since = (instant: string) => `&added_after=2026-11-01T00:00:${instant}Z`;
  assert.deepEqual(asked, ['', '&next=a/+b', since('02.000123'), since('03.999999')]);
  assert.equal(second.digest, first.digest);
  assert.equal(second.known.cursor, first.known.cursor);
});

const LOOPS: Record<string, { readonly answer: (url: URL, n: number) => Answer; readonly pages: number; readonly networks: number }> = {
  'added_after is taken as greater or equal, and the last comes for ever': {
    answer: ({ searchParams }) =>
      searchParams.has('added_after')
        ? { headers: added(2), body: { more: true, objects: [indicator(2)] } }
        : { headers: added(2), body: { more: true, objects: [indicator(1), indicator(2)] } },
    pages: 2,
    networks: 2,
  },
  'the same next for ever, with the same objects': {
    answer: () => ({ headers: added(1), body: { more: true, next: 'x', objects: [indicator(1)] } }),
    pages: 3,
    networks: 1,
  },
  'two next in turn': {
    answer: ({ searchParams }) => {
      const next = searchParams.get('next') === 'a' ? 'b' : 'a';
      return { headers: added(1), body: { more: true, next, objects: [indicator(next === 'a' ? 1 : 2)] } };
    },
    pages: 4,
    networks: 2,
  },
  'more without objects and without a way on': { answer: () => ({ body: { more: true } }), pages: 1, networks: 0 },
};
for (const [what, { answer, pages, networks: count }] of Object.entries(LOOPS))
  test(`D23.31 a loop ends, and is told: ${what}`, async (t) => {
    let n = 0;
    const { origin } = await serve(t, (url) => answer(url, n++));
    const found = await pulled(origin + COLLECTION);
    assert.deepEqual([found.pages, networks(found).length], [pages, count]);
    assert.match(found.note!, /^the server announces more objects but sends nothing new/);
  });

test('D23.31 one next for all pages of a query, and pages on which nothing is left, are no loops', async (t) => {
  let n = 0;
  const { origin } = await serve(t, () => {
    n += 1;
    const objects = n === 2 ? [] : [indicator(n)];
    return { headers: added(n), body: { more: n < 6, next: n < 3 ? `n${n}` : 'same', objects } };
  });
  const found = await pulled(origin + COLLECTION);
  assert.deepEqual([found.pages, networks(found).length, found.note], [6, 5, undefined]);
});

test('D23.31 what is not whole is a fault: pages without end, more without a way on, no envelope, too many bytes', async (t) => {
  let n = 0;
  const endless = await serve(t, () => {
    n += 1;
    return { headers: added(1), body: { more: true, next: `n${n}`, objects: [indicator(1, { id: `indicator--${n}` })] } };
  });
  await assert.rejects(pull(endless.origin + COLLECTION, { mostPages: 50 }), { code: 'FETCH', message: /has more than 50 pages$/ });
  await assert.rejects(pull(endless.origin + COLLECTION, { bytes: 2000 }), { code: 'FETCH', message: /it is longer than \d+ bytes$/ });
  for (const [body, message] of [
    [{ more: true, objects: [indicator(1)] }, /announces more objects, but neither next nor X-TAXII-Date-Added-Last$/],
    [[indicator(1)], /no envelope of TAXII 2\.1$/],
    [{ objects: 'none' }, /no envelope of TAXII 2\.1$/],
    ['<!DOCTYPE html>', /the answer is no JSON, as TAXII 2\.1 is$/],
  ] as const) {
    const { origin } = await serve(t, () => ({ body }));
    await assert.rejects(pull(origin + COLLECTION), { code: 'FETCH', message });
  }
});

test('D23.33 the latest version counts, to the microsecond; revoked and outside of its time is passed over and counted', async (t) => {
  const version = (micros: string, n: number, more: object = {}) => ({
    ...indicator(n, { id: 'indicator--v', modified: `2026-02-01T00:00:00.${micros}Z` }),
    ...more,
  });
  const objects = [
    version('000002', 2),
    version('000001', 1),
    version('00000', 3),
    indicator(4, { revoked: true }),
    indicator(5, { valid_until: '2026-11-23T11:59:59.999999Z' }),
    indicator(6, { valid_until: '2026-12-01T00:00:00.123456Z', name: 'n'.repeat(300), confidence: 85 }),
    indicator(7, { valid_from: '2026-11-24T00:00:00Z' }),
    indicator(8, { pattern_type: 'snort' }),
    indicator(9, { pattern: undefined }),
    indicator(10, { valid_until: 'soon' }),
    indicator(11, { pattern: "[ipv4-addr:value = '192.0.2.6']", valid_until: '2026-11-24T00:00:00Z' }),
    { type: 'ipv4-addr', id: 'ipv4-addr--1', value: '192.0.2.99' },
    { id: 7 },
    'none',
  ];
  const { origin } = await serve(t, () => ({ headers: added(1), body: { objects } }));
  const found = await pulled(origin + COLLECTION);
  assert.deepEqual(networks(found), ['192.0.2.2', '192.0.2.6']);
  assert.deepEqual(
    { ...found.list.passed },
    {
      revoked: 1,
      'valid_until has passed': 1,
      'valid_from lies ahead': 1,
      'a pattern in another language: snort': 1,
      'an indicator without a pattern': 1,
      'an instant that cannot be read': 1,
      'no indicator: ipv4-addr': 1,
    },
  );
  const defaults = { action: 'block', expiresIn: undefined, reason: undefined, labels: { source: 's' } } as const;
  const bytes = async function* () {
    for (const line of listLines(found.list)) yield Buffer.from(line);
  };
  const [, last, ...passed] = await Array.fromAsync(taxiiEntries(bytes(), defaults));
  assert.equal(passed.length, 7);
  assert.ok(last !== undefined && 'entry' in last && last.place === 'indicator--6');
  const { expiry, reason, labels, config } = last.entry;
  assert.deepEqual(
    [expiry, reason, labels, config],
    [{ at: Date.parse('2026-12-01T00:00:00.123Z') }, 'n'.repeat(200), { source: 's', indicator: 'indicator--6' }, { confidence: 'high' }],
  );
});

test('D23.34 what was added since and what was known are the list; anew once a day, and where it is another collection', async (t) => {
  let objects: object[] = [indicator(1), indicator(2)];
  let refuses = false;
  const { origin, asked } = await serve(t, ({ searchParams }) => {
    const isSince = searchParams.has('added_after');
    if (refuses && isSince) return { status: 400, body: { title: 'bad' } };
    return { headers: added(isSince ? 2 : 1), body: { objects } };
  });
  const first = await pulled(origin + COLLECTION);
  objects = [indicator(1, { modified: '2026-03-01T00:00:00Z', revoked: true }), indicator(3)];
  const second = await pulled(origin + COLLECTION, { known: first.known });
  assert.deepEqual(networks(second), ['192.0.2.2', '192.0.2.3']);
  assert.deepEqual([second.known.completeAt, second.known.cursor], [NOW, '2026-11-01T00:00:02.000123Z']);

  // What is kept is what comes back; of another address, or damaged, it is nothing.
  const of = pulledOf(origin + COLLECTION, undefined);
  const kept = [...linesOf(second.known)];
  const lines = async function* (all: readonly string[]) {
    yield* all;
  };
  const known = await knownFrom(lines(kept), of);
  assert.deepEqual(known, second.known);
  assert.equal(await knownFrom(lines(kept), pulledOf(origin + COLLECTION, 'c')), undefined);
  assert.equal(await knownFrom(lines([...kept, '{"id":']), of), undefined);
  assert.equal(await knownFrom(lines([]), of), undefined);

  // Nothing says that the second is gone: a whole pull does.
  objects = [indicator(3)];
  assert.deepEqual(networks(await pulled(origin + COLLECTION, { known, now: NOW + DAY - 1 })), ['192.0.2.2', '192.0.2.3']);
  assert.deepEqual(networks(await pulled(origin + COLLECTION, { known, now: NOW + DAY })), ['192.0.2.3']);
  assert.deepEqual(networks(await pulled(`${origin}/root/collections/d/`, { known })), ['192.0.2.3']);
  refuses = true;
  assert.deepEqual(networks(await pulled(origin + COLLECTION, { known })), ['192.0.2.3']);
  assert.equal(asked.filter((each) => each.startsWith('&added_after')).length, 3);
});

test('D23.30 a server, an API root and its collections lead to the one that may be read; several are named', async (t) => {
  const seen: (string | undefined)[] = [];
  const other = await serve(t, ({ pathname }, { headers }) => {
    seen.push(headers.authorization);
    return {
      body: pathname.endsWith('/objects/') ? { objects: [indicator(9)] } : { collections: [{ id: 'o', title: 'other', can_read: true }] },
    };
  });
  const secret = { id: 's', title: 'secret', can_read: false };
  const one = { id: 'c', title: 'one', alias: 'first', can_read: true };
  let collections = [one, secret];
  const { origin, asked } = await serve(t, ({ pathname }, { headers }) => {
    assert.deepEqual([headers.authorization, headers.accept], ['Basic x', 'application/taxii+json;version=2.1']);
    if (pathname === '/taxii2/') return { body: { title: 't', api_roots: ['/root/'] } };
    if (pathname === '/elsewhere/') return { body: { title: 't', api_roots: [`${other.origin}/root/`] } };
    if (pathname === '/root/') return { body: { title: 'r', versions: ['application/taxii+json;version=2.1'] } };
    if (pathname === '/root/collections/') return { body: { collections } };
    if (pathname === `${COLLECTION}objects/`) return { body: { objects: [indicator(1)] } };
    return { status: 404, body: {} };
  });
  const credentials = { authorization: 'Basic x' };
  for (const path of ['/taxii2/', '/taxii2', '/root', '/root/collections/', COLLECTION, `${COLLECTION}objects/`, `${COLLECTION}manifest/`])
    assert.deepEqual(networks(await pulled(origin + path, { credentials })), ['192.0.2.1'], path);
  assert.deepEqual(networks(await pulled(`${origin}/elsewhere/`, { credentials })), ['192.0.2.9']);
  assert.deepEqual(seen, [undefined, undefined], 'credentials stay with the origin that was named');

  collections = [one, { ...one, id: 'd', title: 'two', alias: 'second' }];
  await assert.rejects(pull(`${origin}/taxii2/`, { credentials }), {
    message: /choose a collection: c \(one\), d \(two\)$/,
  });
  for (const collection of ['c', 'one', 'first']) await pulled(`${origin}/taxii2/`, { credentials, collection });
  await assert.rejects(pull(`${origin}/taxii2/`, { credentials, collection: 'x' }), { message: /choose a collection/ });
  collections = [secret];
  await assert.rejects(pull(`${origin}/taxii2/`, { credentials }), { message: /there is no readable collection$/ });
  assert.deepEqual(await pull(`${origin}/nowhere/`, { credentials }), { status: 404, retryAfter: undefined });
  assert.ok(asked.includes('/taxii2/'));

  const web = await serve(t, () => ({ body: { hello: 1 } }));
  await assert.rejects(pull(web.origin), { message: /the answer is neither a server, an API root nor collections of TAXII 2\.1$/ });
  await assert.rejects(pull(web.origin, { reach: sourceReach([], []) }), { message: /private, special or own network/ });
});
