/** Rules as documents (SPEC D13.1 to D13.6). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { ask, bearer, type Headers, type Reply } from '../../support/http.ts';
import { eventually, inSeconds } from '../../support/weir.ts';
import type { Json } from '../../support/world.ts';
import type { Once } from '../engine.ts';
import { type FeedWorld, lastModified, type Space, upsert } from './world.ts';

const waf = (ref: string, rule: Json = {}, more: Json = {}): Json => ({
  kind: 'waf_rule',
  op: 'upsert',
  rule_ref: ref,
  rule: { type: 'custom', expression: 'http.request.path == "/a"', action: 'block', ...rule },
  ...more,
});
const firewall = (ref: string, rule: Json = {}, more: Json = {}): Json => ({
  ...waf(ref, { expression: 'ip.src in {198.51.100.0/24}', ...rule }, more),
  kind: 'smart_firewall_rule',
});

export function ruleTests(feeds: () => FeedWorld, once: Once): void {
  /** A workspace with a key for rules, and the reader of an address that expects 200. */
  async function reader() {
    const space = await feeds().space();
    const key = await space.newKey('--permission', 'rules:read');
    const get = (target: string, headers: Headers = {}, method = 'GET') =>
      ask(feeds().url(), `/v1/rules/${target}`, { method, headers: { ...bearer(key), ...headers } });
    const rules = async (target: string): Promise<Json[]> => {
      const { status, text } = await get(target);
      assert.equal(status, 200, text);
      return JSON.parse(text).rules;
    };
    return { space, key, get, rules };
  }

  test('D13.1 every field of every kind, in the order of enforcement; a phase that was not given is detected and marked', async () => {
    const { space, rules } = await reader();
    const response = 'http.response.code == 404';
    await space.send([
      waf('last'),
      waf('b', { order: 2, expression: response }),
      waf('c', { order: -1, phase: 'response', name: 'named', short_description: 'short', config: { a: 1 } }, { reason: 'why' }),
      waf('a', { order: 2, action: 'challenge' }, { labels: { team: 'red' }, expires_in: 600 }),
      firewall('f', { type: 'generated' }),
      upsert('192.0.2.1', { config: { confidence: 'low' } }, { rule_ref: 'x', labels: { team: 'red' } }),
      upsert('2001:db8::/32', { action: 'allow' }),
    ]);
    await eventually(async () => assert.equal((await rules('waf')).length, 4));
    const all = await rules('waf');
    assert.deepEqual(
      all.map(({ rule_ref, phase, phase_detected = false }) => [rule_ref, phase, phase_detected]),
      [
        ['c', 'response', false],
        ['a', 'request', true],
        ['b', 'response', true],
        ['last', 'request', true],
      ],
    );
    const { id, created_at, updated_at, ...named } = all[0]!;
    assert.equal(typeof id, 'number');
    assert.deepEqual(created_at, updated_at);
    assert.deepEqual(named, {
      kind: 'waf_rule',
      rule_ref: 'c',
      name: 'named',
      type: 'custom',
      expression: 'http.request.path == "/a"',
      action: 'block',
      order: -1,
      short_description: 'short',
      reason: 'why',
      labels: null,
      config: { a: 1, phase: 'response' },
      expires_at: null,
      phase: 'response',
    });
    assert.ok(Date.parse(String(all[1]!.expires_at)) > Date.now());
    const [smart] = await rules('smart-firewall');
    assert.deepEqual([smart!.rule_ref, smart!.type, 'phase' in smart!], ['f', 'generated', false]);
    const access = await rules('access');
    assert.deepEqual(
      access.map(({ target, action, rule_ref, confidence, severity }) => [target, action, rule_ref, confidence, severity]),
      [
        ['192.0.2.1', 'block', 'x', 'low', null],
        ['2001:db8::/32', 'allow', null, null, null],
      ],
    );
    assert.ok(access.every(({ list_id }) => /^[0-9a-f-]{36}$/.test(String(list_id))));
  });

  test('D13.2 filters by type, list and label, and pages: every rule once, in order', async () => {
    const { space, get, rules } = await reader();
    const edge = await space.list('edge');
    const many = Array.from({ length: 25 }, (_, n) =>
      waf(
        `w${String(n).padStart(2, '0')}`,
        { order: n % 3 === 0 ? undefined : n % 5, type: n % 2 === 0 ? 'custom' : 'generated' },
        { labels: { n } },
      ),
    );
    await space.send([...many, upsert('192.0.2.1', {}, { labels: { source: 'soc:1' } })]);
    await space.block(['192.0.2.2'], 'edge');
    await eventually(async () => assert.equal((await rules('access')).length, 2));
    const targets = async (query: string) => (await rules(`access${query}`)).map(({ target }) => target);
    assert.deepEqual(await targets('?list=edge'), ['192.0.2.2']);
    assert.deepEqual(await targets(`?list=${edge}`), ['192.0.2.2']);
    assert.deepEqual(await targets('?label=source:soc:1'), ['192.0.2.1']);
    assert.deepEqual(await targets('?label=source:soc'), []);
    assert.equal((await rules('waf?type=generated')).length, 12);
    assert.deepEqual(
      (await rules('waf?label=n:7')).map(({ rule_ref }) => rule_ref),
      ['w07'],
    );

    const whole = (await rules('waf')).map(({ rule_ref }) => rule_ref);
    for (const [target, expected] of [
      ['waf', whole],
      ['access', (await rules('access')).map(({ rule_ref }) => rule_ref)],
    ] as const) {
      const found: unknown[] = [];
      for (let after: string | null = ''; after !== null; ) {
        const page = JSON.parse((await get(`${target}?limit=7${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`)).text);
        found.push(...page.rules.map(({ rule_ref }: Json) => rule_ref));
        after = page.next;
      }
      assert.deepEqual(found, expected);
    }
    const faults: [string, string][] = [
      ['waf?list=edge', 'Unsupported list: these rules belong to the workspace, not to a list'],
      ['access?type=custom', 'Unsupported type: access rules have no type'],
      ['waf?type=other', 'Unsupported type: must be one of custom, generated'],
      ['waf?label=x', 'Unsupported label: must be name:value'],
      ['waf?limit=1001', 'Unsupported limit: must be a number from 1 to 1000'],
      ['waf?after=7', 'Unsupported after: must be next of a response'],
      ['waf?lable=a:b', 'There is no parameter "lable"; did you mean label?'],
      ['waf?limit=1&limit=2', 'limit is given more than once'],
    ];
    for (const [target, error] of faults) {
      const reply = await get(target);
      assert.deepEqual([reply.status, JSON.parse(reply.text)], [400, { success: false, error, details: {} }]);
    }
    assert.equal((await get('access?list=nowhere')).status, 404);
  });

  once('D13.4 headers, 304, gzip, HEAD and 405 are those of feeds; every change of a rule is another document', async () => {
    const { space, key, get } = await reader();
    await space.send([waf('a')]);
    const first = await eventually(async () => {
      const reply = await get('waf');
      assert.match(reply.text, /"a"/);
      return reply;
    });
    const { date: _, connection: __, 'keep-alive': ___, etag, 'last-modified': modified, ...rest } = first.headers;
    assert.deepEqual(rest, {
      'cache-control': 'private, max-age=30, must-revalidate',
      vary: 'Accept-Encoding, Authorization',
      'x-content-type-options': 'nosniff',
      'x-feed-entry-count': '1',
      'x-feed-entry-limit': '131072',
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(first.bytes.length),
    });
    for (const condition of [{ 'if-none-match': etag }, { 'if-modified-since': modified }]) {
      const reply = await get('waf', condition);
      assert.deepEqual([reply.status, reply.bytes.length, reply.headers.etag], [304, 0, etag]);
    }
    assert.equal((await get('waf', { 'if-match': '"other"' })).status, 412);
    const head = await get('waf', {}, 'HEAD');
    assert.deepEqual([head.status, head.bytes.length, head.headers['content-length']], [200, 0, String(first.bytes.length)]);
    const zipped = await get('waf', { 'accept-encoding': 'gzip' });
    assert.deepEqual([zipped.headers['content-encoding'], gunzipSync(zipped.bytes).toString()], ['gzip', first.text]);
    assert.notEqual(zipped.headers.etag, etag);
    const posted = await get('waf', {}, 'POST');
    assert.deepEqual([posted.status, posted.headers.allow], [405, 'GET, HEAD']);
    assert.deepEqual(JSON.parse((await get('other')).text), { success: false, error: 'There is nothing at this address', details: {} });

    let last: Reply = first;
    const changed = async (what: string) => {
      last = await eventually(async () => {
        const reply = await get('waf', { 'if-none-match': last.headers.etag });
        assert.equal(reply.status, 200, what);
        assert.ok(lastModified(reply) > lastModified(last), what);
        return reply;
      });
      return JSON.parse(last.text).rules as Json[];
    };
    await space.send([waf('a', { config: { x: 1 } })]);
    assert.deepEqual((await changed('an update'))[0]!.config, { x: 1 });
    await space.send([{ kind: 'waf_rule', op: 'delete', rule_ref: 'a' }]);
    assert.deepEqual(await changed('a deletion'), []);
    const [batch] = await feeds().world.json(['batch', 'ls', '--workspace', space.id]);
    await feeds().world.text(['undo', String(batch!.id), '--workspace', space.id, '--yes']);
    assert.equal((await changed('an undo')).length, 1);
    await feeds().world.text(['rule', 'delete', '--workspace', space.id, '--kind', 'waf_rule', '--since', '1h', '--yes']);
    assert.deepEqual(await changed('rule delete'), []);
    assert.equal((await ask(feeds().replica, '/v1/rules/waf', { headers: bearer(key) })).status, 200);
  });

  test('D13.5 an expired WAF rule is out at its second', async () => {
    const { space, get, rules } = await reader();
    await space.send([waf('lasting')]);
    const short = await inSeconds(async (seconds) => {
      const until = Date.now() + seconds * 1000;
      await space.send([waf('short', {}, { expires_in: seconds })]);
      for (;;) {
        const looked = Date.now();
        const found = (await rules('waf')).find(({ rule_ref }) => rule_ref === 'short');
        if (found !== undefined || looked > until) return found;
      }
    });
    await eventually(async () => assert.equal((await rules('waf')).length, 1));
    assert.ok(Date.now() >= Date.parse(String(short.expires_at)));
    assert.equal((await get('waf')).status, 200);
  });

  once('D13.6, D13.12 each permission opens its addresses alone; a bound key reads its list, and no rules of the workspace', async () => {
    const { space, get } = await reader();
    const edge = await space.list('edge');
    await space.block(['192.0.2.1'], 'edge');
    await space.block(['192.0.2.2']);
    await space.send([waf('a')]);
    await eventually(async () => assert.equal(JSON.parse((await get('access')).text).rules.length, 2));
    const addresses = ['/v1/threat/feeds', '/v1/rules/waf', '/v1/rules/smart-firewall', '/v1/rules/access', '/config', '/v1/authcheck'];
    const open: [permission: string, opened: readonly string[]][] = [
      ['signal:write', []],
      ['feed:read', addresses.slice(0, 1)],
      ['rules:read', addresses.slice(1, 4)],
      ['config:read', addresses.slice(4)],
    ];
    const statuses = async (key: string) =>
      Promise.all(addresses.map(async (path) => [path, (await ask(feeds().url(), path, { headers: bearer(key) })).status]));
    for (const [permission, opened] of open) {
      const expected = addresses.map((path) => [path, opened.includes(path) ? 200 : 403]);
      assert.deepEqual(await statuses(await space.newKey('--permission', permission)), expected, permission);
    }
    assert.deepEqual(
      (await statuses(await space.newKey())).map(([, status]) => status),
      [200, 403, 403, 403, 403, 403],
    );

    const bound = await space.newKey('--permission', 'rules:read', '--permission', 'config:read', '--list', edge);
    const as = (target: string) => ask(feeds().url(), target, { headers: bearer(bound) });
    for (const query of ['', '?list=edge', `?list=${edge}`]) {
      const { rules } = JSON.parse((await as(`/v1/rules/access${query}`)).text);
      assert.deepEqual(
        rules.map(({ target }: Json) => target),
        ['192.0.2.1'],
      );
    }
    const refused = async (target: string) => [(await as(target)).status, JSON.parse((await as(target)).text).error];
    assert.deepEqual(await refused('/v1/rules/access?list=default'), [403, 'The API key is bound to one access-rules list']);
    const workspace = (what: string) => [403, `The API key is bound to one list or feed; ${what} belong to the workspace`];
    assert.deepEqual(await refused('/v1/rules/waf'), workspace('WAF rules'));
    assert.deepEqual(await refused('/config'), workspace('the rules of an agent'));
    assert.deepEqual(await refused('/authcheck'), workspace('the rules of an agent'));

    const other: Space = await feeds().space();
    const stranger = await other.newKey('--permission', 'rules:read');
    for (const path of ['waf', 'access', `access?list=${edge}`]) {
      const reply = await ask(feeds().url(), `/v1/rules/${path}`, { headers: bearer(stranger) });
      if (path.includes('list')) assert.equal(reply.status, 404);
      else assert.deepEqual(JSON.parse(reply.text).rules, []);
    }
  });
}
