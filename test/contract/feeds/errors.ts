/** What a feed request gets that is not served, and who may ask (spec 5, 7.3). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIST_FORMATS } from '../../../src/feed/formats/table.ts';
import { ask, type Reply } from '../../support/http.ts';
import { eventually } from '../../support/weir.ts';
import type { Once } from '../engine.ts';
import { type Asked, COLON_KEY, FEEDS, type FeedWorld, REPLICA_LIMIT, type Space } from './world.ts';

const CHALLENGES = 'Basic realm="threat-feed", charset="UTF-8", Bearer';
const UNAUTHORIZED = 'Unauthorized - invalid or missing API key';

/** Checks the shape of an error, and its headers but for `more`; returns its text and details. */
function faultOf(reply: Reply, status: number, more: Record<string, string> = {}): { error: string; details: object } {
  assert.equal(reply.status, status, reply.text);
  const { date: _, connection: __, 'keep-alive': ___, ...headers } = reply.headers;
  assert.deepEqual(headers, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(reply.bytes.length),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...more,
  });
  const { success, error, details, ...rest } = JSON.parse(reply.text);
  assert.deepEqual([success, rest], [false, {}]);
  assert.ok(typeof error === 'string' && error.length > 0);
  return { error, details };
}
const unauthorized = (reply: Reply) =>
  assert.deepEqual(faultOf(reply, 401, { 'www-authenticate': CHALLENGES }), { error: UNAUTHORIZED, details: {} });
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
/** Errors are the same however they are asked for. */
const GZIP: Asked = { headers: { 'accept-encoding': 'gzip' } };

export function errorTests(feeds: () => FeedWorld, once: Once): void {
  once('4.3, 7.3, D5.1 400: unsupported, repeated and empty values, case; unknown parameters are ignored', async () => {
    const { get, list } = await feeds().space();
    await list('edge', '--format', 'commented');
    for (const path of ['', '/edge']) {
      for (const format of ['xml', 'PLAIN', 'Plain', ' plain', 'plain ', 'json', 'csv', '__proto__', 'constructor', 'txt%00']) {
        const { error, details } = faultOf(await get(`${path}?format=${encodeURI(format)}`, GZIP), 400);
        assert.deepEqual(details, { supported: LIST_FORMATS }, format);
        assert.match(error, /format/);
      }
      for (const [name, values] of [
        ['family', ['ipv4', 'V4', 'all', '4']],
        ['action', ['deny', 'Block', 'unblock']],
        ['checksum', ['sha256', 'MD5', 'true', '1']],
      ] as const) {
        for (const value of values) {
          const { error, details } = faultOf(await get(`${path}?${name}=${value}`), 400);
          assert.deepEqual(details, {}, `${name}=${value}`);
          assert.ok(error.includes(name), error);
        }
      }
      for (const name of ['format', 'family', 'action', 'checksum']) {
        const value = { format: 'plain', family: 'v4', action: 'block', checksum: 'md5' }[name];
        for (const query of [`${name}=`, name, `${name}=${value}&${name}=${value}`, `${name}=${value}&a=b&${name}=`]) {
          assert.ok(faultOf(await get(`${path}?${query}`), 400).error.includes(name), query);
        }
      }
      const ignored = 'a=1&a=2&b=&c&max_entries=0&confidence=x&severity=&=&&%zz=%';
      for (const query of ['', ignored]) assert.equal((await get(`${path}?${query}`)).status, 200, query);
      assert.equal((await get(`${path}?${ignored}&%66ormat=%70lain&family=v4`)).headers['x-feed-entry-count'], '0');
    }
    for (const malformed of ['/%', '/%zz', '/%e0%a4', '/%ff']) faultOf(await get(malformed), 400);
  });

  once('D5.20 D42.1 a parameter that is almost a known one is 400 and names it; what other feeds and clients use is ignored', async () => {
    const { get, block, reads } = await feeds().space();
    await block(['192.0.2.1']);
    await reads('', '192.0.2.1/32\n');
    const almost: Record<string, string[]> = {
      action: [
        'actoin=allow',
        'actio=allow',
        'actions=allow',
        'Action=allow',
        'act%69om=',
        'action=allow&actiom=block',
        'act=allow',
        'action[]=allow',
        'action%3Dallow',
      ],
      format: ['FORMAT=plain', 'fromat=x', 'formats', 'formt=plain', 'ormat=plain', 'form=1', '%26format=plain'],
      family: ['familiy=v4', 'famly=v4', 'FAMILY=v4', 'fmaily=v4', 'fam=v6', '+family=v4', 'fam%69ly%255B%255D=v4'],
      checksum: ['cheksum=md5', 'checkSum=md5', 'checksums=md5', 'chekcsum=md5', 'format=plain&amp;checksum=md5', 'amp;amp;checksum=md5'],
    };
    for (const [known, queries] of Object.entries(almost)) {
      for (const query of queries) {
        for (const path of ['', '/default'])
          assert.match(faultOf(await get(`${path}?${query}`), 400).error, new RegExp(`did you mean ${known}\\?$`));
      }
    }
    // Cache busters, paging, keys and options of other feed servers (CrowdSec, MineMeld, AbuseIPDB, FireHOL), and tracking.
    const foreign =
      '_=1&t=1&ts=1&v=panosurl&tr=1&n=100&s=0&nocache&rand=1&key=x&token=x&api_key=x&apikey=x&limit=10&page=1&page_size=5&list=edge&type=ip' +
      '&ipv4only&ipv6only&nosort&with_port=true&startup=true&scopes=ip&origins=x&plaintext&confidenceMinimum=90&confidence=high&severity=low' +
      '&max_entries=5&checksumURL=x&md5&sha256&fmt=json&direction=in&acl=x&auth=x&device=fw1&serial=1&version=7.4&vdom=root' +
      '&vsys=1&utm_source=x&utm_campaign=x&fbclid=x';
    assert.equal((await get(`?${foreign}`)).text, '192.0.2.1/32\n');
    for (const name of foreign.split('&')) assert.equal((await get(`?${name}`)).status, 200, name);
  });

  once('D42.2 a slash behind a name is ignored for GET and HEAD; an empty name is 404', async () => {
    const { get, block, reads, list } = await feeds().space();
    await list('a b/');
    await block(['192.0.2.1']);
    await reads('/default/', '192.0.2.1/32\n');
    for (const method of ['GET', 'HEAD']) {
      const [named, slashed] = [await get('/default?family=v4', { method }), await get('/default/?family=v4', { method })];
      assert.deepEqual([slashed.status, slashed.text, slashed.headers.etag], [200, named.text, named.headers.etag]);
      for (const [path, status] of Object.entries({ '/': 404, '//': 404, '/?format=plain': 404, '/default//': 404, '/a%20b%2F/': 200 }))
        assert.equal((await get(path, { method })).status, status, path);
    }
    for (const method of ['POST', 'DELETE']) assert.equal((await get('/default/', { method })).status, 405);
    faultOf(await get('/default/?act=allow'), 400);
  });

  test('5, 5.1, D2 401: no key, a malformed, an unknown, a revoked or an expired one; both challenges', async () => {
    const { get, key, newKey } = await feeds().space();
    const given = async (authorization: string | undefined) =>
      get('', { key: null, headers: authorization === undefined ? {} : { authorization } });
    for (const authorization of [undefined, '', 'Bearer', 'Bearer ', `Bearer ${key}x`, `Token ${key}`, key, `Bearer ${key} ${key}`]) {
      unauthorized(await given(authorization));
    }
    // No more than 20 failures a second are told apart from an attack.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    for (const authorization of [
      basic(`user:${key}`),
      basic(`API:${key}`),
      basic(`:${key}`),
      basic(key),
      basic('api:'),
      'Basic !',
      basic(`api:${key}x`),
    ]) {
      unauthorized(await given(authorization));
    }
    for (const path of ['/default', '/nowhere', '?format=xml']) unauthorized(await get(path, { key: null, ...GZIP }));
    const head = await get('', { key: null, method: 'HEAD' });
    assert.deepEqual([head.status, head.headers['www-authenticate'], head.bytes.length], [401, CHALLENGES, 0]);

    const brief = await newKey('--expires-in', '1');
    await eventually(async () => unauthorized(await get('', { key: brief })), 5000);
  });

  once('5 Bearer, or Basic with the user api and the key as its password, whatever the case of the scheme', async () => {
    const { get, key, block, reads } = await feeds().space();
    await block(['192.0.2.1']);
    await reads('', '192.0.2.1/32\n');
    for (const authorization of [
      `Bearer ${key}`,
      `bearer ${key}`,
      `BEARER  ${key}`,
      basic(`api:${key}`),
      basic(`api:${key}`).replace('Basic', 'bAsIc'),
    ]) {
      const reply = await get('', { key: null, headers: { authorization } });
      assert.deepEqual([reply.status, reply.text], [200, '192.0.2.1/32\n'], authorization);
    }
    for (const authorization of [`Bearer ${COLON_KEY}`, basic(`api:${COLON_KEY}`)]) {
      assert.equal((await get('', { key: null, headers: { authorization } })).status, 200);
    }
    // Signals take Bearer only.
    const signal = await ask(feeds().url(), '/v1/signal', { method: 'POST', headers: { authorization: basic(`api:${key}`) }, body: '[]' });
    assert.deepEqual([signal.status, signal.headers['www-authenticate']], [401, 'Bearer']);
  });

  test('5.2, 5.3, D2 402 before 403; 403 without feed:read and beyond the list that a key is bound to; changes count within 2 s', async () => {
    const { get, newKey, list, block, reads, organization } = await feeds().space();
    const edge = await list('edge');
    await list('other');
    await block(['192.0.2.1'], 'edge');
    await reads('/edge', '192.0.2.1/32\n');
    const [writer, bound] = [await newKey('--permission', 'signal:write'), await newKey('--list', 'edge')];
    for (const path of ['', '/edge', '/nowhere', '?format=xml']) {
      assert.deepEqual(faultOf(await get(path, { key: writer, ...GZIP }), 403).details, {});
    }
    for (const path of ['/edge', `/${edge}`]) assert.equal((await get(path, { key: bound })).text, '192.0.2.1/32\n');
    for (const path of ['', '/other', '/default', '/nowhere', '/other?format=xml', '?format=xml']) {
      assert.deepEqual(faultOf(await get(path, { key: bound }), 403).details, {}, path);
    }
    faultOf(await get('/edge?format=xml', { key: bound }), 400);

    const subscription = (state: string) => feeds().world.text(['org', 'set', organization, '--subscription', state]);
    await subscription('inactive');
    await eventually(async () => faultOf(await get('/edge', { key: bound }), 402), 2500);
    for (const path of ['', '/nowhere', '?format=xml'])
      assert.deepEqual(faultOf(await get(path, { key: writer, ...GZIP }), 402).details, {});
    await subscription('active');
    await eventually(async () => assert.equal((await get('/edge', { key: bound })).status, 200), 2500);
  });

  test('5.1, D2 a revoked key, and one whose list is deleted: 401 within 2 s', async () => {
    const { id, get, list } = await feeds().space();
    await list('edge');
    const create = async (...options: string[]) => (await feeds().world.json(['key', 'create', '--workspace', id, ...options]))[0]!;
    const [revoked, bound] = [await create(), await create('--list', 'edge')];
    for (const { key } of [revoked, bound]) assert.equal((await get('/edge', { key: String(key) })).status, 200);
    await feeds().world.text(['key', 'revoke', String(revoked.id)]);
    await feeds().world.text(['list', 'delete', 'edge', '--yes', '--workspace', id]);
    for (const { key } of [revoked, bound]) await eventually(async () => unauthorized(await get('/edge', { key: String(key) })), 2500);
  });

  once('7.3, D2 404 for an unknown address and 405 with Allow need no key', async () => {
    for (const path of ['/v1/threat', '/v1/threat/', '/v1/threat/feed', `${FEEDS}/a/b`, `${FEEDS}//`]) {
      assert.deepEqual(faultOf(await ask(feeds().url(), path), 404).details, {}, path);
    }
    for (const path of ['', '/edge', '/edge?format=xml']) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const reply = await ask(feeds().url(), `${FEEDS}${path}`, { method, body: method === 'POST' ? '{}' : '' });
        assert.deepEqual(faultOf(reply, 405, { allow: 'GET, HEAD' }).details, {}, method);
      }
    }
  });

  once('7.3, 8, D2 429 with Retry-After: for a key that asks too often, and for an address with too many bad keys', async () => {
    const [one, two] = [await feeds().space(), await feeds().space()];
    const many = (count: number, from: Space, key?: string) =>
      Promise.all(Array.from({ length: count }, () => from.getReplica('', key === undefined ? {} : { key })));
    const replies = await many(REPLICA_LIMIT, one);
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
    // Ten a second come back: on a slow machine some of these are admitted.
    const refused = await eventually(async () => {
      const found = (await many(100, one)).filter(({ status }) => status !== 200);
      assert.ok(found.length > 0);
      return found;
    });
    for (const reply of refused) {
      const wait = Number(reply.headers['retry-after']);
      assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 60);
      assert.deepEqual(faultOf(reply, 429, { 'retry-after': String(wait) }).details, {});
    }
    // Another key has a bucket of its own.
    assert.equal((await two.getReplica('')).status, 200);

    const limited = await eventually(async () => {
      const failed = await many(60, two, 'no-such-key-0123456789');
      const found = failed.filter(({ status }) => status === 429);
      assert.ok(found.length > 0 && failed.every(({ status }) => status === 401 || status === 429));
      return found;
    });
    for (const reply of limited) faultOf(reply, 429, { 'retry-after': '1' });
    assert.equal((await two.getReplica('')).status, 200);
  });
}
