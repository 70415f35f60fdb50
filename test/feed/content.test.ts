import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { FORMAT_NAMES, LIST_FORMATS } from '../../src/feed/formats/table.ts';
import { ManualClock, MemoryStore, Replica, type Reply } from '../support/feed-world.ts';

/** One list `edge` (the default) and a replica over it. */
function world(options: ConstructorParameters<typeof Replica>[2] = {}) {
  const clock = new ManualClock();
  const store = new MemoryStore(clock);
  const list = store.addList('edge');
  return { clock, store, list, replica: new Replica(clock, store, options) };
}

describe('4.3 content of the feed', () => {
  test('4.3.1 4.3.4 addresses as single-host networks, deduplicated, coalesced, sorted, IPv4 first', async () => {
    const { store, list, replica } = world();
    for (const target of [
      '203.0.113.7',
      '2001:db8::1',
      '10.0.0.0/9',
      '10.128.0.0/9',
      '9.9.9.9',
      '203.0.113.7/32',
      '203.0.113.6',
      '2001:db8::/127',
    ]) {
      store.add(list, target);
    }
    const reply = await replica.get('');
    assert.equal(reply.status, 200);
    assert.equal(reply.body, '9.9.9.9/32\n10.0.0.0/8\n203.0.113.6/31\n2001:db8::/127\n');
    assert.equal(reply.headers['x-feed-entry-count'], '4');
    assert.equal(reply.headers['x-feed-entry-limit'], '131072');
  });

  test('4.3.2 4.3.3 countries and ASNs as ranges, merged with the rest', async () => {
    const { store, list, replica } = world();
    store.add(list, 'NL');
    store.add(list, 'AS64500');
    store.add(list, '203.0.113.3');
    store.add(list, 'AS1');
    assert.equal((await replica.get('')).body, '198.51.100.0/23\n203.0.113.0/30\n2001:db8::/32\n');
    assert.equal((await replica.get('?family=v4')).body, '198.51.100.0/23\n203.0.113.0/30\n');
    assert.equal((await replica.get('?family=v6')).body, '2001:db8::/32\n');
  });

  test('4.3 action: the deny list or the never-block list, D5 not subtracted from each other', async () => {
    const { store, list, replica } = world();
    store.add(list, '10.0.0.0/8');
    store.add(list, '10.0.0.1', { action: 'allow' });
    assert.equal((await replica.get('?action=block')).body, '10.0.0.0/8\n');
    assert.equal((await replica.get('?action=allow')).body, '10.0.0.1/32\n');
  });

  test('1.4 3 whole address spaces and single hosts at the ends', async () => {
    const { store, list, replica } = world();
    for (const target of ['0.0.0.0/0', '255.255.255.255', '::/1', '8000::/1']) store.add(list, target);
    assert.equal((await replica.get('')).body, '0.0.0.0/0\n::/0\n');
    assert.equal((await replica.get('?format=csv_indicator&family=v4')).body, '0.0.0.0-255.255.255.255,IP Range,high,high\n');
  });
});

describe('4.5 formats', () => {
  test('4.5 commented: six header lines, then the networks', async () => {
    const { store, list, replica } = world();
    store.setList(list, { description: 'what we saw' });
    store.add(list, '192.0.2.0/24');
    const { body } = await replica.get('/edge?format=commented&family=v4');
    assert.equal(
      body,
      '# edge\n# what we saw\n# action: block\n# family: v4\n# generated: 2026-11-20T10:00:00Z\n# entries: 1\n192.0.2.0/24\n',
    );
  });

  test('D5 commented: the workspace name, a bare # without description', async () => {
    const { replica } = world();
    const { body } = await replica.get('?format=commented');
    assert.equal(body, '# acme\n#\n# action: block\n# family: both\n# generated: 2026-11-20T10:00:00Z\n# entries: 0\n');
  });

  test('D5 commented: names cannot forge lines, and are cut at 200 characters', async () => {
    const { store, list, replica } = world();
    store.setList(list, { name: `a\n0.0.0.0/0\r\u0085\u2028${'é😀'.repeat(200)}`, description: 'x\u0000\ty' });
    const lines = (await replica.get(`/${list}?format=commented`)).body.split('\n');
    assert.equal(lines[0].slice(0, 19), '# a 0.0.0.0/0   é😀');
    assert.equal(Array.from(lines[0]).length, 202);
    assert.equal(lines[1], '# x  y');
    assert.equal(lines.length, 7);
  });

  test('4.5 csv_indicator: hosts, ranges, classes, defaults of rule, list and service', async () => {
    const { store, list, replica } = world();
    store.add(list, '192.0.2.1');
    store.add(list, '192.0.2.0/24', { confidence: 'low', severity: 'critical' });
    store.add(list, '192.0.2.0/25', { severity: 'low' });
    store.add(list, '2001:db8::5');
    store.add(list, '2001:db8::/32', { confidence: 'medium' });
    store.setList(list, { severity: 'medium' });
    const rows = [
      '192.0.2.0-192.0.2.255,IP Range,low,critical',
      '192.0.2.0-192.0.2.127,IP Range,high,low',
      '192.0.2.1,IP,high,medium',
      '2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff,IP Range,medium,medium',
      '2001:db8::5,IP,high,medium',
    ];
    const reply = await replica.get('/edge?format=csv_indicator');
    assert.equal(reply.body, `${rows.join('\n')}\n`);
    assert.equal(reply.headers['x-feed-entry-count'], '5');
    assert.equal(reply.headers['content-type'], 'text/csv; charset=utf-8');
    // The workspace has no configured default.
    assert.equal((await replica.get('?format=csv_indicator')).body, `${rows.join('\n').replaceAll(/medium$/gm, 'high')}\n`);
  });

  test('4.5 networks of different confidence or severity are never merged, those of one class are', async () => {
    const { store, list, replica } = world();
    store.add(list, '192.0.2.0/25', { confidence: 'high' });
    store.add(list, '192.0.2.128/25');
    store.add(list, '192.0.2.128/25', { confidence: 'low' });
    store.add(list, '192.0.2.128/25', { severity: 'low' });
    const { body } = await replica.get('?format=csv_indicator');
    assert.equal(
      body,
      '192.0.2.0-192.0.2.255,IP Range,high,high\n192.0.2.128-192.0.2.255,IP Range,low,high\n192.0.2.128-192.0.2.255,IP Range,high,low\n',
    );
  });

  test('D5 csv_indicator order: first address, wider first, then confidence and severity by rank', async () => {
    const { store, list, replica } = world();
    for (const confidence of ['critical', 'high', 'medium', 'low'] as const) {
      for (const severity of ['critical', 'high', 'medium', 'low'] as const) {
        store.add(list, '192.0.2.4', { confidence, severity });
        store.add(list, '192.0.2.4/30', { confidence, severity });
      }
    }
    const rows = (await replica.get('?format=csv_indicator')).body.split('\n').slice(0, -1);
    const rank = ['low', 'medium', 'high', 'critical'];
    const classes = rank.flatMap((confidence) => rank.map((severity) => `${confidence},${severity}`));
    // The host lies inside the range of its own class.
    assert.deepEqual(
      rows,
      classes.map((each) => `192.0.2.4-192.0.2.7,IP Range,${each}`),
    );
  });

  test('4.5 set_elements: one line', async () => {
    const { store, list, replica } = world();
    store.add(list, '192.0.2.1');
    store.add(list, '198.51.100.0/24');
    store.add(list, '2001:db8::/32');
    assert.equal((await replica.get('?format=set_elements&family=v4')).body, 'elements = { 192.0.2.1/32, 198.51.100.0/24 }\n');
    assert.equal((await replica.get('?format=set_elements')).body, 'elements = { 192.0.2.1/32, 198.51.100.0/24, 2001:db8::/32 }\n');
  });

  test('4.3 D5 txt, paloalto, panos, fortigate and fortinet are plain', async () => {
    const { store, list, replica } = world();
    store.add(list, '192.0.2.1');
    const plain = await replica.get('?format=plain');
    for (const alias of ['txt', 'paloalto', 'panos', 'fortigate', 'fortinet']) {
      const reply = await replica.get(`?format=${alias}`);
      assert.equal(reply.body, plain.body, alias);
      assert.equal(reply.headers.etag, plain.headers.etag, alias);
    }
  });

  /** A script also empties the list of the device. */
  const HEADER_LINES: Readonly<Record<string, number>> = { commented: 6, mikrotik: 13 };

  test('D5 the empty feed: 200, count 0, no bytes but the header of commented and the script of mikrotik', async () => {
    const { replica } = world();
    for (const format of FORMAT_NAMES) {
      const reply = await replica.get(`?format=${format}`);
      assert.equal(reply.status, 200);
      assert.equal(reply.headers['x-feed-entry-count'], '0');
      assert.equal(reply.headers['content-length'], String(reply.bytes.length));
      assert.equal(reply.body.split('\n').length - 1, HEADER_LINES[format] ?? 0, format);
      const zipped = await replica.get(`?format=${format}`, { 'accept-encoding': 'gzip' });
      assert.equal(gunzipSync(zipped.bytes).toString(), reply.body);
    }
  });
});

describe('4.3 headers and representations', () => {
  test('4.3 the headers of a 200 and of its 304', async () => {
    const { store, list, replica } = world();
    store.add(list, '192.0.2.1');
    const { headers } = await replica.get('');
    const { etag, ...rest } = headers;
    assert.match(etag, /^"[\w-]{27}"$/);
    assert.deepEqual(rest, {
      'last-modified': 'Fri, 20 Nov 2026 10:00:00 GMT',
      'cache-control': 'private, max-age=30, must-revalidate',
      vary: 'Accept-Encoding, Authorization',
      'x-content-type-options': 'nosniff',
      'x-feed-entry-count': '1',
      'x-feed-entry-limit': '131072',
      'content-type': 'text/plain; charset=utf-8',
      'content-length': '13',
    });
    const unchanged = await replica.get('', { 'if-none-match': etag });
    const { 'content-type': _type, 'content-length': _length, ...repeated } = headers;
    assert.deepEqual([unchanged.status, unchanged.body, unchanged.headers], [304, '', repeated]);
  });

  test('4.3 strong ETags that differ per format, family, action and coding, also of empty feeds', async () => {
    const { replica } = world();
    const etags = new Set<string>();
    let asked = 0;
    for (const format of FORMAT_NAMES) {
      for (const family of ['v4', 'v6', 'both']) {
        for (const action of ['block', 'allow']) {
          for (const more of ['', '&checksum=md5']) {
            for (const coding of more === '' ? ['', 'gzip'] : ['']) {
              const reply = await replica.get(`?format=${format}&family=${family}&action=${action}${more}`, { 'accept-encoding': coding });
              etags.add(reply.headers.etag);
              asked += 1;
            }
          }
        }
      }
    }
    assert.equal(etags.size, asked);
  });

  test('4.3 compression: its own representation, whose tag does not match the other coding', async () => {
    const { store, list, replica } = world();
    for (let i = 0; i < 500; i++) store.add(list, `192.0.${i % 250}.${i}`.replace(/\d+$/, String(i % 256)));
    const plain = await replica.get('');
    const zipped = await replica.get('', { 'accept-encoding': 'gzip, deflate' });
    assert.equal(zipped.headers['content-encoding'], 'gzip');
    assert.equal(zipped.headers['content-length'], String(zipped.bytes.length));
    assert.deepEqual(gunzipSync(zipped.bytes), Buffer.from(plain.bytes));
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.notEqual(plain.headers.etag, zipped.headers.etag);
    assert.equal((await replica.get('', { 'accept-encoding': 'gzip', 'if-none-match': plain.headers.etag })).status, 200);
    assert.equal((await replica.get('', { 'if-none-match': zipped.headers.etag })).status, 200);
    const unchanged = await replica.get('', { 'accept-encoding': 'gzip', 'if-none-match': zipped.headers.etag });
    assert.deepEqual([unchanged.status, unchanged.headers['content-encoding']], [304, undefined]);
  });

  test('D5 a 304 of the compressed feed needs no compressing', async () => {
    const { store, list, replica } = world();
    store.add(list, '192.0.2.1');
    const zipped = await replica.get('', { 'accept-encoding': 'gzip' });
    const { replica: other, store: otherStore } = world();
    otherStore.add(list, '192.0.2.1');
    const asked: string[] = [];
    const { cache } = other;
    const body = cache.body.bind(cache);
    cache.body = (found, coding) => {
      asked.push(coding);
      return body(found, coding);
    };
    assert.equal((await other.get('', { 'accept-encoding': 'gzip', 'if-none-match': zipped.headers.etag })).status, 304);
    assert.deepEqual(asked, []);
  });

  test('4.3 checksum: the MD5 of the identity bytes of the same parameters, whatever Accept-Encoding says', async () => {
    const { store, list, replica } = world();
    store.add(list, '192.0.2.1');
    for (const format of FORMAT_NAMES) {
      const feed = await replica.get(`?format=${format}`);
      const digest = await replica.get(`?format=${format}&checksum=md5`, { 'accept-encoding': 'gzip' });
      assert.equal(digest.body, createHash('md5').update(feed.bytes).digest('hex'));
      assert.equal(digest.headers['content-type'], 'text/plain; charset=utf-8');
      assert.equal(digest.headers['content-length'], '32');
      assert.equal(digest.headers['content-encoding'], undefined);
      assert.equal(digest.headers['x-feed-entry-count'], '1');
      assert.equal((await replica.get(`?checksum=md5&format=${format}`, { 'if-none-match': digest.headers.etag })).status, 304);
    }
  });
});

describe('4.4 named lists', () => {
  test('4.4.1 by UUID and by name, that list only', async () => {
    const { store, list, replica } = world();
    const other = store.addList('dmz / außen');
    store.add(list, '192.0.2.1');
    store.add(other, '192.0.2.2');
    for (const ref of [other, other.toUpperCase(), encodeURIComponent('dmz / außen')]) {
      assert.equal((await replica.get(`/${ref}`)).body, '192.0.2.2/32\n', ref);
    }
    assert.equal((await replica.get('')).body, '192.0.2.1/32\n192.0.2.2/32\n');
  });

  test('D5 a UUID wins over a name, names are compared exactly', async () => {
    const { store, list, replica } = world();
    const other = store.addList(list);
    store.add(list, '192.0.2.1');
    store.add(other, '192.0.2.2');
    assert.equal((await replica.get(`/${list}`)).body, '192.0.2.1/32\n');
    assert.equal((await replica.get('/Edge')).status, 404);
    assert.equal((await replica.get('/edge%20')).status, 404);
  });

  test('4.4.3 stored defaults apply where the query says nothing, an explicit parameter overrides', async () => {
    const { store, list, replica } = world();
    store.add(list, '192.0.2.1', { action: 'allow' });
    store.add(list, '2001:db8::1', { action: 'allow' });
    store.add(list, '192.0.2.9');
    store.setList(list, { format: 'fortigate', family: 'v6', action: 'allow', maxEntries: 7 });
    assert.equal((await replica.get('/edge')).body, '2001:db8::1/128\n');
    assert.equal((await replica.get('/edge')).headers['x-feed-entry-limit'], '7');
    assert.equal((await replica.get('/edge?family=both')).body, '192.0.2.1/32\n2001:db8::1/128\n');
    assert.equal((await replica.get('/edge?action=block&family=v4')).body, '192.0.2.9/32\n');
    assert.equal((await replica.get('/edge?format=set_elements')).body, 'elements = { 2001:db8::1/128 }\n');
    assert.equal((await replica.get('')).headers['x-feed-entry-limit'], '131072');
  });

  test('4.4.4 4.4.5 7.3 ambiguous names are 409 with the UUIDs, unknown lists 404', async () => {
    const { store, replica } = world();
    const twins = [store.addList('twin'), store.addList('twin')];
    const conflict = await replica.get('/twin');
    assert.deepEqual([conflict.status, conflict.fault?.details], [409, { lists: twins }]);
    assert.equal((await replica.get(`/${twins[0]}`)).status, 200);
    assert.equal((await replica.get('/nowhere')).status, 404);
    assert.equal((await replica.get('/%zz')).status, 400);
  });

  test('D5 a list that is new is found although the directory was just read', async () => {
    const { store, replica } = world();
    await replica.get('');
    assert.equal((await replica.get('/later')).status, 404);
    store.addList('later');
    assert.equal((await replica.get('/later')).status, 200);
  });

  test('D2 a key that is bound to a list reads that one only', async () => {
    const { store, list, replica } = world();
    const own = store.addList('own');
    store.addList('own2');
    const get = async (target: string) => (await replica.get(target, {}, own)).status;
    assert.deepEqual([await get('/own'), await get(`/${own}`)], [200, 200]);
    assert.deepEqual([await get('/edge'), await get(`/${list}`), await get('/nowhere'), await get('')], [403, 403, 403, 403]);
    assert.deepEqual([await get('/edge?format=x'), await get('/own?format=x')], [403, 400]);
    // Also when it stands ready for others.
    await replica.get('/edge');
    assert.equal(await get('/edge'), 403);
  });
});

describe('7.3 feed errors', () => {
  const refusal = ({ status, fault }: Reply) => [status, fault?.details];

  test('7.3 D5 unsupported values, case, repetition and emptiness are 400; unknown parameters are ignored', async () => {
    const { replica } = world();
    const formats = { supported: LIST_FORMATS };
    for (const query of ['?format=xml', '?format=Plain', '?format=toString']) {
      assert.deepEqual(refusal(await replica.get(query)), [400, formats], query);
    }
    for (const query of [
      '?family=v5',
      '?family=BOTH',
      '?action=deny',
      '?checksum=sha1',
      '?checksum=MD5',
      '?format=plain&format=plain',
      '?family=v4&family=v6',
      '?format=',
      '?format',
      '?checksum=',
      '?action=%zz',
    ]) {
      assert.deepEqual(refusal(await replica.get(query)), [400, {}], query);
    }
    for (const query of ['?', '?max_entries=1&confidence=low&severity=low', '?%zz=1', '?a=1&a=2', '?x=', '?f%6frmat=plain']) {
      assert.equal((await replica.get(query)).status, 200, query);
    }
  });

  test('4.6 413 with count, limit and the rules that cost most; the cap belongs to the representation', async () => {
    const { store, list, replica } = world();
    store.setList(list, { maxEntries: 4 });
    for (const address of ['192.0.2.1', '192.0.2.3']) store.add(list, address);
    store.add(list, 'NL');
    const tooLarge = await replica.get('/edge');
    assert.deepEqual(refusal(tooLarge), [
      413,
      {
        entries: 6,
        limit: 4,
        hint:
          'The entries come from country NL (4 networks), 2 address rules. To publish this feed: narrow or remove the rules that cost most; ' +
          "or ask for one family (family=v4); or use a coarser geo-IP source; or raise the list's max_entries.",
      },
    ]);
    assert.match(tooLarge.fault?.message ?? '', /exceeds the maximum number of entries/);
    assert.deepEqual([tooLarge.headers['X-Feed-Entry-Count'], tooLarge.headers['X-Feed-Entry-Limit']], ['6', '4']);
    assert.equal((await replica.get('/edge?checksum=md5')).status, 413);
    assert.equal((await replica.get('/edge', { 'if-none-match': '*' })).status, 413);
    assert.equal((await replica.get('/edge?family=v6')).status, 200);
    assert.equal((await replica.get('')).status, 200);
  });

  test('D5.8 the hint advises to ask for one family only where both have entries', async () => {
    for (const [other, advised] of [
      ['192.0.2.3', false],
      ['2001:db8::1', true],
    ] as const) {
      const { store, list, replica } = world();
      store.setList(list, { maxEntries: 1 });
      for (const address of ['192.0.2.1', other]) store.add(list, address);
      assert.equal(/ask for one family/.test(JSON.stringify(refusal(await replica.get('/edge')))), advised);
    }
  });

  test('4.6 exactly the cap is served, csv may exceed where plain does not', async () => {
    const { store, list, replica } = world();
    store.setList(list, { maxEntries: 2 });
    store.add(list, '192.0.2.1');
    store.add(list, '192.0.2.3');
    store.add(list, '192.0.2.1', { confidence: 'low' });
    assert.equal((await replica.get('/edge')).status, 200);
    assert.equal((await replica.get('/edge?format=csv_indicator')).status, 413);
  });

  test('D5 RFC 9110: a failed precondition is 412', async () => {
    const { replica } = world();
    assert.equal((await replica.get('', { 'if-match': '"other"' })).status, 412);
  });
});
