/** Guard rails of a workspace (SPEC D7), beside the tests of the signal endpoints. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { addressSet, overlaps } from '@weir/network/address-set.ts';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { command, newKey } from '../support/command.ts';
import { getFeed } from '../support/http.ts';
import { eventually } from '../support/weir.ts';
import type { Client, Json, World } from '../support/world.ts';
import type { Once } from './engine.ts';

const event = (ip: string, action = 'block') => ({ type: 'access_rules', action, ip });
const access = (target: Json, rule: Json = {}, op = 'upsert') => ({ kind: 'access_rule', op, rule: { target, ...rule } });
const network = (text: string) => parseNetwork(text) as Network;
const [PRIVATE, WIDE] = [
  'overlaps the protected network 10.0.0.0/8 (private)',
  'is wider than /16, the widest network that may be blocked',
] as const;

export function guardRailTests(world: () => World, once: Once): void {
  const set = (client: Client, ...options: string[]) => world().json(['workspace', 'set', client.workspace, ...options]);
  /** Until this entry has these faults; a change of the guard rails is known within 2 seconds. */
  const errorsOf = (client: Client, entry: Json, expected: readonly string[], path = '/v1/signal?dry_run=1') =>
    eventually(async () => {
      const { body } = await client.post(path, [entry]);
      assert.deepEqual(body.errors ?? [], expected);
    });

  once('D7.2, D7.3 a block of a protected or too wide network is an entry fault in v1 and v2; everything else passes', async () => {
    const client = await world().client();
    await set(client, '--protect', 'private, 203.0.112.0/23', '--min-prefix-v4', '16', '--min-prefix-v6', '24');
    await errorsOf(client, event('10.1.2.3'), [`Entry 0: Schema validation failed: ip: ${PRIVATE}`]);

    const v1 = [event('8.8.8.8'), event('11.0.0.0/8'), event('10.0.0.0/8', 'unblock'), event('0.0.0.0/0'), event('203.0.113.7')];
    const first = await client.post('/v1/signal', v1);
    assert.deepEqual(
      [first.status, first.body.message, first.body.errors],
      [
        206,
        'Processed 2 entries, 3 failed',
        [
          `Entry 1: Schema validation failed: ip: ${WIDE}`,
          `Entry 3: Schema validation failed: ip: ${WIDE}; ip: ${PRIVATE}`,
          'Entry 4: Schema validation failed: ip: overlaps the protected network 203.0.112.0/23',
        ],
      ],
    );
    const v2 = [
      access({ ip: '192.168.0.1' }),
      access({ ip: '2001:d00::/23' }),
      access({ ip: '10.0.0.0/8' }, { action: 'allow' }),
      access({ ip: '10.0.0.0/8' }, {}, 'delete'),
      access({ asn: 'AS15169' }),
      access({ country: 'NL' }),
    ];
    const second = await client.post('/v2/signal', v2);
    assert.deepEqual(
      [second.status, second.body.errors],
      [
        206,
        [
          'Entry 0: Schema validation failed: rule.target.ip: overlaps the protected network 192.168.0.0/16 (private)',
          'Entry 1: Schema validation failed: rule.target.ip: is wider than /24, the widest network that may be blocked',
        ],
      ],
    );
    assert.deepEqual((await client.rules()).map(({ target, action }) => `${action} ${target}`).sort(), [
      'allow 10.0.0.0/8',
      'block 8.8.8.8',
      'block AS15169',
      'block NL',
    ]);
  });

  once(
    'D7.4, D7.5 block feeds hold no protected address, of rules from before and of ASNs; allow feeds stay; each change is another content',
    async () => {
      const client = await world().client();
      const batch = [access({ ip: '9.0.0.0/7' }), access({ asn: 'AS15169' }), access({ ip: '10.0.0.1' }, { action: 'allow' })];
      assert.equal((await client.post('/v2/signal', batch)).status, 200);
      const before = await client.feed();
      const holds = (feed: string, text: string) => overlaps(addressSet(feed.trimEnd().split('\n').map(network)), network(text));
      assert.ok(holds(before, '8.8.8.8') && holds(before, '9.0.0.1') && !holds(before, '10.1.2.3'));

      await set(client, '--protect', '8.8.8.0/24,8.0.0.0/13,9.128.0.0/9');
      // Of two contents in one second the later one waits for its own (D5.15).
      const after = await eventually(async () => {
        const feed = await client.feed();
        assert.ok(!holds(feed, '8.8.8.0/24'));
        return feed;
      });
      for (const text of ['8.8.8.0/24', '8.0.0.0/13', '9.128.0.0/9']) assert.ok(!holds(after, text), text);
      assert.ok(holds(after, '9.127.255.255') && holds(after, '8.34.208.0/21'));
      assert.equal(await client.feed('/default'), after);
      assert.equal(await client.feed('?action=allow'), '10.0.0.1/32\n');

      await set(client, '--protect', 'none');
      await eventually(async () => assert.ok((await client.feed()) === before));
    },
  );

  test('D7.6, D7.7, D7.9 never-block rules are cut out of block feeds of lists and of the workspace, and what that costs is told', async () => {
    const client = await world().client();
    const inSpace = ['--workspace', client.workspace];
    await world().json(['list', 'create', 'edge', ...inSpace]);
    await client.post('/v2/signal?list=edge', [access({ ip: '198.51.100.0/24' }), access({ ip: '198.51.100.0' }, { action: 'allow' })]);
    await client.post('/v2/signal', [access({ ip: '198.51.100.8/29' }, { action: 'allow' })]);
    assert.equal(await client.feed('/edge'), '198.51.100.0/24\n');

    const [own, all] = [
      '198.51.100.1/32\n198.51.100.2/31\n198.51.100.4/30\n',
      '198.51.100.16/28\n198.51.100.32/27\n198.51.100.64/26\n198.51.100.128/25\n',
    ];
    const steps: [setting: string, feed: string, said: string][] = [
      ['on', `${own}198.51.100.8/29\n${all}`, '8 entries now, 7 more than'],
      ['workspace', `${own}${all}`, '7 entries now, 6 more than'],
      ['off', '198.51.100.0/24\n', '1 entry now, as many as'],
    ];
    for (const [setting, feed, said] of steps) {
      const text = await world().text(['list', 'set', 'edge', '--subtract-allow', setting, ...inSpace]);
      assert.ok(text.includes(` is changed; its block feed has ${said} with never-block rules left in`), text);
      await eventually(async () => assert.equal(await client.feed('/edge'), feed));
      assert.equal(await client.feed('/edge?action=allow'), '198.51.100.0/32\n');
    }
    assert.equal(await client.feed(), '198.51.100.0/24\n');
    const [answer] = await set(client, '--subtract-allow', 'on');
    assert.deepEqual(answer!.subtraction, { entries: 7, entries_without_subtraction: 1 });
    await eventually(async () => assert.equal(await client.feed(), `${own}${all}`));

    await world().json(['feed', 'create', 'device', '--list', 'edge', ...inSpace]);
    const [device] = await world().json(['feed', 'set', 'device', '--subtract-allow', 'workspace', ...inSpace]);
    assert.deepEqual(device!.subtraction, { entries: 7, entries_without_subtraction: 1 });
    await eventually(async () => assert.equal(await client.feed('/device'), `${own}${all}`));

    await world().json(['list', 'set', 'edge', '--subtract-allow', 'workspace', '--max-entries', '6', ...inSpace]);
    await eventually(async () => {
      const { status, text } = await getFeed(world().weir().url, await newKey(world().settings, client.workspace), '/edge');
      assert.equal(status, 413);
      assert.match(text, /set subtract_allow to off and poll the allow feed: cutting out never-block rules costs 6 entries/);
    });
  });

  test('D7.1, D7.5, D42.12 workspace set, ls, export and import; what cannot be is refused in one sentence', async () => {
    const client = await world().client();
    const settings = { protect: ['private', 'self', '192.0.2.0/24'], min_prefix_v4: 8, min_prefix_v6: 19, subtract_allow: 'off' };
    const found = ({ protect, min_prefix_v4, min_prefix_v6, subtract_allow }: Json) => ({
      protect,
      min_prefix_v4,
      min_prefix_v6,
      subtract_allow,
    });
    const own = async (id: string) => found((await world().json(['workspace', 'ls'])).find((each) => each.id === id)!);
    const fresh = { protect: [], min_prefix_v4: 0, min_prefix_v6: 0, subtract_allow: 'off' };
    assert.deepEqual(await own(client.workspace), fresh);
    await set(client, '--protect', 'private,self,192.0.2.1/24,private', '--min-prefix-v4', '8');
    const [answer] = await set(client, '--min-prefix-v6', '19');
    assert.deepEqual([found(answer!), await own(client.workspace)], [settings, settings]);

    // The same once more changes nothing, and says when it holds.
    const said = await world().text(['workspace', 'set', client.workspace, '--min-prefix-v6', '19']);
    assert.match(said, / is changed; signals follow it within 2 seconds, feeds with their next read of the store\n$/);

    const file = join(world().settings.DATA_DIR!, 'guarded.ndjson');
    await world().text(['export', file, '--workspace', client.workspace]);
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8').split('\n')[1]!), { settings });
    const other = await world().client();
    await world().text(['import', file, '--workspace', other.workspace]);
    assert.deepEqual(await own(other.workspace), settings);

    const cases: [option: string, value: string, says: RegExp][] = [
      ['--protect', '10.0.0.0/8,public', /^weir: --protect must be none or a list of networks such as .*, not "10\.0\.0\.0\/8,public"\n$/],
      ['--min-prefix-v4', '33', /^weir: --min-prefix-v4 must be a whole number from 0 to 32, not "33"\n$/],
      ['--min-prefix-v6', '-1', /^weir: --min-prefix-v6 must be a whole number from 0 to 128, not "-1"\n$/],
    ];
    for (const [option, value, says] of cases) {
      const { code, stderr } = await command(['workspace', 'set', client.workspace, option, value], world().settings);
      assert.equal(code, 2);
      assert.match(stderr, says);
    }
    // Some are added to those before, or removed.
    const protect = async (...options: string[]) => ((await set(client, ...options))[0] as Json).protect;
    assert.deepEqual(await protect('--protect-add', '198.51.100.9/24, self'), [...settings.protect, '198.51.100.0/24']);
    assert.deepEqual(await protect('--protect-remove', 'self,192.0.2.0/24', '--protect-add', '2001:DB8::/32'), [
      'private',
      '198.51.100.0/24',
      '2001:db8::/32',
    ]);
    for (const [options, says] of [
      [['--protect-remove', '198.51.100.7'], /^weir: --protect-remove: 198\.51\.100\.7 is not in the list: private, /],
      [['--protect-add', 'none'], /^weir: --protect-add must be a list of networks such as .*, not "none"\n$/],
      [['--protect', 'self', '--protect-add', 'private'], /^weir: give --protect, or --protect-add and --protect-remove\n$/],
    ] as const) {
      const { code, stderr } = await command(['workspace', 'set', client.workspace, ...options], world().settings);
      assert.deepEqual([code, says.test(stderr)], [2, true], stderr);
    }
    assert.deepEqual((await own(client.workspace)).protect, ['private', '198.51.100.0/24', '2001:db8::/32']);
    assert.equal((await command(['workspace', 'set', client.workspace], world().settings)).code, 2);
    assert.equal((await command(['workspace', 'set', 'nobody', '--protect', 'none'], world().settings)).code, 2);
  });
}
