/** `weir lookup` and `weir rule ls` as an operator uses them, over an embedded store without a server. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { LandingItem } from '../../src/ports/landing.ts';
import { newBatchId } from '../../src/signal/message/signal-id.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { access, ip, upsert, waf } from '../conformance/store.ts';
import { command, commandJson, commandText } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';

type Json = Record<string, unknown>;
interface FeedJson extends Json {
  readonly name: string;
  readonly verdict: string;
  readonly rules: readonly Json[];
}

describe('D10 look-up', () => {
  const folder = temporaryFolder({ after });
  const settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), PROTECTED_NETWORKS: '10.0.0.0/8' };
  const batchId = newBatchId(Date.now());
  const expiresAt = Math.ceil(Date.now() / 1000 + 3600) * 1000;
  const ids: Record<string, string> = {};

  const text = (...args: string[]) => commandText([...args, '--workspace', 'acme'], settings);
  const json = <T>(...args: string[]) => commandJson<T>([...args, '--workspace', 'acme'], settings);
  const feedsOf = async (...args: string[]) => (await json<{ feeds: FeedJson[] }>('lookup', ...args)).feeds;
  const verdicts = async (...args: string[]) => Object.fromEntries((await feedsOf(...args)).map(({ name, verdict }) => [name, verdict]));

  before(async () => {
    await command(['migrate'], settings);
    await command(['org', 'create', 'o'], settings);
    await command(['workspace', 'create', 'acme', '--org', 'o'], settings);
    for (const list of ['scanners', 'partners', 'small']) ids[list] = (await json<{ id: string }>('list', 'create', list)).id;
    await text('list', 'set', 'scanners', '--subtract-allow', 'workspace');
    await text('list', 'set', 'small', '--max-entries', '1', '--family', 'v4');
    await text('feed', 'create', 'edge', '--list', 'scanners', '--list', 'small');
    ids.key = (await json<{ id: string }>('key', 'create', '--name', 'soar')).id;
    const store = await openSqliteStore(settings.DATA_DIR);
    const [workspace] = (await store.workspaces()).filter(({ name }) => name === 'acme');
    const landing = [
      { list: 'scanners', change: upsert(access(ip('203.0.113.0/24'), { reason: 'port\nscan', expiresAt })) },
      { list: 'scanners', change: upsert(access(ip('198.51.100.7'))) },
      { list: 'scanners', change: upsert(access(ip('10.0.0.0/7'))) },
      { list: 'partners', change: upsert(access(ip('203.0.113.128/25'), { action: 'allow', ruleRef: 'partner' })) },
      { list: 'small', change: upsert(access({ kind: 'country', country: 'DE' })) },
      { list: 'small', change: upsert(access(ip('203.0.113.9'))) },
      { list: 'small', change: upsert(access(ip('203.0.113.9'), { ruleRef: 'twice' })) },
      { list: 'small', change: upsert(access({ kind: 'asn', asn: 64500 })) },
      { list: null, change: { change: 'upsert', kind: 'waf_rule', rule: waf('w-1', { name: 'first\nname' }) } as const },
      { list: null, change: { change: 'upsert', kind: 'waf_rule', rule: waf('w-2') } as const },
    ];
    const receivedAt = Date.now();
    const items = landing.map(({ list, change }, offset): LandingItem => {
      const record = { offset, timestamp: receivedAt, key: workspace.id, headers: {}, value: '{}' };
      const origin = { batchId, keyId: ids.key };
      return { record, workspaceId: workspace.id, listId: list && ids[list], receivedAt, ...origin, change };
    });
    await store.apply({ streamId: 's', partition: 0, from: null, to: items.length, items, poison: [], now: Date.now() });
    await store.close();
  });

  test('D10.1, D10.2, D10.3 each feed is in or out, with its rules, where they come from, and what an unblock changes', async () => {
    const shown = await text('lookup', '203.0.113.9');
    const since = /since (\S+Z)/.exec(shown)?.[1];
    const until = new Date(expiresAt).toISOString();
    const from = `key soar, batch ${batchId}, since ${since}`;
    const covering = `in: inside 203.0.113.0/24, list scanners, "port scan", ${from}, until ${until}`;
    const direct = [`in: 203.0.113.9, list small, ${from}, no expiry`, `in: 203.0.113.9, list small, rule_ref twice, ${from}, no expiry`];
    const stays = 'an unblock of 203.0.113.9 in list small removes 2 rules, but it stays in: inside 203.0.113.0/24 from list scanners';
    assert.deepEqual(shown.split('\n'), [
      '203.0.113.9 in the block feeds',
      '',
      'workspace acme: in, 4 of 131072 entries',
      ...[covering, ...direct, stays].map((line) => `  ${line}`),
      '',
      'list scanners: in, 3 of 131072 entries',
      `  ${covering}`,
      '  an unblock of 203.0.113.9 removes nothing: inside 203.0.113.0/24 from list scanners',
      '',
      'list small (v4 only): in, but not published: over its cap with 3 of 1 entries, polls are answered 413',
      ...direct.map((line) => `  ${line}`),
      '  an unblock of 203.0.113.9 in list small removes 2 rules and takes it out of this feed',
      '',
      'feed edge: in, 4 of 131072 entries',
      ...[covering, ...direct, stays].map((line) => `  ${line}`),
      '',
      'no rule concerns it in: list default, list partners',
      '',
    ]);
  });

  test('D18.100 where it is stands behind it, with what the ASN is called', async () => {
    for (const [target, first] of [
      ['198.51.100.7', '198.51.100.7 (AS64500 Example) in the block feeds'],
      ['AS64500', 'AS64500 (Example) in the block feeds'],
      ['DE', 'DE in the block feeds'],
    ] as const)
      assert.equal((await text('lookup', target, '--no-entries')).split('\n')[0], first);
    const { where } = await json<{ where: Json }>('lookup', '198.51.100.7', '--no-entries');
    assert.deepEqual(where, { country: null, asn: 64500, asn_name: 'Example', attribution: null });
  });

  test('D10.2 never-block rules and protected networks that keep an address out are told', async () => {
    const scanners = await text('lookup', '203.0.113.200', '--list', 'scanners', '--no-entries');
    assert.match(
      scanners,
      /^list scanners: out\n {2}in: inside 203\.0\.113\.0\/24, .*\n {2}out: inside never-block rule 203\.0\.113\.128\/25, list partners, .*\n$/m,
    );
    // Only scanners cuts out what other lists never block.
    assert.deepEqual(await verdicts('203.0.113.200', '--no-entries'), {
      acme: 'in',
      default: 'out',
      scanners: 'out',
      partners: 'out',
      small: 'out',
      edge: 'in',
    });
    const guarded = await text('lookup', '10.1.2.3', '--list', 'scanners', '--no-entries');
    assert.match(guarded, /^list scanners: out\n {2}in: inside 10\.0\.0\.0\/7, .*\n {2}out: protected network 10\.0\.0\.0\/8\n$/m);
    const [allow] = await feedsOf('203.0.113.200', '--list', 'partners', '--action', 'allow');
    assert.deepEqual([allow.verdict, allow.entries, allow.rules.map(({ relation }) => relation)], ['in', 1, ['covering']]);
  });

  test('D10.4 networks, ASNs and countries are in, out or partly in; rules on countries and ASNs are found for an address', async () => {
    assert.deepEqual(
      (await feedsOf('203.0.113.0/24', '--list', 'scanners')).map(({ verdict, rules }) => [
        verdict,
        rules.map(({ effect, relation }) => [effect, relation]),
      ]),
      [
        [
          'partly',
          [
            ['in', 'exact'],
            ['out', 'covered'],
          ],
        ],
      ],
    );
    const partly = async (target: string) => {
      const [feed] = await feedsOf(target, '--list', 'small');
      return [feed.verdict, feed.rules.map((rule) => `${rule.relation} ${rule.target}`)];
    };
    assert.deepEqual(await partly('192.0.2.1'), ['in', ['country DE']]);
    assert.deepEqual(await partly('198.51.100.0/25'), ['in', ['asn AS64500']]);
    assert.deepEqual(await partly('198.51.0.0/16'), ['partly', ['asn AS64500']]);
    assert.deepEqual(await partly('de'), ['in', ['exact DE']]);
    assert.deepEqual(await partly('NL'), ['out', []]);
    const [scanners] = await feedsOf('AS64500', '--list', 'scanners');
    assert.deepEqual([scanners.verdict, scanners.rules.map(({ relation }) => relation)], ['partly', ['overlapping']]);
    // A feed of one family has nothing of the other.
    assert.match(await text('lookup', '2001:db8::1'), /^no rule concerns it in: workspace acme, .*list small \(v4 only\), feed edge$/m);
  });

  test('D10.3 the JSON names the rules that an unblock removes, and the verdict then', async () => {
    const [feed] = (await json<{ feeds: Json[] }>('lookup', '203.0.113.9', '--feed', 'edge')).feeds;
    const { unblock, rules, entries, max_entries, over_cap } = feed as unknown as Json & {
      unblock: { removes: number[]; verdict: string };
      rules: Json[];
    };
    assert.deepEqual([entries, max_entries, over_cap], [4, 131_072, false]);
    assert.deepEqual(unblock, { removes: rules.filter(({ relation }) => relation === 'exact').map(({ id }) => id), verdict: 'in' });
    const { reason, key_id, key_name, batch_id, list_name } = rules[0];
    assert.deepEqual(
      { reason, key_id, key_name, batch_id, list_name },
      { reason: 'port\nscan', key_id: ids.key, key_name: 'soar', batch_id: batchId, list_name: 'scanners' },
    );
  });

  test('D10.6 rule ls finds access rules by their target', async () => {
    const found = async (...args: string[]) =>
      (await json<Json[]>('rule', 'ls', ...args)).map(({ target, action }) => `${action} ${target}`);
    assert.deepEqual(await found('--address', '203.0.113.9'), ['block 203.0.113.9', 'block 203.0.113.9']);
    assert.deepEqual(await found('--address', '203.0.113.200', '--match', 'covering'), ['block 203.0.113.0/24', 'allow 203.0.113.128/25']);
    assert.deepEqual(await found('--address', '203.0.113.128/25', '--match', 'covered'), ['allow 203.0.113.128/25']);
    assert.deepEqual(await found('--address', '203.0.113.0/24', '--match', 'covered', '--list', 'small'), [
      'block 203.0.113.9',
      'block 203.0.113.9',
    ]);
    assert.deepEqual([await found('--address', 'as64500'), await found('--address', 'DE')], [['block AS64500'], ['block DE']]);
    assert.equal(await text('rule', 'ls', '--address', '192.0.2.77'), '');
  });

  test('D10.7 rule ls has a heading, list, key, batch and reason, and goes on where a page ended', async () => {
    const [heading, first, ...rest] = (await text('rule', 'ls')).trimEnd().split('\n');
    assert.deepEqual(heading.split(/ {2,}/), ['ACTION', 'TARGET', 'LIST', 'UNTIL', 'REF', 'NAME', 'KEY', 'BATCH', 'REASON']);
    const until = new Date(expiresAt).toISOString();
    assert.deepEqual(first.split(/ {2,}/), ['block', '203.0.113.0/24', 'scanners', until, '-', '-', 'soar', batchId, 'port scan']);
    assert.equal(rest.length, 7);
    for (const kind of ['access_rule', 'waf_rule']) {
      const whole = await json<Json[]>('rule', 'ls', '--kind', kind);
      assert.deepEqual([whole[0].batch_id, whole[0].key_id], [batchId, ids.key]);
      const pages: Json[] = [];
      for (let after: string[] = []; ; ) {
        const { stdout, stderr } = await command(
          ['rule', 'ls', '--workspace', 'acme', '--kind', kind, '--json', '--limit', '1', ...after],
          settings,
        );
        pages.push(...(JSON.parse(stdout) as Json[]));
        if (stderr === '') break;
        after = ['--after', /^weir: there are more rules: --after (.+)\n$/.exec(stderr)![1]];
      }
      assert.deepEqual(pages, whole);
    }
  });

  test('D10.4, D10.6 a mistake is told in a sentence', async () => {
    const MISTAKES: [string, RegExp][] = [
      ['lookup 203.0.113.999', /"203\.0\.113\.999" /],
      ['lookup AS99999999999', /must be AS and a number/],
      ['lookup XX', /"XX" must be a valid ISO-3166 Alpha-2 code/],
      ['rule ls --address ZZ', /--address must be a valid ISO-3166 Alpha-2 code, not "ZZ"/],
      ['lookup 203.0.113.9 --feed edge --list small', /--feed or --list, not both/],
      ['lookup 203.0.113.9 --list nowhere', /there is no list "nowhere"/],
      ['rule ls --address NL --match covering', /--match covering requires an address or a network/],
      ['rule ls --address 203.0.113.9 --kind waf_rule', /--address is for access rules only/],
      ['rule ls --after 7', /--after must be the value of next in a page/],
    ];
    for (const [words, sentence] of MISTAKES) {
      const { code, stderr } = await command([...words.split(' '), '--workspace', 'acme'], settings);
      assert.equal(code, 2, words);
      assert.match(stderr, sentence);
    }
  });

  test('D29.3 where lists have to agree, it tells how many do and what puts nothing in', async () => {
    await text('feed', 'create', 'agreed', '--lists', 'small,scanners', '--min-sources', '2');
    const lookup = (address: string) => text('lookup', address, '--feed', 'agreed', '--no-entries');
    assert.match(await lookup('203.0.113.9'), /feed agreed: in\n {2}2 of 2 lists that must agree: small, scanners\n {2}in: inside 203/);
    const one = await lookup('203.0.113.11');
    assert.match(one, /feed agreed: out\n {2}1 of 2 lists that must agree: scanners\n {2}too few lists: inside 203/);
    await text('feed', 'set', 'agreed', '--always', 'scanners');
    assert.match(await lookup('203.0.113.11'), /: in\n {2}1 of 2 lists that must agree: scanners \(is enough alone\)\n {2}in: /);
    await text('feed', 'delete', 'agreed', '--yes', '--for-good');
  });

  test('D42.6 it names the devices that fetch a feed which is concerned, and whether they have what it says now', async () => {
    const store = await openSqliteStore(settings.DATA_DIR);
    const { id: workspaceId } = (await store.workspaces()).find(({ name }) => name === 'acme')!;
    const now = Date.now();
    const document = { feedId: ids.small, format: 'plain', family: 'v4', action: 'block', etag: '"a"', at: now };
    const pulls = {
      firstPull: now,
      lastPull: now,
      pulls: 1,
      ok: 1,
      notModified: 0,
      refused: 0,
      failed: 0,
      lastStatus: 200,
      validates: false,
      refusals: [],
    };
    const device = (n: number, lastModified: number) => ({
      ...{ workspaceId, keyId: ids.key, userAgent: `fw"${n}`, address: '192.0.2.1', ...pulls },
      documents: [{ ...document, lastModified }],
    });
    await store.noteDevices([device(1, Math.floor(now / 1000) + 60), ...Array.from({ length: 21 }, (_, n) => device(n + 2, 1))]);
    await store.close();
    const shown = (await text('lookup', '203.0.113.9', '--no-entries', '--list', 'small')).split('\n');
    const first = shown.findIndex((line) => line.startsWith('  of '));
    assert.equal(shown[first], '  of 22 clients 1 are up to date, 21 are behind, 0 unknown:');
    assert.match(shown[first + 1], /^ {4}not yet seen to have it: device "fw\\"\d+" at 192\.0\.2\.1, key soar, fetched last at .*Z$/);
    assert.equal(shown[first + 21], '    and 2 more (weir device ls, weir bouncer ls)');
    const [{ pulled_by }] = (await json<{ feeds: Json[] }>('lookup', '203.0.113.9', '--list', 'small', '--no-entries')).feeds;
    assert.deepEqual({ ...(pulled_by as Json), told: [] }, { total: 22, has: 1, behind: 21, unknown: 0, refused: 0, told: [] });
    assert.doesNotMatch(await text('lookup', '203.0.113.9', '--list', 'scanners'), /clients?/);
  });
});
