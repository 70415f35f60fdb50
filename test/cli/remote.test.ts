/** Commands that are operations: each row of their tables, and that they do the same beside a server and at one (SPEC D48). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { fieldsOf, operationNamed, pathNames } from '../../src/cli/client/client.ts';
import { optionsOf } from '../../src/cli/rows/options.ts';
import { argumentsOf, omitted } from '../../src/cli/rows/row.ts';
import { COMMAND_ROWS } from '../../src/cli/rows/table.ts';
import { command } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

test('D48.1, D48.2 each row of the command tables names an operation, and covers all that it requires', async () => {
  const rows = await COMMAND_ROWS();
  for (const row of rows) {
    const operation = operationNamed(row.operation);
    const names = [...argumentsOf(row), ...optionsOf(operation, row.options ?? {}, omitted(row)).map(({ field }) => field)];
    const computed = row.given !== undefined || row.run !== undefined;
    for (const name of pathNames(operation)) assert.ok(names.includes(name) || computed, `${row.words}: ${name} of the path`);
    for (const name of [...(operation.query?.required ?? []), ...(operation.body?.required ?? [])])
      assert.ok(names.includes(name) || computed, `${row.words}: ${name} is required`);
    for (const name of Object.keys(row.options ?? {})) assert.ok(name in fieldsOf(operation), `${row.words}: there is no field ${name}`);
    assert.ok((row.columns === undefined) !== (row.show === undefined), `${row.words}: a table or a text`);
  }
  assert.equal(new Set(rows.map(({ words }) => words.replace(/ [<[].*/, ''))).size, rows.length, 'each command once');
});

suite('commands at a service', () => {
  const folder = temporaryFolder({ after });
  const settings = {
    ...smallGeo(folder),
    ...{ DATA_DIR: `${folder}/data`, ARCHIVE_DIR: `${folder}/archive`, BOOTSTRAP_API_KEY: KEY, ROLES: 'signals,consumer,feeds,manage' },
  };
  const remote = { DATA_DIR: `${folder}/nothing`, WEIR_API_KEY: KEY };
  let server: Weir;
  before(async () => {
    server = await startWeir(settings);
  });
  after(() => server.kill('SIGKILL'));

  const here = (...args: string[]) => command([...args, '--json'], settings);
  const there = (...args: string[]) => command(['--url', server.url, ...args, '--json'], remote);
  const done = async ({ code, stdout, stderr }: Awaited<ReturnType<typeof command>>, what: string) => {
    assert.deepEqual([code, stderr], [0, ''], what);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  /** What differs between two things that were made alike. */
  const comparable = (value: unknown, name: string): Record<string, unknown> =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(name, 'NAME')
        .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
        .replaceAll(/weir_[\w-]+/g, 'KEY'),
    );

  test('D48.1, D48.4 commands print the same JSON on the store of the machine and at a service', async () => {
    const changes = (name: string): string[][] => [
      ['list', 'create', name, '--family', 'v4', '--max-entries', '7'],
      ['list', 'set', name, '--description', 'what scans us', '--family', '', '--subtract-allow', 'on'],
      ['feed', 'create', `${name}-feed`, '--list', 'default', '--list', name, '--min-sources', '2'],
      ['feed', 'set', `${name}-feed`, '--lists', `${name},default`, '--always', name],
      ['feed', 'show', `${name}-feed`],
      ['key', 'create', '--name', `${name} key`, '--list', name, '--permission', 'feed:read', '--from', '10.1.2.3/8'],
      ['key', 'set', `${name} key`, '--from', 'any'],
      ['webhook', 'add', name, 'https://chat.example/hook'],
      ['webhook', 'set', name, '--style', 'teams'],
      ['webhook', 'rm', name],
      ['source', 'add', `${name}-source`, 'https://lists.example/a', '--every', '1h', '--skip', '2', '--may-be-empty'],
      ['source', 'pause', `${name}-source`],
      ['source', 'set', `${name}-source`, '--no-may-be-empty', '--path', 'a[].b'],
      ['source', 'show', `${name}-source`],
      ['source', 'delete', `${name}-source`],
      ['workspace', 'set', 'default', '--protect-add', name === 'local' ? '198.51.100.0/28' : '198.51.100.16/28'],
      ['key', 'revoke', `${name} key`, '--yes'],
      ['list', 'delete', name, '--yes'],
      ['list', 'restore', name],
      ['list', 'delete', name, '--yes', '--for-good'],
      ['feed', 'delete', `${name}-feed`, '--yes'],
    ];
    const remotely = changes('remote');
    for (const [i, args] of changes('local').entries()) {
      const local = comparable(await done(await here(...args), args.join(' ')), 'local');
      const other = comparable(await done(await there(...remotely[i]!), remotely[i]!.join(' ')), 'remote');
      if (args[0] === 'workspace') local.protect = other.protect;
      assert.deepEqual(other, local, args.join(' '));
    }
    for (const words of READS)
      assert.deepEqual(await done(await there(...words.split(' ')), words), await done(await here(...words.split(' ')), words), words);
  });

  const READS = [
    'list ls',
    'list deleted',
    'feed ls',
    'feed deleted',
    'key ls',
    'webhook ls',
    'source ls',
    'source catalogue',
    'source catalogue spamhaus-drop',
    'target ls',
    'person ls',
  ];

  test('D48.1 look-up and status at a service are those of the workspace of the key', async () => {
    const [local, other] = [await done(await here('lookup', '192.0.2.1'), 'here'), await done(await there('lookup', '192.0.2.1'), 'there')];
    const sizeless = (found: Record<string, unknown>) =>
      (found.feeds as Record<string, unknown>[]).map(({ entries: _e, max_entries: _m, over_cap: _o, ...feed }) => feed);
    assert.deepEqual({ ...other, feeds: sizeless(other) }, { ...local, feeds: sizeless(local) });
    const { stdout } = await command(['--url', server.url, 'lookup', '192.0.2.1'], remote);
    assert.match(stdout, /^192\.0\.2\.1 \(DE\) in the block feeds\n/);
    const status = await there('status');
    const [at, beside] = [JSON.parse(status.stdout), JSON.parse((await here('status')).stdout)];
    assert.deepEqual([Object.keys(at).sort(), at.attention], [Object.keys(beside).sort(), beside.attention]);
    assert.match((await command(['--url', server.url, 'status'], remote)).stdout, /^process: +\d+: signals, /m);
  });

  test('D61.1, D61.4, D61.6, D61.9 an earlier look-up or difference is answered from the archive and the store, beside a service and at it', async () => {
    const post = await fetch(`${server.url}/v1/signal`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}` },
      body: JSON.stringify([{ type: 'access_rules', action: 'block', ip: '192.0.2.77' }]),
    });
    assert.equal(post.status, 200, await post.text());
    // The archive may begin later than the block.
    const { blocked, at } = await eventually(async () => {
      const now = new Date().toISOString();
      const found = await done(await there('lookup', '192.0.2.77', '--at', now), 'there');
      assert.equal((found.feeds as { verdict: string }[])[0]!.verdict, 'in');
      return { blocked: now, at: found };
    });
    const earlier = ['lookup', '192.0.2.77', '--at', blocked];
    const beside = await done(await here(...earlier), 'here');
    const plain = ({ feeds, ...rest }: Record<string, unknown>) => ({
      ...rest,
      feeds: (feeds as Record<string, unknown>[]).map(({ pulled_by: _, rules_left_out: _left, ...feed }) => feed),
    });
    assert.deepEqual(plain(at), plain(beside));
    const [feed] = at.feeds as { verdict: string; rules: { key_name: string; list_name: string }[] }[];
    assert.deepEqual([feed!.verdict, feed!.rules[0]!.list_name], ['in', 'default']);
    const text = await command(['--url', server.url, ...earlier], remote);
    assert.match(
      text.stdout,
      /^192\.0\.2\.77 in the block feeds at .*, with the geo data .*\n\nworkspace default: in\n {2}in: 192\.0\.2\.77, list default/,
    );
    for (const [args, says] of [
      [['192.0.2.77', '--at', '2020-01-01'], /^weir: the archive begins at 20/],
      [['192.0.2.77', '--at', '2999-01-01'], /^weir: .*must not be in the future/],
      [['DE', '--at', blocked], /^weir: .*must be an address or a network/],
    ] as const)
      for (const run of [here, there]) assert.match((await run('lookup', ...args)).stderr, says);
    for (const run of [here, there]) assert.match((await run('feed', 'diff', '--since', '8d')).stderr, /^weir: the archive begins at 20/);
    const without = await command(['lookup', '192.0.2.77', '--at', blocked], { ...settings, ARCHIVE_DIR: '' });
    assert.equal(without.stderr, 'weir: there is no archive of earlier rules: ARCHIVE_DIR is not set\n');
  });

  test('D48.3 the service may be named before the command or by WEIR_URL; its key decides over the workspace', async () => {
    const names = async (args: string[], more = {}) => {
      const { code, stdout, stderr } = await command([...args, '--json'], { ...remote, ...more });
      assert.deepEqual([code, stderr], [0, '']);
      return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
    };
    assert.ok((await names(['--url', server.url, 'list', 'ls'])).includes('default'));
    assert.ok((await names([`--url=${server.url}`, 'list', 'ls', '--workspace', 'default'])).includes('default'));
    assert.ok((await names(['list', 'ls'], { WEIR_URL: server.url })).includes('default'));
    const refused: [args: string[], more: Record<string, string>, says: RegExp][] = [
      [['list', 'ls', '--workspace', 'edge'], {}, /^weir: the key in WEIR_API_KEY is for the workspace "default", not for "edge"\n$/],
      [['list', 'ls'], { WEIR_API_KEY: 'weir-test-key-of-nobody-0123' }, /does not accept the key in WEIR_API_KEY\n$/],
      [['list', 'ls'], { WEIR_API_KEY: '' }, /^weir: give an API key/],
      [['list', 'set', 'nowhere', '--family', 'v4'], {}, /^weir: there is no list "nowhere"\n$/],
      [['list', 'create', 'x', '--max-entries', '0'], {}, /^weir: --max-entries must be a whole number from 1 to 4000000, not "0"\n$/],
      [
        ['feed', 'create', 'x', '--list', 'default', '--min-sources', '2'],
        {},
        /^weir: --min-sources exceeds the number of lists of the feed, 1\n$/,
      ],
      [
        ['source', 'add', 'x', 'https://lists.example/', '--every', '1h', '--stale-after', '1h'],
        {},
        /^weir: --stale-after must be at least 2h/,
      ],
    ];
    for (const [args, more, says] of refused) {
      const { code, stdout, stderr } = await command(['--url', server.url, ...args], { ...remote, ...more });
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.match(stderr, says);
    }
    const away = await command(['list', 'ls', '--url', 'http://127.0.0.1:9'], remote);
    assert.match(away.stderr, /^weir: http:\/\/127\.0\.0\.1:9\/ cannot be reached: /);
  });

  test('D48.5 a command that works on the store of its machine says so when it is given --url', async () => {
    const { code, stdout, stderr } = await command(['--url', server.url, 'org', 'ls'], remote);
    assert.deepEqual([code, stdout], [2, '']);
    assert.equal(stderr, 'weir: weir org ls works on the store of its own machine: leave --url out\n');
    const noted = await command(['org', 'ls'], { ...settings, WEIR_URL: server.url });
    assert.deepEqual([noted.code, noted.stderr], [0, 'weir: this works on the store of this machine, not at WEIR_URL\n']);
  });
});
