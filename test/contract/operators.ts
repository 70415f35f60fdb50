/** What people are told and asked: through the management API and at the command line, on every engine. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { PERMISSIONS } from '../../src/account/permission.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer, type Headers } from '../support/http.ts';
import { eventually } from '../support/weir.ts';
import { type Client, type Json, startWorld, type World } from '../support/world.ts';
import { contractSuite, type Engine } from './engine.ts';

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

function operatorTests(world: () => World): void {
  test('D10.18 a preview and a change that never blocks a target name each block feed that has it still, and the one step that takes it out', async () => {
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
    const explained = await world().text(['explain', '192.0.2.7', ...inSpace, '--no-entries']);
    assert.match(explained, /^list edge: in\n.*\n {2}not cut out: never-block rule 192\.0\.2\.7, list partners, /m);
    assert.match(explained, /^ {2}\.\/weir list set edge .* --subtract-allow workspace takes it out of this feed$/m);
    for (const [, , , step] of told(done)) await world().text(step!.split(' ').slice(1));
    for (const path of ['', '/edge', '/perimeter']) await eventually(async () => assert.equal(await holds(path), false, path));
    assert.deepEqual((await call('POST', '/rules', { ...entry, preview: true })).body.still_blocked, []);
  });

  test('D10.18 where a never-block rule is cut out only in part, the steps are told as they are; where none is asked for, nothing is', async () => {
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
  });

  test('D10.4, D10.3 a rule on a country without ranges, and one in the feed of the other family, is told with what an unblock removes', async () => {
    const client = await world().client(...ALL);
    const inSpace = ['--workspace', client.workspace];
    await world().text(['list', 'create', 'four', '--family', 'v4', ...inSpace]);
    const upsert = (target: Json) => ({ kind: 'access_rule', op: 'upsert', rule: { target } });
    await client.post('/v2/signal?list=four', [upsert({ country: 'BV' }), upsert({ ip: '2001:db8::/32' })]);
    await world().landed();
    const explain = async (target: string) => {
      const [answer] = await world().json(['explain', target, '--list', 'four', '--no-entries', ...inSpace]);
      const [{ verdict, rules, unblock }] = answer!.feeds as [{ verdict: string; rules: Json[]; unblock: { removes: number[] } }];
      return [verdict, rules.map(({ effect, idle, relation }) => [effect, idle, relation]), unblock.removes.length];
    };
    assert.deepEqual(await explain('BV'), ['out', [['none', 'no_ranges', 'exact']], 1]);
    assert.deepEqual(await explain('2001:db8::/32'), ['out', [['none', 'other_family', 'exact']], 1]);
    const text = await world().text(['explain', 'BV', ...inSpace, '--no-entries']);
    assert.match(text, /^ {2}without addresses in the geo data: BV, list four, /m);
    assert.match(text, /an unblock of BV in list four removes the rule; it is not in this feed already/);
  });
}
