/** Headers, validators, codings, digests: how a feed is sent. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { FORMAT_NAMES, FORMATS } from '../../../src/feed/formats/table.ts';
import type { Headers, Reply } from '../../support/http.ts';
import { eventually } from '../../support/weir.ts';
import type { Once } from '../engine.ts';
import { ACTIONS, FAMILIES, FEEDS, type FeedWorld, lastModified, type Space, upsert } from './world.ts';

const GZIP = { 'accept-encoding': 'gzip' };
const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex');

/** A date in the three forms of RFC 9110, 5.6.7. */
function dateForms(second: number): string[] {
  const fixdate = new Date(second * 1000).toUTCString();
  const [, day, date, month, year, time] = /^(\w+), (\d\d) (\w+) (\d{4}) (\S+) GMT$/.exec(fixdate)!;
  const long = new Date(second * 1000).toLocaleDateString('en-GB', { weekday: 'long', timeZone: 'UTC' });
  return [
    fixdate,
    `${long}, ${date}-${month}-${year!.slice(2)} ${time} GMT`,
    `${day} ${month} ${String(Number(date)).padStart(2)} ${time} ${year}`,
  ];
}

/** What an answer says of its feed, without the headers of the connection. */
function feedHeaders({ headers }: Reply): Record<string, string | undefined> {
  const { date: _, connection: __, 'keep-alive': ___, ...own } = headers;
  return own;
}

export function representationTests(feeds: () => FeedWorld, once: Once): void {
  let space: Space;
  /** The workspace that most of these tests only read. */
  async function reader(): Promise<Space> {
    if (space !== undefined) return space;
    const made = await feeds().space();
    await made.list('edge', '--description', 'an edge');
    await made.block(['192.0.2.1', '2001:db8::/32'], 'edge');
    await made.send([upsert('198.51.100.0/24', { action: 'allow' })], 'edge');
    await made.reads('', '192.0.2.1/32\n2001:db8::/32\n');
    await made.reads('?action=allow', '198.51.100.0/24\n');
    space = made;
    return made;
  }

  once('4.3.6, D5.2 exactly these headers on 200, on every format, with gzip and without', async () => {
    const { get } = await reader();
    for (const target of ['', '/edge']) {
      for (const format of FORMAT_NAMES) {
        for (const coding of ['identity', 'gzip']) {
          const reply = await get(`${target}?format=${format}`, { headers: { 'accept-encoding': coding } });
          const { etag, 'last-modified': modified, ...rest } = feedHeaders(reply);
          assert.equal(reply.status, 200);
          assert.match(etag!, /^"[\x21\x23-\x7e]+"$/);
          assert.equal(modified, new Date(lastModified(reply) * 1000).toUTCString());
          assert.deepEqual(rest, {
            'cache-control': 'private, max-age=30, must-revalidate',
            vary: 'Accept-Encoding, Authorization',
            'x-content-type-options': 'nosniff',
            'x-feed-entry-count': '2',
            'x-feed-entry-limit': '131072',
            'content-type': `${FORMATS[format].mediaType}; charset=utf-8`,
            'content-length': String(reply.bytes.length),
            ...(coding === 'gzip' && { 'content-encoding': 'gzip' }),
          });
        }
      }
    }
  });

  once('4.3.6, D5.10 the ETag differs per format, family, action and coding, also of empty feeds', async () => {
    const { get, list } = await feeds().space();
    await list('edge');
    const tags = new Map<string, string>();
    for (const format of FORMAT_NAMES) {
      for (const family of FAMILIES) {
        for (const action of ACTIONS) {
          const query = `?format=${format}&family=${family}&action=${action}`;
          for (const [coding, reply] of Object.entries({
            identity: await get(query),
            gzip: await get(query, { headers: GZIP }),
            md5: await get(`${query}&checksum=md5`),
          })) {
            assert.deepEqual([reply.status, reply.headers['x-feed-entry-count']], [200, '0']);
            const tag = reply.headers.etag!;
            assert.equal(tags.get(tag), undefined, `${query} ${coding}`);
            tags.set(tag, `${query} ${coding}`);
          }
        }
      }
    }
    assert.equal(tags.size, FORMAT_NAMES.length * 18);
  });

  once('4.3.7, D5.11 304: no body, and the headers that tell of the feed', async () => {
    const { get } = await reader();
    for (const target of ['', '/edge?format=csv_indicator', '?checksum=md5', '?format=commented']) {
      for (const coding of ['identity', 'gzip']) {
        const headers = { 'accept-encoding': coding };
        const full = await get(target, { headers });
        const { 'content-type': _, 'content-length': __, 'content-encoding': ___, ...kept } = feedHeaders(full);
        const conditions = [{ 'if-none-match': full.headers.etag! }, { 'if-modified-since': full.headers['last-modified']! }];
        for (const condition of conditions) {
          for (const method of ['GET', 'HEAD']) {
            const unchanged = await get(target, { method, headers: { ...headers, ...condition } });
            assert.deepEqual([unchanged.status, unchanged.bytes.length, feedHeaders(unchanged)], [304, 0, kept]);
          }
        }
      }
    }
  });

  once('4.3.7, D5.11 If-None-Match: lists, *, weak tags; it wins over If-Modified-Since', async () => {
    const { get } = await reader();
    const { headers } = await get();
    const [tag, modified] = [headers.etag!, headers['last-modified']!];
    const status = async (given: Record<string, string | string[]>) => (await get('', { headers: given })).status;
    for (const match of [tag, `W/${tag}`, '*', `"x", ${tag}`, `W/"x",W/${tag} , "y"`, `"a,b" , ${tag}`, `,, ${tag}`]) {
      assert.equal(await status({ 'if-none-match': match }), 304, match);
    }
    assert.equal(await status({ 'if-none-match': ['"x"', tag] }), 304);
    for (const match of ['"x"', tag.slice(1, -1), `${tag.slice(0, -1)}x"`, '""', `"${tag}"`]) {
      assert.equal(await status({ 'if-none-match': match }), 200, match);
    }
    const [past, future] = [new Date(0).toUTCString(), new Date(Date.now() + 1e9).toUTCString()];
    assert.equal(await status({ 'if-none-match': '"x"', 'if-modified-since': modified }), 200);
    assert.equal(await status({ 'if-none-match': '"x"', 'if-modified-since': future }), 200);
    assert.equal(await status({ 'if-none-match': tag, 'if-modified-since': past }), 304);
  });

  once('4.3.7, D5.11 If-Modified-Since in all three forms of a date; what is no date does not count', async () => {
    const { get } = await reader();
    const reply = await get();
    const second = lastModified(reply);
    const status = async (date: string) => (await get('', { headers: { 'if-modified-since': date } })).status;
    for (const form of dateForms(second)) assert.equal(await status(form), 304, form);
    for (const form of dateForms(second + 1000)) assert.equal(await status(form), 304, form);
    for (const form of dateForms(second - 1)) assert.equal(await status(form), 200, form);
    for (const none of [
      '',
      'yesterday',
      String(second),
      new Date(second * 1000).toISOString(),
      `${reply.headers['last-modified']} `.repeat(2),
    ]) {
      assert.equal(await status(none), 200, none);
    }
  });

  once('4.3.7 D5 If-Match and If-Unmodified-Since as RFC 9110 has them: 412', async () => {
    const { get } = await reader();
    const reply = await get();
    const tag = reply.headers.etag!;
    const ask = (headers: Headers) => get('', { headers });
    for (const headers of [
      { 'if-match': '"x"' },
      { 'if-match': `W/${tag}` },
      { 'if-unmodified-since': dateForms(lastModified(reply) - 1)[0]! },
    ]) {
      const failed = await ask(headers);
      assert.deepEqual([failed.status, JSON.parse(failed.text).success], [412, false], JSON.stringify(headers));
    }
    assert.equal((await ask({ 'if-match': tag })).status, 200);
    assert.equal((await ask({ 'if-match': '*', 'if-none-match': tag })).status, 304);
    assert.equal((await ask({ 'if-unmodified-since': reply.headers['last-modified']! })).status, 200);
  });

  once('4.3.8, D5.12, 9.4 gzip when it is asked for, by weight; otherwise the bytes as they are', async () => {
    const { get } = await reader();
    const plain = await get();
    assert.equal(plain.headers['content-encoding'], undefined);
    const accepts: [string, 'gzip' | undefined][] = [
      ...['gzip', 'GZIP', 'gzip, deflate, br', 'br;q=1.0, gzip;q=0.5', '*', 'gzip;q=0.001', 'x-gzip', 'deflate, *;q=0.5'].map(
        (text) => [text, 'gzip'] as [string, 'gzip'],
      ),
      ['identity;q=0, gzip', 'gzip'],
      ...['', 'identity', 'gzip;q=0', 'gzip;q=0.000', 'br', '*;q=0', '*, gzip;q=0', 'gzip;q=0.5, identity;q=0.8', 'gzipped'].map(
        (text) => [text, undefined] as [string, undefined],
      ),
    ];
    for (const [accept, coding] of accepts) {
      const reply = await get('', { headers: { 'accept-encoding': accept } });
      assert.deepEqual([reply.status, reply.headers['content-encoding']], [200, coding], accept);
      const bytes = coding === 'gzip' ? gunzipSync(reply.bytes) : reply.bytes;
      assert.deepEqual(bytes, plain.bytes, accept);
      if (coding === undefined) assert.equal(reply.headers.etag, plain.headers.etag);
    }
  });

  once('4.3.8, D5.11 the compressed feed is another representation: neither tag matches the other', async () => {
    const { get } = await reader();
    const tags = { identity: (await get()).headers.etag!, gzip: (await get('', { headers: GZIP })).headers.etag! };
    assert.notEqual(tags.identity, tags.gzip);
    for (const [asked, tag, status] of [
      ['gzip', tags.gzip, 304],
      ['gzip', tags.identity, 200],
      ['identity', tags.identity, 304],
      ['identity', tags.gzip, 200],
    ] as const) {
      const reply = await get('', { headers: { 'accept-encoding': asked, 'if-none-match': tag } });
      assert.deepEqual([reply.status, reply.headers.etag], [status, tags[asked]]);
    }
    // Both appeared at the same time, though.
    const since = (await get()).headers['last-modified']!;
    assert.equal((await get('', { headers: { ...GZIP, 'if-modified-since': since } })).status, 304);
  });

  once('4.3.9, D5.4 checksum: the MD5 of exactly the bytes that the same parameters give, whatever is accepted', async () => {
    const { get } = await reader();
    for (const target of ['?', '/edge?']) {
      for (const format of [...FORMAT_NAMES, 'fortigate']) {
        for (const variant of ['', '&family=v6&action=allow']) {
          const query = `${target}format=${format}${variant}`;
          const feed = await get(query);
          const sum = await get(`${query}&checksum=md5`);
          assert.equal(sum.text, md5(feed.bytes), query);
          const { etag, 'last-modified': modified, ...rest } = feedHeaders(sum);
          assert.notEqual(etag, feed.headers.etag);
          assert.equal(modified, feed.headers['last-modified']);
          assert.deepEqual(rest, {
            'cache-control': 'private, max-age=30, must-revalidate',
            vary: 'Accept-Encoding, Authorization',
            'x-content-type-options': 'nosniff',
            'x-feed-entry-count': feed.headers['x-feed-entry-count'],
            'x-feed-entry-limit': '131072',
            'content-type': 'text/plain; charset=utf-8',
            'content-length': '32',
          });
          const zipped = await get(`${query}&checksum=md5`, { headers: GZIP });
          assert.deepEqual([zipped.text, feedHeaders(zipped)], [sum.text, feedHeaders(sum)]);
          assert.equal((await get(`${query}&checksum=md5`, { headers: { 'if-none-match': etag! } })).status, 304);
          assert.equal((await get(query, { headers: { 'if-none-match': etag! } })).status, 200);
        }
      }
    }
    assert.equal(
      (await get('?family=v4&action=allow&format=set_elements&checksum=md5')).text,
      md5(Buffer.from('elements = { 198.51.100.0/24 }\n')),
    );
  });

  once('D5.2 HEAD is GET without the body', async () => {
    const { get } = await reader();
    for (const target of [
      '',
      '/edge?format=csv_indicator',
      '?checksum=md5',
      '/edge?format=commented&family=v4',
      '/nowhere',
      '?format=xml',
    ]) {
      for (const coding of ['identity', 'gzip']) {
        const [full, head] = await Promise.all(
          ['GET', 'HEAD'].map((method) => get(target, { method, headers: { 'accept-encoding': coding } })),
        );
        assert.deepEqual([head!.status, head!.bytes.length, feedHeaders(head!)], [full!.status, 0, feedHeaders(full!)], target);
      }
    }
  });

  once('4.3 a request body is no part of it', async () => {
    const { get } = await reader();
    const { text } = await get();
    for (const body of ['{}', 'x'.repeat(200_000)]) {
      const replies = [await get('', { body }), await get('')];
      for (const reply of replies) assert.deepEqual([reply.status, reply.text], [200, text]);
    }
  });

  test('D5.10, D5.15 ETag, Last-Modified and bytes are those of another process, and of this one after a restart', async () => {
    const { get, getReplica } = await reader();
    const queries = FORMAT_NAMES.flatMap((format) =>
      ['', '&family=v4', '&action=allow'].map((variant) => `/edge?format=${format}${variant}`),
    );
    const asked = [
      ...queries.map((query) => [query, {}] as const),
      ...queries.map((query) => [query, GZIP] as const),
      ...queries.map((query) => [`${query}&checksum=md5`, {}] as const),
      ['?', {}] as const,
    ];
    const all = async (from: Space['get']) => {
      const replies: unknown[] = [];
      for (const [query, headers] of asked) {
        const reply = await from(query, { headers });
        replies.push([query, reply.status, feedHeaders(reply), reply.bytes.toString('base64')]);
      }
      return replies;
    };
    const before = await all(get);
    assert.deepEqual(await all(getReplica), before);
    await feeds().world.crash();
    await eventually(async () => assert.equal((await get()).status, 200));
    assert.deepEqual(await all(get), before);
  });

  once('D5.16 a feed is whole: no part of it can be asked for', async () => {
    const { get } = await reader();
    const whole = await get();
    for (const headers of [{ range: 'bytes=0-4' }, { range: 'bytes=5-', 'if-range': whole.headers.etag }]) {
      const reply = await get('', { headers });
      assert.deepEqual([reply.status, reply.text, feedHeaders(reply)], [200, whole.text, feedHeaders(whole)]);
    }
  });

  once('4.3 a target may come as a whole address, and many on one connection', async () => {
    const { key, get } = await reader();
    const { text } = await get('?family=v4');
    const url = new URL(feeds().url());
    const socket = connect(Number(url.port), url.hostname);
    const asked = (target: string, ...more: string[]) =>
      [`GET ${target} HTTP/1.1`, 'Host: x', `Authorization: bearer ${key}`, ...more, '', ''].join('\r\n');
    socket.write(
      [
        asked(`${FEEDS}?family=v4`),
        asked(`http://weir.example${FEEDS}?family=v4`),
        asked(`${FEEDS}/nowhere`),
        asked(`${FEEDS}?family=v4`, 'If-None-Match: *'),
        asked(`${FEEDS}?family=v4`, 'Connection: close'),
      ].join(''),
    );
    let received = '';
    for await (const chunk of socket) received += chunk;
    const answers = received.split(/(?=HTTP\/1\.1 )/);
    assert.deepEqual(
      answers.map((answer) => answer.slice(9, 12)),
      ['200', '200', '404', '304', '200'],
    );
    assert.doesNotMatch(received, /transfer-encoding/i);
    for (const i of [0, 1, 4]) assert.equal(answers[i]!.split('\r\n\r\n')[1], text);
  });
}
