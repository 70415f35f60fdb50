/** What people are told and asked: through the management API and at the command line, on every engine. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { PERMISSIONS } from '../../src/account/permission.ts';
import { command, newKey } from '../support/command.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer, getFeed, type Headers } from '../support/http.ts';
import { eventually } from '../support/weir.ts';
import { type Client, type Json, startWorld, type World } from '../support/world.ts';
import { contractSuite, type Engine, type Once } from './engine.ts';

const ALL = PERMISSIONS.flatMap((permission) => ['--permission', permission]);

/** Requests of a client to the management API. */
export const manager =
  (world: () => World, client: Client) =>
  async (method: string, path: string, body?: object, headers: Headers = {}) => {
    const reply = await ask(world().weir().url, `/v1/manage${path}`, {
      method,
      headers: { ...bearer(client.key), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { ...reply, body: JSON.parse(reply.text || '{}') as Json };
  };

interface Kept extends Json {
  readonly kind: string;
  readonly name: string;
  readonly verdict: string;
  readonly step: string;
}

export function operatorContract(engine: Engine): void {
  contractSuite(
    'what operators are told and asked',
    engine,
    (settings, folder) => startWorld({ ...settings, ...smallGeo(folder), DATA_DIR: join(folder, 'data'), RATE_LIMIT_MANAGE: '0' }),
    operatorTests,
  );
}

function operatorTests(world: () => World, once: Once): void {
  once(
    'D10.18 a preview and a change that never blocks a target name each block feed that has it still, and the one step that takes it out',
    async () => {
      const client = await world().client(...ALL);
      const call = manager(world, client);
      const inSpace = ['--workspace', client.workspace];
      const workspace = (await call('GET', '/workspace')).body.name;
      for (const name of ['edge', 'partners']) assert.equal((await call('POST', '/lists', { name })).status, 201);
      assert.equal((await call('POST', '/feeds', { name: 'perimeter', lists: ['edge'] })).status, 201);
      await world().text(['list', 'set', 'partners', '--subtract-allow', 'workspace', ...inSpace]);
      const block = (ip: string) => ({ kind: 'access_rule', op: 'upsert', rule: { target: { ip } } });
      await client.post('/v2/signal?list=edge', [block('192.0.2.0/24')]);
      await client.post('/v2/signal?list=partners', [block('192.0.2.0/24')]);
      await world().landed();

      const entry = { value: '192.0.2.7', action: 'allow', list: 'partners' };
      const previewed = (await call('POST', '/rules', { ...entry, preview: true })).body;
      const done = (await call('POST', '/rules', entry)).body;
      assert.deepEqual(done.still_blocked, previewed.still_blocked);
      const inWorkspace = `--workspace ${workspace} --subtract-allow`;
      const told = (answer: Json) => (answer.still_blocked as Kept[]).map(({ kind, name, verdict, step }) => [kind, name, verdict, step]);
      assert.deepEqual(told(done), [
        ['workspace', workspace, 'in', `./weir workspace set ${workspace} --subtract-allow on`],
        ['list', 'edge', 'in', `./weir list set edge ${inWorkspace} workspace`],
        ['composed', 'perimeter', 'in', `./weir feed set perimeter ${inWorkspace} workspace`],
      ]);

      // The feeds say the same, before each step and after it.
      const holds = async (path: string) => /192\.0\.2\.0\/24/.test(await client.feed(path));
      for (const [path, is] of [
        ['', true],
        ['/edge', true],
        ['/partners', false],
        ['/perimeter', true],
      ] as const)
        await eventually(async () => assert.equal(await holds(path), is, path));
      const explained = await world().text(['lookup', '192.0.2.7', ...inSpace, '--no-entries']);
      assert.match(explained, /^list edge: in\n.*\n {2}not cut out: never-block rule 192\.0\.2\.7, list partners, /m);
      assert.match(explained, /^ {2}\.\/weir list set edge .* --subtract-allow workspace takes it out of this feed$/m);
      for (const [, , , step] of told(done)) await world().text(step!.split(' ').slice(1));
      for (const path of ['', '/edge', '/perimeter']) await eventually(async () => assert.equal(await holds(path), false, path));
      assert.deepEqual((await call('POST', '/rules', { ...entry, preview: true })).body.still_blocked, []);
    },
  );

  once(
    'D10.18 where a never-block rule is cut out only in part, the steps are told as they are; where none is asked for, nothing is',
    async () => {
      const client = await world().client(...ALL);
      const call = manager(world, client);
      await client.post('/v2/signal', [{ kind: 'access_rule', op: 'upsert', rule: { target: { country: 'DE' } } }]);
      await world().landed();
      const { body } = await call('POST', '/rules', { value: '192.0.2.1', action: 'allow', preview: true });
      assert.deepEqual(
        (body.still_blocked as Kept[]).map(({ kind, way_out }) => [kind, way_out]),
        [
          ['workspace', { do: 'subtract_allow', value: 'on' }],
          ['list', { do: 'subtract_allow', value: 'on' }],
        ],
      );
      assert.equal((await call('POST', '/rules', { value: '192.0.2.1', preview: true })).body.still_blocked, undefined);
      const unknown = (await call('POST', '/rules', { value: '192.0.2.1', action: 'allow', list: 'nowhere', preview: true })).status;
      assert.equal(unknown, 404);
    },
  );

  once(
    'D10.4, D10.3 a rule on a country without ranges, and one in the feed of the other family, is told with what an unblock removes',
    async () => {
      const client = await world().client(...ALL);
      const inSpace = ['--workspace', client.workspace];
      await world().text(['list', 'create', 'four', '--family', 'v4', ...inSpace]);
      const upsert = (target: Json) => ({ kind: 'access_rule', op: 'upsert', rule: { target } });
      await client.post('/v2/signal?list=four', [upsert({ country: 'BV' }), upsert({ ip: '2001:db8::/32' })]);
      await world().landed();
      const explain = async (target: string) => {
        const [answer] = await world().json(['lookup', target, '--list', 'four', '--no-entries', ...inSpace]);
        const [{ verdict, rules, unblock }] = answer!.feeds as [{ verdict: string; rules: Json[]; unblock: { removes: number[] } }];
        return [verdict, rules.map(({ effect, idle, relation }) => [effect, idle, relation]), unblock.removes.length];
      };
      assert.deepEqual(await explain('BV'), ['out', [['none', 'no_ranges', 'exact']], 1]);
      assert.deepEqual(await explain('2001:db8::/32'), ['out', [['none', 'other_family', 'exact']], 1]);
      const text = await world().text(['lookup', 'BV', ...inSpace, '--no-entries']);
      assert.match(text, /^ {2}without addresses in the geo data: BV, list four, /m);
      assert.match(text, /an unblock of BV in list four removes the rule; it is not in this feed already/);
    },
  );

  test('D15.50 a list or feed is deleted only when what goes with it was told and is meant: rules, feeds, keys, who has pulled', async () => {
    const client = await world().client(...ALL);
    const call = manager(world, client);
    const inSpace = ['--workspace', client.workspace];
    const edge = (await call('POST', '/lists', { name: 'edge' })).body.id;
    await call('POST', '/feeds', { name: 'perimeter', lists: ['edge'] });
    const bound = (await call('POST', '/keys', { name: 'fw', permissions: ['feed:read'], list: 'edge' })).body;
    await client.post('/v2/signal?list=edge', [{ kind: 'access_rule', op: 'upsert', rule: { target: { ip: '192.0.2.1' } } }]);
    await world().landed();
    const poll = () => getFeed(world().weir().url, String(bound.key), '/edge');
    await eventually(async () => assert.equal((await poll()).text, '192.0.2.1/32\n'));
    const bouncer = await ask(world().weir().url, '/v1/decisions/stream?startup=true', {
      headers: { 'x-api-key': String(bound.key), 'user-agent': 'my-bouncer/1' },
    });
    assert.equal(bouncer.status, 200);

    const any = { 'if-match': '*' };
    const refused = await call('DELETE', '/lists/edge', undefined, any);
    assert.equal(refused.status, 409);
    assert.match(
      String(refused.body.message),
      /^deleting the list "edge" also deletes 1 rule, changes 1 feed, revokes 1 key.*: see .* preview=1, delete with confirmed=1$/,
    );
    const previewed = (await call('DELETE', '/lists/edge?preview=1', undefined, any)).body;
    const { rules, feeds, keys, needs_confirmation, deleted } = previewed as Json & { feeds: Json[]; keys: Json[] };
    assert.deepEqual(
      [deleted, rules, feeds.map(({ name }) => name), keys.map(({ name }) => name), needs_confirmation],
      [false, 1, ['perimeter'], ['fw'], true],
    );
    const { code, stderr } = await command(['list', 'delete', 'edge', ...inSpace], world().settings);
    assert.equal(code, 2);
    for (const told of ['  1 rule\n', '  its part of the feeds perimeter\n', '  the keys bound to it: fw\n', `weir list restore ${edge} `])
      assert.ok(stderr.includes(told), stderr);
    assert.match(stderr, /nothing has changed; add --yes to do it/);
    await eventually(async () => {
      const { stderr: seen } = await command(['list', 'delete', 'edge', ...inSpace], world().settings);
      assert.match(seen, /^weir: {3}fetched in the last ten minutes by$/m);
      assert.match(seen, /^weir: {5}device \S+ {2}.* {2}key fw {2}last fetch /m);
      assert.match(seen, /^weir: {5}bouncer \S+ {2}my-bouncer\/1 {2}key fw {2}last fetch /m);
    });
    assert.equal((await poll()).status, 200);
    assert.equal((await call('DELETE', '/lists/default', undefined, any)).status, 409);
    // Feeds of all lists are told too, where anything goes.
    await call('POST', '/feeds', { name: 'whole', all_lists: true });
    const whole = (await call('DELETE', '/lists/edge?preview=1', undefined, any)).body as { feeds: Json[] };
    assert.deepEqual(whole.feeds.map(({ name }) => name).sort(), ['perimeter', 'whole']);
    // Nothing goes with it: nothing is asked.
    await call('POST', '/lists', { name: 'empty' });
    assert.equal((await call('DELETE', '/lists/empty', undefined, any)).status, 200);
    assert.deepEqual(
      (await world().json(['feed', 'ls', ...inSpace])).map(({ list_names }) => list_names),
      [['edge'], []],
    );
    assert.deepEqual(
      (await world().json(['list', 'ls', ...inSpace])).map(({ name, rules: count }) => [name, count]),
      [
        ['default', 0],
        ['edge', 1],
      ],
    );
  });

  test('D15.51 for seven days a list and a feed come back with rules, settings, memberships and bound keys, over HTTP and by command', async () => {
    const client = await world().client(...ALL);
    const call = manager(world, client);
    const inSpace = ['--workspace', client.workspace];
    const edge = (await call('POST', '/lists', { name: 'edge', description: 'the edge', max_entries: 7 })).body;
    const feed = (await call('POST', '/feeds', { name: 'perimeter', lists: ['edge'], family: 'v4' })).body;
    await call('POST', '/feeds', { name: 'other', lists: ['edge'] });
    const keyOf = async (bound: object) =>
      String((await call('POST', '/keys', { name: 'fw', permissions: ['feed:read'], ...bound })).body.key);
    const keys = [await keyOf({ list: 'edge' }), await keyOf({ feed: 'perimeter' })] as const;
    await client.post('/v2/signal?list=edge', [{ kind: 'access_rule', op: 'upsert', rule: { target: { ip: '192.0.2.1' } } }]);
    await world().landed();
    const polls = () =>
      Promise.all(
        [
          [keys[0], '/edge'],
          [keys[1], '/perimeter'],
        ].map(async ([key, path]) => {
          const { status, text } = await getFeed(world().weir().url, key!, path!);
          return status === 200 ? text : status;
        }),
      );
    const served = ['192.0.2.1/32\n', '192.0.2.1/32\n'];
    await eventually(async () => assert.deepEqual(await polls(), served));

    const any = { 'if-match': '*' };
    assert.equal((await call('DELETE', '/feeds/perimeter?confirmed=1', undefined, any)).status, 200);
    await world().text(['list', 'delete', 'edge', '--yes', ...inSpace]);
    await eventually(async () => assert.deepEqual(await polls(), [401, 401]));
    const reader = await newKey(world().settings, client.workspace);
    for (const path of ['/edge', `/${edge.id}`, '/perimeter'])
      await eventually(async () => assert.equal((await getFeed(world().weir().url, reader, path)).status, 404, path));
    assert.equal(await client.feed(), '');
    const listed = (await call('GET', '/deleted')).body.deleted as Json[];
    assert.deepEqual(
      listed.map(({ kind, name, keys: count }) => [kind, name, count]),
      [
        ['list', 'edge', 1],
        ['composed', 'perimeter', 1],
      ],
    );
    assert.match(await world().text(['list', 'deleted', ...inSpace]), new RegExp(`${edge.id}  edge `));

    // The name may be taken meanwhile.
    await call('POST', '/lists', { name: 'edge' });
    const taken = await call('POST', '/lists/edge/restore', {});
    assert.deepEqual([taken.status, /has a list called "edge".*give it another/.test(String(taken.body.message))], [409, true]);
    await call('DELETE', '/lists/edge?for_good=1', undefined, any);
    const back = await world().text(['list', 'restore', String(edge.id), ...inSpace]);
    assert.match(back, /^list edge \S+ is back, and 1 key with it\nfeeds that have it again: other\n$/);
    const restored = await call('POST', '/feeds/perimeter/restore', {});
    const { id } = feed;
    assert.deepEqual(
      [restored.status, restored.body],
      [200, { kind: 'composed', id, name: 'perimeter', keys: 1, feeds: [] }],
      restored.text,
    );
    await eventually(async () => assert.deepEqual(await polls(), served));
    const plain = ({ feed: _, ...of }: Json) => of;
    assert.deepEqual(plain((await call('GET', '/lists/edge')).body), plain(edge));
    assert.deepEqual(plain((await call('GET', '/feeds/perimeter')).body), plain(feed));
    assert.deepEqual(
      (await client.rules()).map(({ target }) => target),
      ['192.0.2.1'],
    );
    assert.equal((await call('POST', '/lists/edge/restore', {})).status, 404);
    assert.equal((await command(['list', 'restore', 'edge', ...inSpace], world().settings)).code, 2);
    // Signals land in it as before.
    await client.post('/v2/signal?list=edge', [{ kind: 'access_rule', op: 'upsert', rule: { target: { ip: '192.0.2.3' } } }]);
    await world().landed();
    await eventually(async () => assert.deepEqual(await polls(), ['192.0.2.1/32\n192.0.2.3/32\n', '192.0.2.1/32\n192.0.2.3/32\n']));
  });

  test('D10.19, D9.6 keys are named by their names; one that is not known is an error, and never "no rule meets these conditions"', async () => {
    const client = await world().client(...ALL);
    const call = manager(world, client);
    const inSpace = ['--workspace', client.workspace];
    const { key } = (await call('POST', '/keys', { name: 'siem', permissions: ['signal:write'] })).body;
    const block = (ip: string, more: object = {}) => ({ kind: 'access_rule', op: 'upsert', ...more, rule: { target: { ip } } });
    await client.post('/v2/signal', [block('192.0.2.1'), block('192.0.2.2', { reason: 'scan', labels: { team: 'soc' } })], String(key));
    await client.post('/v2/signal', [block('192.0.2.3')]);
    await world().landed();
    const found = async (...options: string[]) => (await world().json(['rule', 'ls', ...inSpace, ...options])).map(({ target }) => target);
    assert.deepEqual(await found('--key', 'siem'), ['192.0.2.1', '192.0.2.2']);
    assert.deepEqual(await found('--key', 'siem', '--label', 'team=soc', '--reason', 'scan', '--since', '1h'), ['192.0.2.2']);
    const [batch] = await world().json(['batch', 'ls', ...inSpace, '--limit', '1']);
    assert.deepEqual(await found('--batch', String(batch!.id)), ['192.0.2.3']);
    const text = await world().text(['batch', 'ls', ...inSpace]);
    assert.match(text, / 2 +default +siem /);
    for (const [option, value] of [
      ['--key', 'simm'],
      ['--batch', '0199f3c2-8a51-7c3e-9d0b-4f1e2a6b7000'],
      ['--list', 'nowhere'],
    ] as const) {
      for (const words of [
        ['rule', 'ls'],
        ['rule', 'delete', '--yes'],
      ]) {
        const { code, stderr, stdout } = await command([...words, ...inSpace, option, value], world().settings);
        assert.deepEqual([code, stdout], [2, ''], stderr);
        assert.match(stderr, /there is no (key|batch|list) "/);
      }
    }
    assert.deepEqual(
      ((await call('GET', '/rules?key=siem')).body.rules as Json[]).map(({ target }) => target),
      ['192.0.2.1', '192.0.2.2'],
    );
    assert.equal((await call('GET', '/rules?key=simm')).status, 404);
    assert.match(await world().text(['rule', 'delete', '--key', 'siem', '--yes', ...inSpace]), /^2 rules deleted by /);
    assert.deepEqual(await found(), ['192.0.2.3']);
  });

  test('D9.14 weir send tells the batches that it made; weir undo takes back what a key has sent since an instant', async () => {
    const client = await world().client(...ALL);
    const inSpace = ['--workspace', client.workspace];
    const file = join(world().settings.DATA_DIR!, 'sent.txt');
    writeFileSync(file, '192.0.2.1\n192.0.2.2\n');
    const call = manager(world, client);
    const { key } = (await call('POST', '/keys', { name: 'siem', permissions: ['signal:write'] })).body;
    const send = (...options: string[]) => ['send', file, '--url', world().weir().url, '--key', String(key), ...options];
    const [json] = (await world().json(send())) as [{ batches: string[] }];
    assert.equal(json.batches.length, 1);
    const { stdout, stderr: told } = await command(send('--reason', 'again'), world().settings);
    assert.equal(stdout, '2 signals processed, 0 failed\n');
    const [, second] = /^weir: batch (\S+)$/m.exec(told)!;
    await client.post('/v2/signal', [{ kind: 'access_rule', op: 'upsert', rule: { target: { ip: '192.0.2.3' } } }]);
    await world().landed();
    const undone = await world().json(['undo', '--key', 'siem', '--since', '1h', '--yes', ...inSpace]);
    assert.deepEqual(
      undone.map((each) => each.undone),
      [second, json.batches[0]],
    );
    assert.deepEqual(
      (await client.rules()).map(({ target }) => target),
      ['192.0.2.3'],
    );
    for (const [words, sentence] of [
      [['undo', '--key', 'siem', '--since', '1h'], /there is nothing to undo/],
      [['undo', '--key', 'siem'], /name them, or give --since/],
      [['undo', '--key', 'simm', '--since', '1h'], /there is no key "simm"/],
    ] as const) {
      const { code, stderr } = await command([...words, '--yes', ...inSpace], world().settings);
      assert.equal(code, 2);
      assert.match(stderr, sentence);
    }
  });

  test('D15.54, D45.1, D45.2 what commands do to rules has an author: in the audit log, batches, changes, look-up and history', async () => {
    const client = await world().client(...ALL);
    const call = manager(world, client);
    const inSpace = ['--workspace', client.workspace];
    const me = userInfo().username;
    const block = (ip: string) => ({ kind: 'access_rule', op: 'upsert', rule: { target: { ip } } });
    await client.post('/v2/signal', [block('192.0.2.1'), block('192.0.2.2')]);
    await world().landed();
    const which = ['--address', '192.0.2.0/24', '--match', 'covered'];
    const jana = ['--yes', '--actor', 'Jana Novák', ...inSpace];
    const [deleted] = await world().json(['rule', 'delete', ...which, ...jana]);
    const [undone] = await world().json(['undo', String(deleted.batch_id), '--yes', ...inSpace]);
    const [changed] = await world().json(['rule', 'change', ...which, '--set-reason', 'seen', ...jana]);
    const rows = await world().json(['audit', 'ls', ...inSpace]);
    const of = (event: string) =>
      rows.filter((row) => row.event === event).map(({ object, actor, key_id: key, after }) => [object, actor, key, after]);
    assert.deepEqual(of('rules deleted'), [
      [deleted.batch_id, 'Jana Novák', null, { kind: 'access_rule', address: '192.0.2.0/24', match: 'covered', rules: 2 }],
    ]);
    assert.deepEqual(of('batches undone'), [[undone.batch_id, me, null, { undoes: [deleted.batch_id] }]]);

    assert.match(await world().text(['lookup', '192.0.2.1', ...inSpace]), new RegExp(`"seen", by Jana Novák, batch ${changed.batch_id}`));

    // Signals name a person where the sender does; a header that names nobody refuses none.
    const file = join(world().settings.DATA_DIR!, 'by-a-person.txt');
    writeFileSync(file, '192.0.2.9\n');
    const send = ['send', file, '--url', world().weir().url, '--key', client.key];
    for (const more of [[], ['--actor', 'Jana Novák'], ['--replace', '--yes', '--reason', 'new', '--actor', 'Eva']])
      await world().text([...send, ...more]);
    const headers = { ...bearer(client.key), 'x-actor': encodeURIComponent('a\u202eb') };
    const named = await ask(world().weir().url, '/v2/signal', { method: 'POST', headers, body: JSON.stringify([block('192.0.2.9')]) });
    assert.equal(named.status, 200);
    await world().landed();
    const batches = await world().json(['batch', 'ls', ...inSpace]);
    assert.deepEqual(
      batches.map(({ actor, key_id: key }) => [actor, key === null]),
      [
        [null, false],
        ['Eva', false],
        ['Eva', false],
        ['Jana Novák', false],
        [null, false],
        ['Jana Novák', true],
        [me, true],
        ['Jana Novák', true],
        [null, false],
      ],
    );
    const { changes } = (await call('GET', '/changes?kind=rules')).body as { changes: Json[] };
    const by = (event: string) => changes.filter((each) => each.event === event).map(({ actor }) => actor);
    assert.deepEqual([by('undone'), by('changed').includes('Jana Novák')], [[me], true]);
    const { history } = (await call('GET', '/lookup?target=192.0.2.2&path=1')).body as { history: Json[] };
    assert.deepEqual(
      history.map(({ event, actor }) => [event, actor]),
      [
        ['removed', 'Eva'],
        ['renewed', 'Jana Novák'],
        ['restored', me],
        ['removed', 'Jana Novák'],
        ['added', undefined],
      ],
    );
  });
}
