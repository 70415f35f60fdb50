/** The configuration of an agent (SPEC D13.7 to D13.11), read as the agent reads it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { addressSet, union } from '@weir/network/address-set.ts';
import { coalesceV4, coalesceV6 } from '@weir/network/coalesce.ts';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { renderCidrs } from '@weir/network/render.ts';
import { ask, bearer, type Headers } from '../../support/http.ts';
import { seededRandom } from '../../support/random.ts';
import { eventually } from '../../support/weir.ts';
import type { Json } from '../../support/world.ts';
import type { Once } from '../engine.ts';
import { event, type FeedWorld, upsert } from './world.ts';

interface Targets {
  readonly ips: readonly string[];
  readonly country: readonly (readonly [name: string, networks: readonly string[]])[];
  readonly asn: Targets['country'];
}
interface AgentRule {
  readonly id: string;
  readonly action: string;
  readonly expression: string;
  readonly config: unknown;
}
interface AgentConfig {
  readonly allow: Targets;
  readonly block: Targets;
  readonly waf: readonly AgentRule[];
  readonly firewall: readonly AgentRule[];
}

/** Reads the document as strictly as the agent does: a text that is missing or null refuses all of it. */
function readConfig(json: string): AgentConfig {
  const object = (value: unknown, where: string): Json => {
    assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value), `${where} is an object`);
    return value as Json;
  };
  const array = (value: unknown, where: string): unknown[] => {
    assert.ok(Array.isArray(value), `${where} is an array`);
    return value;
  };
  const texts = (from: Json, where: string, ...names: string[]) => {
    for (const name of names) assert.equal(typeof from[name], 'string', `${where}.${name} is a text`);
  };
  const networks = (value: unknown, where: string): string[] =>
    array(value, where).map((network) => {
      assert.equal(typeof parseNetwork(String(network)), 'object', `${where}: ${network}`);
      return network as string;
    });
  const named = (value: unknown, where: string, form: RegExp) =>
    array(value, where).map((each) => {
      const [[name, ranges], ...more] = Object.entries(object(each, where)) as [[string, unknown]];
      assert.deepEqual(more, []);
      assert.match(name, form);
      return [name, networks(ranges, where)] as const;
    });
  const targets = (value: unknown, where: string): Targets => {
    const { ips, country, asn } = object(value, where);
    return {
      ips: networks(ips, `${where}.ips`),
      country: named(country, `${where}.country`, /^[A-Z]{2}$/),
      asn: named(asn, `${where}.asn`, /^AS\d+$/),
    };
  };
  const rules = (value: unknown, where: string) =>
    array(object(value, where).rules, `${where}.rules`).map((each) => {
      const rule = object(each, where);
      texts(rule, where, 'id', 'name', 'org_id', 'description', 'action', 'expression');
      assert.ok('config' in rule);
      return rule as unknown as AgentRule;
    });
  const document = object(JSON.parse(json), 'document');
  assert.equal(document.success, true);
  const config = object(document.config, 'config');
  texts(config, 'config', 'created_at', 'updated_at', 'last_modified');
  const access = object(config.access_rules, 'access_rules');
  texts(access, 'access_rules', 'id', 'name', 'description');
  return {
    allow: targets(access.allow, 'allow'),
    block: targets(access.block, 'block'),
    waf: rules(config.waf_rules, 'waf_rules'),
    firewall: rules(config.smart_firewall_rules, 'smart_firewall_rules'),
  };
}

/** All networks of one action as a plain feed has them. */
function coverage({ ips, country, asn }: Targets): string {
  const sets = [ips, ...[...country, ...asn].map(([, networks]) => networks)].map((networks) =>
    addressSet(networks.map((network) => parseNetwork(network) as Network)),
  );
  const { v4, v6 } = union(sets);
  const text = renderCidrs(coalesceV4(v4), coalesceV6(v6), { separator: '\n', tail: '\n' });
  return text.length === 1 ? '' : Buffer.from(text).toString();
}

const rule = (kind: string, ref: string, body: Json = {}, more: Json = {}): Json => ({
  kind,
  op: 'upsert',
  rule_ref: ref,
  rule: { type: 'custom', expression: kind === 'waf_rule' ? 'http.request.path == "/a"' : 'ip.src == 192.0.2.1', action: 'block', ...body },
  ...more,
});
const RATE_LIMIT = { period: 60, duration: '30', requests: 100 };

export function agentTests(feeds: () => FeedWorld, once: Once): void {
  async function agent() {
    const space = await feeds().space();
    const key = await space.newKey('--permission', 'config:read');
    const get = (target = '/config', headers: Headers = {}, method = 'GET') =>
      ask(feeds().url(), target, { method, headers: { ...bearer(key), ...headers } });
    const config = async (target = '/config') => {
      const { status, text } = await get(target);
      assert.equal(status, 200, text);
      return readConfig(text);
    };
    const landed = async (target = '', text = '') => eventually(async () => assert.match((await space.get(target)).text, new RegExp(text)));
    return { space, key, get, config, landed };
  }

  once(
    'D13.7, D13.9 a strict reader takes the configuration of random rules, and it covers what the feeds cover, guard rails and subtraction included',
    async () => {
      const random = seededRandom(13);
      for (let round = 0; round < 3; round++) {
        const { space, config } = await agent();
        const target = () =>
          random.pick([
            { country: 'NL' },
            { asn: 'AS64500' },
            { ip: `198.51.${100 + random.below(2)}.${random.below(256)}` },
            { ip: `203.0.113.${random.below(32) * 8}/29` },
            { ip: `2001:db8:${random.below(16).toString(16)}::/48` },
          ]);
        const text = () => random.pick([null, '', 'a "quoted" text', 'ü\n\\']);
        const access = Array.from({ length: 60 }, () => ({
          kind: 'access_rule',
          op: 'upsert',
          rule: { target: target(), action: random.pick(['block', 'block', 'allow']) },
        }));
        const expressions = Array.from({ length: 40 }, (_, n) =>
          rule(
            random.pick(['waf_rule', 'smart_firewall_rule']),
            `r${n}`,
            {
              name: text(),
              short_description: text(),
              order: random.pick([undefined, random.below(5)]),
              action: random.pick(['block', 'allow']),
              config: random.pick([null, {}, { a: [1, null, 'x'] }]),
            },
            { reason: text() },
          ),
        );
        if (round > 0) await feeds().world.text(['workspace', 'set', space.id, '--protect', '203.0.113.0/28,2001:db8:a::/64']);
        if (round > 1) await feeds().world.text(['workspace', 'set', space.id, '--subtract-allow', 'on']);
        // What guard rails refuse on arrival is not the point here.
        const { url } = feeds();
        for (const batch of [access, expressions]) {
          const body = JSON.stringify(batch);
          const { status } = await ask(url(), '/v2/signal', { method: 'POST', headers: bearer(space.key), body });
          assert.ok(status === 200 || status === 206);
        }
        await eventually(async () => {
          const { waf, firewall, block, allow } = await config();
          assert.equal(waf.length + firewall.length, 40);
          assert.equal(coverage(block), (await space.get('')).text);
          assert.equal(coverage(allow), (await space.get('?action=allow')).text);
        });
      }
    },
  );

  once('D13.8 authcheck and config, also below /v1; errors are JSON', async () => {
    const { get, key } = await agent();
    for (const base of ['', '/v1']) {
      const { status, text } = await get(`${base}/authcheck`);
      assert.deepEqual([status, JSON.parse(text)], [200, { success: true }]);
      readConfig((await get(`${base}/config`)).text);
    }
    const head = await get('/config', {}, 'HEAD');
    assert.deepEqual([head.status, head.bytes.length], [200, 0]);
    const shapes: [number, Promise<{ status: number; text: string }>][] = [
      [400, get('/config?expand=2')],
      [401, ask(feeds().url(), '/config', { headers: bearer(`${key}x`) })],
      [401, ask(feeds().url(), '/authcheck')],
      [405, get('/config', {}, 'POST')],
      [404, get('/v1/rules/none')],
    ];
    for (const [status, asked] of shapes) {
      const reply = await asked;
      const { success, error, details } = JSON.parse(reply.text);
      assert.deepEqual([reply.status, success, typeof error, typeof details], [status, false, 'string', 'object']);
    }
  });

  once('D13.9 countries and ASNs come with their ranges, each once; with expand=0 without; what is cut out whole is left out', async () => {
    const { space, config, landed } = await agent();
    await space.send([event('NL'), event('AS64500'), event('192.0.2.1'), event('192.0.2.0')]);
    await space.send([{ kind: 'access_rule', op: 'upsert', rule_ref: 'again', rule: { target: { country: 'NL' }, action: 'block' } }]);
    await landed('', '2001:db8:c::/48');
    const ranges: Targets = {
      ips: ['192.0.2.0/31'],
      country: [['NL', ['198.51.100.0/24', '203.0.113.1/32', '203.0.113.2/31', '203.0.113.4/31', '203.0.113.6/32', '2001:db8:a::/47']]],
      asn: [['AS64500', ['198.51.101.0/24', '2001:db8:c::/48']]],
    };
    assert.deepEqual((await config()).block, ranges);
    const names = { ...ranges, country: [['NL', []]], asn: [['AS64500', []]] };
    assert.deepEqual((await config('/config?expand=0')).block, names);
    await feeds().world.text(['workspace', 'set', space.id, '--protect', '198.51.101.0/24,2001:db8:c::/48']);
    await eventually(async () => assert.deepEqual((await config()).block, { ...ranges, asn: [] }));
  });

  test('D13.11 WAF rules stand in the order of enforcement; another config is another id, the same rule again is the same document', async () => {
    const { space, get, config } = await agent();
    await space.send([
      rule('waf_rule', 'z'),
      rule('waf_rule', 'b', { order: 2 }),
      rule('waf_rule', 'a', { order: 7 }),
      rule('smart_firewall_rule', 's'),
    ]);
    const refs = async () => (await config()).waf.map(({ id }) => id.split('@')[0]);
    await eventually(async () => assert.deepEqual(await refs(), ['b', 'a', 'z']));
    assert.equal((await config()).firewall.length, 1);
    const [before, { headers }] = [(await config()).waf, await get()];
    await space.send([rule('waf_rule', 'z'), rule('waf_rule', 'y')]);
    await eventually(async () => assert.deepEqual(await refs(), ['b', 'a', 'y', 'z']));
    await space.send([{ kind: 'waf_rule', op: 'delete', rule_ref: 'y' }]);
    await eventually(async () => assert.deepEqual((await config()).waf, before));
    assert.ok(headers.etag);
    await space.send([rule('waf_rule', 'z', { config: { x: 1 } })]);
    await eventually(async () => assert.deepEqual((await config()).waf[2]!.config, { x: 1 }));
    const after = (await config()).waf;
    assert.notEqual(after[2]!.id, before[2]!.id);
    assert.deepEqual(after.slice(0, 2), before.slice(0, 2));
  });

  once('D13.10 numbers of a rate limit are texts; a ratelimit without one is told in a dry run and in rule ls', async () => {
    const { space, config } = await agent();
    const whole = rule('waf_rule', 'good', { action: 'ratelimit', config: { rateLimit: RATE_LIMIT, note: 1 } });
    const lacking = rule('waf_rule', 'bad', { action: 'ratelimit', config: { rateLimit: { period: 60, duration: 30 } } });
    const post = (target: string) =>
      ask(feeds().url(), target, { method: 'POST', headers: bearer(space.key), body: JSON.stringify([whole, lacking]) });
    const warning = 'ratelimit without config.rateLimit (period, duration, requests, each a whole number): agents ignore this rule';
    assert.deepEqual(JSON.parse((await post('/v2/signal?dry_run=1')).text).warnings, [`bad: ${warning}`]);
    assert.equal('warnings' in JSON.parse((await post('/v2/signal')).text), false);
    await eventually(async () => assert.equal((await config()).waf.length, 2));
    assert.deepEqual(
      (await config()).waf.map((each) => each.config),
      [{ rateLimit: { period: 60, duration: 30 } }, { rateLimit: { period: '60', duration: '30', requests: '100' }, note: 1 }],
    );
    const listed = await feeds().world.json(['rule', 'ls', '--workspace', space.id, '--kind', 'waf_rule']);
    assert.deepEqual(
      listed.map(({ rule_ref, warning: told = null }) => [rule_ref, told]),
      [
        ['bad', warning],
        ['good', null],
      ],
    );
    assert.match(
      await feeds().world.text(['rule', 'ls', '--workspace', space.id, '--kind', 'waf_rule']),
      /bad .*warning: ratelimit without/,
    );
  });

  once('D13.7 polled as the agent polls it: gzip or not, the same bytes as long as nothing changes', async () => {
    const { space, get, landed } = await agent();
    await space.send([upsert('192.0.2.1'), rule('waf_rule', 'a')]);
    await landed('', '192.0.2.1');
    const first = await get();
    const zipped = await get('/config', { 'accept-encoding': 'gzip' });
    assert.equal(gunzipSync(zipped.bytes).toString(), first.text);
    const again = await get();
    assert.deepEqual([again.bytes, again.headers.etag], [first.bytes, first.headers.etag]);
    assert.equal((await get('/config', { 'if-none-match': first.headers.etag })).status, 304);
    const { config } = JSON.parse(first.text);
    assert.equal(Date.parse(config.last_modified), Date.parse(first.headers['last-modified']!));
    assert.equal(config.updated_at, config.last_modified);
  });
}
