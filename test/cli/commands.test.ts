/** Every command of the command line beside a running server, for programs and for people (decisions, section 1). */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { largeSettingsJson, NO_LARGE_SETTINGS } from '../../src/account/large.ts';
import { ROLES } from '../../src/account/role.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { openSqliteStream } from '../../src/stream/sqlite/stream.ts';
import { command, commandJson, commandText } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { postSignals } from '../support/http.ts';
import { eventually, KEY, MAIN, PATIENT, startWeir, testEnvironment, type Weir, weir } from '../support/weir.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const NO_SETTINGS = {
  format: null,
  family: null,
  action: null,
  max_entries: null,
  confidence: null,
  severity: null,
  subtract_allow: null,
  canary_keys: null,
  canary_minutes: null,
  single_addresses: null,
  target: null,
  host_style: null,
  origins: null,
  widen_v4: null,
  widen_v6: null,
};

type Json = Record<string, unknown>;
const folder = temporaryFolder({ after });
const settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), BOOTSTRAP_API_KEY: KEY };

/** What a program reads: the command has to work and say nothing else. */
async function program<T = Json>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await command([...args, '--json'], settings);
  assert.deepEqual([code, stderr], [0, ''], args.join(' '));
  assert.equal(stdout.trimEnd().split('\n').length, 1, 'one line of JSON');
  return JSON.parse(stdout) as T;
}

/** What a person reads. */
async function person(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await command(args, settings);
  assert.deepEqual([code, stderr], [0, ''], args.join(' '));
  return stdout;
}

/** The rows of a table below its heading, cells apart by two blanks or more. */
const rows = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/ {2,}/));

suite('weir', () => {
  let server: Weir;
  const post = (entries: Json[], path = '/v2/signal') => postSignals(server.url, KEY, entries, path);

  before(async () => {
    server = await startWeir(settings);
  });
  after(() => server.kill('SIGKILL'));

  test('D1.7 weir org create, set, ls', async () => {
    const acme = await program('org', 'create', 'Acme, Inc.');
    assert.match(String(acme.id), UUID);
    assert.ok(Math.abs(Date.now() - Date.parse(String(acme.created_at))) < 60_000);
    assert.deepEqual(acme, { id: acme.id, name: 'Acme, Inc.', subscription: 'active', created_at: acme.created_at });
    assert.equal((await program('org', 'create', 'later', '--subscription', 'inactive')).subscription, 'inactive');
    assert.match(await person('org', 'create', 'Example'), /^organization Example [0-9a-f-]{36}\n$/);

    assert.deepEqual(await program('org', 'set', 'Acme, Inc.', '--subscription', 'inactive'), { ...acme, subscription: 'inactive' });
    assert.equal(await person('org', 'set', String(acme.id), '--subscription', 'active'), 'organization Acme, Inc.: subscription active\n');
    const listed = await program<Json[]>('org', 'ls');
    assert.deepEqual(
      listed.map(({ name, subscription }) => [name, subscription]),
      [
        ['default', 'active'],
        ['Acme, Inc.', 'active'],
        ['later', 'inactive'],
        ['Example', 'active'],
      ],
    );
    assert.deepEqual(listed[1], acme);
    assert.deepEqual(
      rows(await person('org', 'ls')),
      listed.map(({ id, name, subscription }) => [id, name, subscription]),
    );
  });

  test('D1.7 weir workspace create, ls; an organization by id or unique name', async () => {
    const [, acme] = await program<Json[]>('org', 'ls');
    const edge = await program('workspace', 'create', 'edge', '--org', 'Acme, Inc.');
    assert.match(String(edge.id), UUID);
    const unset = {
      protect: [],
      min_prefix_v4: 0,
      min_prefix_v6: 0,
      subtract_allow: 'off',
      people: [],
      ...largeSettingsJson(NO_LARGE_SETTINGS),
    };
    assert.deepEqual(edge, { id: edge.id, organization_id: acme.id, name: 'edge', created_at: edge.created_at, ...unset });
    assert.match(await person('workspace', 'create', 'twice', '--org', String(acme.id)), /^workspace twice [0-9a-f-]{36}\n$/);
    await program('workspace', 'create', 'twice', '--org', 'default');
    const listed = await program<Json[]>('workspace', 'ls');
    assert.deepEqual(
      listed.map(({ name }) => name),
      ['default', 'edge', 'twice', 'twice'],
    );
    assert.deepEqual(listed[1], { ...edge, organization: 'Acme, Inc.' });
    assert.deepEqual(
      rows(await person('workspace', 'ls')),
      listed.map(({ id, name, organization }) => [id, name, organization, '-', '0', '0', 'off', '-']),
    );

    const ambiguous = await command(['list', 'ls', '--workspace', 'twice'], settings);
    assert.equal(ambiguous.code, 2);
    assert.match(ambiguous.stderr, new RegExp(`^weir: 2 workspaces are called "twice"; use the id: ${listed[2].id}, ${listed[3].id}\n$`));
  });

  test('D1.7 weir list create, set, ls, delete', async () => {
    const plain = await program('list', 'create', 'plain list', '--workspace', 'edge');
    const [{ id: edge }] = (await program<Json[]>('workspace', 'ls')).filter(({ name }) => name === 'edge');
    assert.match(String(plain.id), UUID);
    assert.deepEqual(plain, {
      id: plain.id,
      workspace_id: edge,
      name: 'plain list',
      description: null,
      default: false,
      source_id: null,
      ...NO_SETTINGS,
      repeat: null,
    });

    const options = {
      '--description': 'what scans us',
      '--format': 'csv_indicator',
      '--family': 'v4',
      '--action': 'allow',
      '--max-entries': '4000000',
      '--confidence': 'low',
      '--severity': 'critical',
      '--subtract-allow': 'workspace',
      '--single-addresses': '256',
      '--target': 'pan-os',
      '--host-style': 'bare',
      '--origins': 'lists',
      '--widen-v4': '24',
      '--widen-v6': '56',
      '--repeat': 'x2 within 7d up to 14d',
      '--canary-keys': 'lab-1,lab-2',
      '--canary-minutes': '5',
    };
    const given = Object.entries(options).flat();
    const stored = {
      description: 'what scans us',
      format: 'csv_indicator',
      family: 'v4',
      action: 'allow',
      max_entries: 4_000_000,
      confidence: 'low',
      severity: 'critical',
      subtract_allow: 'workspace',
      single_addresses: 256,
      target: 'pan-os',
      host_style: 'bare',
      origins: 'lists',
      widen_v4: 24,
      widen_v6: 56,
      repeat: 'x2 within 7d up to 14d',
      canary_keys: 'lab-1,lab-2',
      canary_minutes: 5,
    };
    const full = await program('list', 'create', 'full', '--workspace', String(edge), ...given);
    assert.deepEqual(full, { id: full.id, workspace_id: edge, name: 'full', default: false, source_id: null, ...stored });
    assert.match(await person('list', 'create', 'text', '--workspace', 'edge', '--format', 'fortigate'), /^list text [0-9a-f-]{36}\n$/);

    const changed = await program('list', 'set', 'plain list', '--workspace', 'edge', '--max-entries', '1', '--description', 'new');
    assert.deepEqual(changed, { ...plain, max_entries: 1, description: 'new' });
    assert.equal(
      await person('list', 'set', String(plain.id), '--workspace', 'edge', '--severity', 'high'),
      `list plain list ${plain.id} is changed\n`,
    );

    const listed = await program<Json[]>('list', 'ls', '--workspace', 'edge');
    assert.deepEqual(
      listed.map(({ name, default: isDefault }) => [name, isDefault]),
      [
        ['default', true],
        ['plain list', false],
        ['full', false],
        ['text', false],
      ],
    );
    assert.deepEqual(
      [listed[1], listed[2], listed[3].format],
      [{ ...changed, severity: 'high', rules: 0 }, { ...full, rules: 0 }, 'plain'],
    );
    const shown = rows(await person('list', 'ls', '--workspace', 'edge'));
    assert.deepEqual(shown[2], [
      full.id,
      'full',
      '0',
      'no',
      'no',
      'csv_indicator',
      'v4',
      'allow',
      '4000000',
      'low',
      'critical',
      'workspace',
      '256',
      'pan-os',
      'bare',
      'lists',
      '24',
      '56',
      'x2 within 7d up to 14d',
      '5',
      'what scans us',
      'lab-1,lab-2',
    ]);

    const deleted = await program<Json>('list', 'delete', 'plain list', '--workspace', 'edge');
    assert.deepEqual([deleted.id, deleted.deleted, deleted.rules, deleted.needs_confirmation], [plain.id, true, 0, false]);
    assert.match(
      await person('list', 'delete', String(full.id), '--workspace', 'edge'),
      new RegExp(`^list full ${full.id} is deleted; weir list restore brings it back until \\S+Z\n$`),
    );
    assert.deepEqual(
      (await program<Json[]>('list', 'ls', '--workspace', 'edge')).map(({ name }) => name),
      ['default', 'text'],
    );
  });

  test('D8.1, D8.4, D8.6, D29.4, D29.6 weir feed create, set, show, ls, delete; keys of a feed', async () => {
    const inWorkspace = ['--workspace', 'feeds'];
    await program('workspace', 'create', 'feeds', '--org', 'default');
    const [a, b] = [await program('list', 'create', 'a', ...inWorkspace), await program('list', 'create', 'b', ...inWorkspace)];
    const options = ['--list', 'b', '--list', String(a.id), '--list', 'a', '--family', 'v6', '--description', 'a device'];
    const device = await program<Json>('feed', 'create', 'device', ...inWorkspace, ...options);
    const { id, workspace_id, ...made } = device;
    assert.match(String(id), UUID);
    assert.equal(workspace_id, a.workspace_id);
    const of = { name: 'device', description: 'a device', all_lists: false, lists: [b.id, a.id] };
    assert.deepEqual(made, { ...of, ...NO_SETTINGS, family: 'v6', min_sources: null, fit: null, always: [] });
    assert.match(await person('feed', 'create', 'every', ...inWorkspace, '--all-lists', '--format', 'txt'), /^feed every [0-9a-f-]{36}\n$/);

    const changed = await program('feed', 'set', 'device', ...inWorkspace, '--family', '', '--max-entries', '7');
    assert.deepEqual(changed, { ...device, family: null, max_entries: 7 });
    const agreeing = ['--lists', 'a,b', '--min-sources', '2', '--always', 'a'];
    const agreed = await program<Json>('feed', 'set', 'device', ...inWorkspace, ...agreeing);
    assert.deepEqual([agreed.lists, agreed.min_sources, agreed.always], [[a.id, b.id], 2, [a.id]]);
    const { members, size, left_out_text: left, ...shownFeed } = await program<Json>('feed', 'show', 'device', ...inWorkspace);
    assert.deepEqual([shownFeed, left, (size as Json).entries, (size as Json).entry_limit], [agreed, null, 0, 7]);
    assert.deepEqual(members, [
      { id: a.id, name: 'a', always: true, copies: [] },
      { id: b.id, name: 'b', always: false, copies: [] },
    ]);
    const told = await person('feed', 'show', 'device', ...inWorkspace);
    assert.match(told, /^min sources +2\n[\s\S]*^entries +0 of 7\nleft out +nothing\nlists +2\n[\s\S]*^a +yes +-\nb +- +-\n/m);
    await program('feed', 'set', 'device', ...inWorkspace, '--min-sources', '', '--always', '');
    assert.equal(await person('feed', 'set', String(id), ...inWorkspace, '--list', 'b'), `feed device ${id} is changed\n`);
    const listed = await program<Json[]>('feed', 'ls', ...inWorkspace);
    assert.deepEqual(
      listed.map(({ name, lists, all_lists, format }) => [name, lists, all_lists, format]),
      [
        ['device', [b.id], false, null],
        ['every', [], true, 'plain'],
      ],
    );
    const shown = rows(await person('feed', 'ls', ...inWorkspace));
    assert.deepEqual(
      [shown[0], shown[1][2]],
      [[id, 'device', 'b', '-', '-', '-', '-', '-', '-', '7', '-', '-', '-', '-', '-', '-', '-', '-', '-', '-', 'a device', '-'], 'all'],
    );

    const key = await program('key', 'create', ...inWorkspace, '--feed', 'device');
    assert.deepEqual([key.permissions, key.list_id, key.feed_id], [['feed:read'], null, id]);
    assert.match(await person('key', 'ls', ...inWorkspace), / feed:read +device /);
    const MISTAKES: [string, RegExp][] = [
      ['feed create x', /name the lists of the feed: --list, once for each list, or --all-lists/],
      ['feed create x --list a --all-lists', /give one of --list, --lists and --all-lists/],
      ['feed create x --list a --min-sources 2', /--min-sources exceeds the number of lists of the feed, 1/],
      ['feed create x --list a --always b', /--always names a list that is not part of the feed/],
      ['feed create x --list nowhere', /there is no list "nowhere"/],
      ['feed create a --all-lists', /the workspace has a list called "a"; lists and feeds share their names/],
      ['feed create device --all-lists', /the workspace has a feed called "device"/],
      ['list create device', /the workspace has a feed called "device"/],
      ['feed set nowhere --format plain', /there is no feed "nowhere"/],
      ['feed delete a', /there is no feed "a"/],
      ['key create --feed nowhere', /there is no feed "nowhere"/],
      ['key create --feed device --list a', /a key is bound to a list or to a feed, not to both/],
      ['key create --feed device --permission signal:write', /a key bound to a feed can only have feed:read/],
    ];
    for (const [words, sentence] of MISTAKES) {
      const { code, stderr } = await command([...words.split(' '), ...inWorkspace], settings);
      assert.equal(code, 2, words);
      assert.match(stderr, sentence);
    }

    const deleted = await program<Json>('feed', 'delete', 'device', '--yes', ...inWorkspace);
    assert.deepEqual([deleted.id, deleted.deleted, (deleted.keys as Json[]).length], [id, true, 1]);
    assert.deepEqual((await program<Json[]>('feed', 'ls', ...inWorkspace)).length, 1);
    assert.deepEqual((await program<Json[]>('list', 'ls', ...inWorkspace)).length, 3);
    assert.notEqual((await program<Json[]>('key', 'ls', ...inWorkspace))[0].revoked_at, null);
  });

  test('D1.7 D2.2 D24.1 D24.2 weir key create, set, ls, revoke', async () => {
    const [{ id: edge }] = (await program<Json[]>('workspace', 'ls')).filter(({ name }) => name === 'edge');
    const [, list] = await program<Json[]>('list', 'ls', '--workspace', 'edge');
    const key = await program('key', 'create', '--workspace', 'edge');
    assert.match(String(key.id), UUID);
    assert.deepEqual(key, {
      id: key.id,
      key: key.key,
      prefix: String(key.key).slice(0, 9),
      name: null,
      permissions: ['signal:write', 'feed:read'],
      role: null,
      workspace_id: edge,
      list_id: null,
      feed_id: null,
      from: [],
      created_at: key.created_at,
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
    });
    const began = Date.now();
    const options = [
      '--permission',
      'feed:read',
      '--permission',
      'feed:read',
      '--list',
      'text',
      '--name',
      'firewall 7',
      '--expires-in',
      '3600',
    ];
    const bound = await program('key', 'create', '--workspace', String(edge), ...options);
    assert.deepEqual([bound.permissions, bound.list_id, bound.name], [['feed:read'], list.id, 'firewall 7']);
    const expiry = Date.parse(String(bound.expires_at)) - 3_600_000;
    assert.ok(expiry >= began && expiry <= Date.now());
    const text = await person('key', 'create', '--workspace', 'edge');
    assert.match(text, /^key [0-9a-f-]{36}\nweir_[\w-]{43}\nThis is the only time that the key is shown\.\n$/);

    const listed = await program<Json[]>('key', 'ls', '--workspace', 'edge');
    const { key: _text, ...known } = key;
    assert.deepEqual(
      listed.find(({ id }) => id === key.id),
      { ...known, bound_to: null },
    );
    assert.equal(listed.length, 3);
    const shown = await person('key', 'ls', '--workspace', 'edge');
    assert.ok(shown.includes(String(key.prefix)) && !shown.includes(String(key.key)) && shown.includes('firewall 7'));

    const operator = await program('key', 'create', '--workspace', 'edge', '--role', 'operator');
    assert.deepEqual([operator.role, operator.permissions], ['operator', ROLES.operator], 'D24.1');
    assert.match(await person('key', 'ls', '--workspace', 'edge'), / operator +feed:read rules:read config:read signal:write rules:write /);
    const site = ['--from', '10.1.2.3/8', '--from', '2001:DB8::/32', '--from', '10.0.0.0/8'];
    const near = await program('key', 'create', '--workspace', 'edge', '--name', 'near', ...site);
    assert.deepEqual(near.from, ['10.0.0.0/8', '2001:db8::/32'], 'D24.2');
    assert.match(await person('key', 'ls', '--workspace', 'edge'), / 10\.0\.0\.0\/8 2001:db8::\/32 /);
    assert.deepEqual((await program('key', 'set', 'near', '--workspace', 'edge', '--from', 'any', '--name', 'far')).from, []);
    assert.equal(await person('key', 'set', String(near.id), '--from', '192.0.2.1'), `key far ${near.id} is changed\n`);
    for (const [args, fault] of [
      [['--from', 'here'], /^weir: --from must be an address or a network, such as 10\.0\.0\.0\/8, not "here"\n$/],
      [[], /^weir: name what to set; weir key set --help lists it\n$/],
    ] as const) {
      const { code, stderr } = await command(['key', 'set', String(near.id), ...args], settings);
      assert.equal(code, 2);
      assert.match(stderr, fault);
    }
    await program('key', 'revoke', String(near.id));
    const both = await command(['key', 'create', '--workspace', 'edge', '--role', 'viewer', '--permission', 'manage'], settings);
    assert.deepEqual([both.code, both.stderr], [2, 'weir: give either role or permissions\n']);

    assert.deepEqual(await program('key', 'revoke', String(key.id)), { id: key.id, name: key.name, revoked: true });
    assert.match(await person('key', 'revoke', String(bound.id)), new RegExp(`^key .*${bound.id} is revoked\\n$`));
    const revoked = (await program<Json[]>('key', 'ls', '--workspace', 'edge')).filter(({ revoked_at }) => revoked_at !== null);
    assert.deepEqual(revoked.map(({ id }) => id).sort(), [key.id, bound.id, near.id].sort());
  });

  test('D1.7, D1.15 weir rule ls: every kind, one list, one rule a line', async () => {
    const waf = {
      type: 'custom',
      expression: 'http.request.method eq "PUT"',
      action: 'challenge',
      name: 'no puts',
      order: 7,
      phase: 'request',
    };
    const answer = await post([
      {
        kind: 'access_rule',
        op: 'upsert',
        rule_ref: 'a-1',
        reason: 'scans',
        labels: { team: 'soc' },
        rule: { target: { ip: '192.0.2.7' }, config: { confidence: 'low' } },
      },
      { kind: 'access_rule', op: 'upsert', expires_in: 3600, rule: { action: 'allow', target: { country: 'de' } } },
      { kind: 'waf_rule', op: 'upsert', rule_ref: 'w-1', rule: waf },
      {
        kind: 'smart_firewall_rule',
        op: 'upsert',
        rule_ref: 's-1',
        rule: { type: 'generated', expression: 'ip.src eq 192.0.2.9', action: 'block' },
      },
    ]);
    assert.equal(answer.status, 200);
    await program('list', 'create', 'second', '--workspace', 'default');
    await post([{ kind: 'access_rule', op: 'upsert', rule: { target: { asn: 'AS64500' } } }], '/v2/signal?list=second');
    const lines = async (...args: string[]) => {
      const { stdout } = await command(['rule', 'ls', '--workspace', 'default', ...args, '--json'], settings);
      return JSON.parse(stdout) as Json[];
    };
    const access = await eventually(async () => {
      const found = await lines();
      assert.equal(found.length, 3);
      return found;
    });
    const [{ list_id: listId, created_at: at, expires_at: expiry, batch_id: batch, key_id: keyId }] = access;
    assert.equal(Date.parse(String(expiry)), Math.ceil((Date.parse(String(at)) + 86_400_000) / 1000) * 1000, 'one day');
    assert.deepEqual(access[0], {
      id: access[0].id,
      kind: 'access_rule',
      rule_ref: 'a-1',
      name: null,
      list_id: listId,
      target: '192.0.2.7',
      action: 'block',
      confidence: 'low',
      severity: null,
      reason: 'scans',
      labels: { team: 'soc' },
      config: { confidence: 'low' },
      expires_at: expiry,
      created_at: at,
      updated_at: at,
      batch_id: batch,
      key_id: keyId,
    });
    assert.match(`${batch} ${keyId}`, /^[0-9a-f-]{33}000 [0-9a-f-]{36}$/);
    assert.deepEqual([access[1].target, access[1].action, access[2].target], ['DE', 'allow', 'AS64500']);
    assert.deepEqual(
      (await lines('--list', 'second')).map(({ target }) => target),
      ['AS64500'],
    );
    const [wafRule, ...noMore] = await lines('--kind', 'waf_rule');
    assert.deepEqual(noMore, []);
    const { name, type, expression, action, order, config, rule_ref: ref, expires_at: expires } = wafRule;
    assert.deepEqual(
      { name, type, expression, action, order, config, ref, expires },
      {
        name: 'no puts',
        type: 'custom',
        expression: waf.expression,
        action: 'challenge',
        order: 7,
        config: { phase: 'request' },
        ref: 'w-1',
        expires: null,
      },
    );
    assert.deepEqual(
      (await lines('--kind', 'smart_firewall_rule')).map(({ rule_ref }) => rule_ref),
      ['s-1'],
    );

    const rows = async (...args: string[]) =>
      (await person('rule', 'ls', '--workspace', 'default', ...args))
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ {2,}/));
    const from = ['bootstrap', batch];
    assert.deepEqual(await rows(), [
      ['ACTION', 'TARGET', 'LIST', 'UNTIL', 'REF', 'NAME', 'KEY', 'BATCH', 'REASON'],
      ['block', '192.0.2.7', 'default', expiry, 'a-1', '-', ...from, 'scans'],
      ['allow', 'DE', 'default', access[1].expires_at, '-', '-', ...from, '-'],
      ['block', 'AS64500', 'second', access[2].expires_at, '-', '-', 'bootstrap', access[2].batch_id, '-'],
    ]);
    assert.deepEqual(await rows('--kind', 'waf_rule'), [
      ['ACTION', 'TYPE', 'UNTIL', 'REF', 'NAME', 'KEY', 'BATCH', 'REASON', 'EXPRESSION'],
      ['challenge', 'custom', '-', 'w-1', 'no puts', ...from, '-', waf.expression],
    ]);
    assert.equal(await person('rule', 'ls', '--workspace', 'edge'), '');

    // D1.15
    const ndjson = await person('rule', 'ls', '--workspace', 'default', '--ndjson');
    assert.deepEqual(
      ndjson
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
      access,
    );
    assert.equal(await person('rule', 'ls', '--workspace', 'edge', '--ndjson'), '');
    assert.deepEqual(await program('rule', 'ls', '--workspace', 'edge'), []);
  });

  test('D1.7 weir rule ls ends quietly when nobody reads on', async () => {
    const address = (n: number) => `10.0.${n >> 8}.${n & 255}`;
    for (const from of [0, 1000, 2000]) {
      await post(
        Array.from({ length: 1000 }, (_, n) => ({ kind: 'access_rule', op: 'upsert', rule: { target: { ip: address(from + n) } } })),
      );
    }
    await eventually(async () => assert.equal((await person('rule', 'ls', '--workspace', 'default')).split('\n').length, 3005));
    const script = `"$NODE" "$MAIN" rule ls --workspace default --json 2>"$ERR" | head -1; cat "$ERR"`;
    const env = { ...testEnvironment(settings), NODE: process.execPath, MAIN, ERR: join(folder, 'stderr') };
    const { stdout } = await promisify(execFile)('sh', ['-c', script], { env });
    assert.equal(stdout.split('\n').length, 2, stdout);
  });

  suite('weir dead-letter', () => {
    const stamp = '2026-01-02T03:04:05.678Z';
    const event = (ip: string) => JSON.stringify({ type: 'access_rules', action: 'block', ip });
    let workspace: string;
    before(async () => {
      workspace = String((await program<Json[]>('workspace', 'ls'))[0].id);
      const stream = openSqliteStream(settings.DATA_DIR);
      await stream.publish([
        { key: workspace, headers: { workspace_id: workspace, schema_version: '3' }, value: event('192.0.2.101') },
        { key: workspace, headers: { workspace_id: workspace, schema_version: '3', received_at: stamp }, value: event('192.0.2.102') },
        { key: workspace, headers: { workspace_id: workspace }, value: '{"type":' },
        { key: 'nobody', headers: { workspace_id: '00000000-0000-4000-8000-000000000000' }, value: event('192.0.2.104') },
        { key: workspace, headers: { workspace_id: workspace }, value: event('192.0.2.105') },
      ]);
      await stream.close();
    });
    const letters = () => program<(Json & { id: number; headers: Json })[]>('dead-letter', 'ls');

    test('D4.6, D1.7 weir dead-letter ls: what could not be landed, with the reason; it blocks nothing', async () => {
      const listed = await eventually(async () => {
        const found = await letters();
        assert.equal(found.length, 4);
        return found;
      });
      for (const [i, reason] of [/schema_version.*3/, /schema_version.*3/, /JSON/, /unknown workspace 00000000-/].entries())
        assert.match(String(listed[i].reason), reason);
      const [{ id, at, stream_id: stream, timestamp }, , broken] = listed;
      assert.match(String(stream), UUID);
      assert.deepEqual(listed[0], {
        id,
        at,
        reason: listed[0].reason,
        stream_id: stream,
        partition: 0,
        offset: listed[0].offset,
        timestamp,
        key: workspace,
        headers: { workspace_id: workspace, schema_version: '3' },
        value: event('192.0.2.101'),
      });
      assert.equal(broken.value, '{"type":');
      const shown = rows(await person('dead-letter', 'ls'));
      assert.deepEqual(
        shown.map(([number, , reason]) => [Number(number), reason]),
        listed.map((letter) => [letter.id, letter.reason]),
      );
      await eventually(async () =>
        assert.match(await person('rule', 'ls', '--workspace', 'default'), /192\.0\.2\.105/, 'what came after them has landed'),
      );
    });

    test('D4.6, D1.7 weir dead-letter replay: to the end of the stream, as received at their first time', async () => {
      const [first, second] = await letters();
      // What a later weir does that knows the version.
      const db = new DatabaseSync(join(settings.DATA_DIR, 'weir.db'), PATIENT);
      db.prepare("UPDATE dead_letters SET headers = json_remove(headers, '$.schema_version') WHERE id = ?").run(first.id);
      db.close();
      assert.deepEqual(await program('dead-letter', 'replay', String(first.id), String(second.id), String(second.id)), [
        { id: first.id, replayed: true },
        { id: second.id, replayed: true },
      ]);
      const rule = await eventually(async () => {
        const { stdout } = await command(['rule', 'ls', '--workspace', 'default', '--json'], settings);
        const found = (JSON.parse(stdout) as Json[]).find(({ target }) => target === '192.0.2.101');
        assert.ok(found);
        return found;
      });
      assert.equal(rule.created_at, first.timestamp, 'expiry counts from the first acceptance');
      const again = await eventually(async () => {
        const found = (await letters()).filter(({ value }) => value === event('192.0.2.102'));
        assert.equal(found.length, 1);
        assert.notEqual(found[0].id, second.id);
        return found[0];
      });
      assert.equal(again.headers.received_at, stamp);
      assert.ok(Number(again.offset) > Number(second.offset));
      assert.equal(await person('dead-letter', 'replay', String(again.id)), '1 replayed\n');
    });

    test('D4.6, D1.7 weir dead-letter drop: all that are named, or none', async () => {
      const before = await eventually(async () => {
        const found = await letters();
        assert.equal(found.length, 3);
        return found;
      });
      for (const verb of ['drop', 'replay']) {
        const { code, stdout, stderr } = await command(['dead-letter', verb, String(before[0].id), '999999'], settings);
        assert.deepEqual([code, stdout, stderr], [2, '', 'weir: there is no dead letter "999999"\n']);
      }
      assert.deepEqual(await letters(), before);
      assert.deepEqual(await program('dead-letter', 'drop', String(before[0].id)), [{ id: before[0].id, dropped: true }]);
      assert.equal(await person('dead-letter', 'drop', String(before[1].id), String(before[2].id)), '2 dropped\n');
      assert.deepEqual(await letters(), []);
    });
  });

  test('D1.7 weir migrate, also on a data folder that is not there yet, which is made for its owner only', async () => {
    const { store, weir: known, ...migrated } = await program('migrate');
    assert.deepEqual([migrated, store], [{ up_to_date: true, missing: [], newer: [] }, known]);
    assert.equal(await person('migrate'), `the schema of the store is up to date: ${known}\n`);
    const empty = join(folder, 'new', 'data');
    assert.equal((await command(['migrate'], { ...settings, DATA_DIR: empty })).code, 0);
    assert.ok(existsSync(join(empty, 'weir.db')));
    assert.equal(statSync(empty).mode & 0o777, 0o700);
  });

  test('D1.7 weir geo status: the data in use, of the operator or packaged, and their age; the folder is made for its owner only', async () => {
    const own = await program<Record<'country' | 'asn', Json>>('geo', 'status');
    assert.deepEqual([own.country.source, own.country.keys, own.asn.ranges_v4, own.country.age_days], [settings.GEO_COUNTRY_FILE, 1, 1, 0]);
    const DATA_DIR = join(folder, 'geo', 'data');
    const packaged = await command(['geo', 'status'], { DATA_DIR });
    assert.equal(packaged.code, 0, packaged.stderr);
    assert.match(
      packaged.stdout,
      /^country: packaged \(.*\), data of 2026-06-17, \d+ days old\n.*\n.*CC BY 4\.0.*\nasn: packaged .*, data of 2026-06-17, \d+ days old\n.*\n.*CC BY 4\.0.*\n$/,
    );
    if (existsSync(DATA_DIR)) assert.equal(statSync(DATA_DIR).mode & 0o777, 0o700);
  });

  test('D4.5, D1.7 weir stream adopt refuses while landing continues with the stream that is here', async () => {
    const { code, stdout, stderr } = await command(['stream', 'adopt'], settings);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^weir: landing continues with the stream [0-9a-f-]{36} as it is: there is nothing to adopt\n$/);
  });
});

test('D1.7 --help of every command goes to standard output, exit 0', async () => {
  const help = async (...args: string[]) => {
    const { code, stdout, stderr } = await command([...args, '--help'], settings);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^Usage: weir/);
    return stdout;
  };
  const LIST_OPTIONS = [
    '--workspace',
    '--description',
    '--format',
    '--family',
    '--action',
    '--max-entries',
    '--confidence',
    '--severity',
    '--subtract-allow',
  ];
  const COMMANDS: Record<string, string[]> = {
    serve: ['--json'],
    migrate: ['--json'],
    'geo status': ['--json'],
    'org create': ['--subscription'],
    'org set': ['--subscription'],
    'org ls': ['--json'],
    'workspace create': ['--org'],
    'workspace set': ['--protect', '--min-prefix-v4', '--min-prefix-v6', '--subtract-allow'],
    'workspace ls': ['--json'],
    'key create': ['--workspace', '--permission', '--role', '--list', '--feed', '--name', '--expires-in'],
    'key set': ['--workspace', '--name', '--from'],
    'key ls': ['--workspace'],
    'key revoke': ['--yes'],
    'device ls': ['--workspace', '--key'],
    history: ['--workspace', '--days'],
    'list create': LIST_OPTIONS,
    'list set': LIST_OPTIONS,
    'list ls': ['--workspace'],
    'list delete': ['--workspace', '--yes', '--for-good'],
    'list restore': ['--workspace', '--name'],
    'list deleted': ['--workspace'],
    'feed create': ['--workspace', '--list', '--all-lists', '--description', '--format', '--family', '--action', '--max-entries'],
    'feed set': ['--workspace', '--list', '--all-lists', '--confidence', '--severity'],
    'feed ls': ['--workspace'],
    'feed show': ['--workspace'],
    'feed delete': ['--workspace', '--yes', '--for-good'],
    'feed restore': ['--workspace', '--name'],
    'feed deleted': ['--workspace'],
    'rule ls': ['--workspace', '--list', '--kind', '--address', '--match', '--limit', '--after', '--ndjson'],
    lookup: ['--workspace', '--feed', '--list', '--action', '--at', '--no-entries'],
    'dead-letter ls': ['--json'],
    'dead-letter replay': ['--json'],
    'dead-letter drop': ['--json'],
    send: ['--url', '--key'],
  };
  for (const [words, options] of Object.entries(COMMANDS)) {
    const text = await help(...words.split(' '));
    for (const option of [...options, '--json']) assert.ok(text.includes(option), `${words} ${option}`);
  }
  const root = await help();
  for (const words of Object.keys(COMMANDS)) assert.ok(root.includes(`  ${words.split(' ')[0]}`), words);
  assert.equal((await weir(['--help'], settings)).stdout, root);
});

test('D26.1 weir --version prints the version and the commit', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const built = await command(['--version'], { ...settings, WEIR_COMMIT: '0123456789ab' });
  assert.deepEqual(built, { code: 0, stdout: `${version} (0123456789ab)\n`, stderr: '' });
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const git = spawnSync('git', ['-C', root, 'rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' });
  const clone = git.status === 0 ? `${version} (${git.stdout.trim()})` : version;
  assert.equal((await command(['--version'], settings)).stdout, `${clone}\n`);
});

test('D1.16 weir help and groups of commands', async () => {
  const help = await command(['--help'], settings);
  assert.deepEqual(await command(['help'], settings), help);
  for (const group of ['org', 'workspace', 'key', 'list', 'feed', 'rule', 'dead-letter', 'stream', 'geo', 'expression']) {
    assert.match(help.stdout, new RegExp(`^  ${group}  +\\w`, 'm'));
    const { code, stdout } = await command(['help', group], settings);
    assert.equal(code, 0);
    assert.deepEqual(await command([group], settings), { code: 2, stdout: '', stderr: stdout });
  }
  assert.match(
    (await command(['key'], settings)).stderr,
    /^Usage: weir key .*\n(.*\n)* {2}create .*\n {2}set .*\n(.*\n)? {2}ls .*\n {2}revoke /,
  );
  assert.deepEqual(await command(['key', 'help', 'ls'], settings), await command(['key', 'ls', '--help'], settings));
});

test('D1.15 a list that cannot be read to its end has no end, its reason on standard error and another exit code than 0', async (t) => {
  const DATA_DIR = temporaryFolder(t);
  const store = await openSqliteStore(DATA_DIR);
  const { id: organization } = await store.createOrganization('o', 'active');
  const { id: workspaceId } = await store.createWorkspace(organization, 'w');
  const rule = { name: null, reason: null, labels: null, config: null, expiresAt: null, order: null, shortDescription: null };
  const items = Array.from({ length: 1002 }, (_, offset) => ({
    record: { offset, timestamp: 1, key: workspaceId, headers: {}, value: '' },
    workspaceId,
    listId: null,
    receivedAt: 1,
    batchId: null,
    keyId: null,
    change: {
      change: 'upsert',
      kind: 'waf_rule',
      rule: { ...rule, ruleRef: `r-${offset}`, order: offset, type: 'custom', expression: 'x', action: 'block' },
    } as const,
  }));
  await store.apply({ streamId: 's', partition: 0, from: null, to: 1002, items, poison: [], now: 1 });
  await store.close();
  const db = new DatabaseSync(join(DATA_DIR, 'weir.db'));
  db.exec("UPDATE waf_rules SET labels = '{' WHERE rule_ref = 'r-1001'");
  db.close();
  const { code, stdout, stderr } = await weir(['rule', 'ls', '--workspace', 'w', '--kind', 'waf_rule', '--json'], { DATA_DIR });
  assert.equal(code, 1);
  assert.match(stdout, /^\[\{"id":.*"rule_ref":"r-0".*\}\n/);
  assert.match(stdout, /\n,\{.*"rule_ref":"r-999".*\}\n$/);
  assert.match(stderr, /^weir: the list is cut after 1000 rules: .+\n$/);
});

test('D42.11 --workspace is optional where there is one workspace, or WEIR_WORKSPACE names one', async (t) => {
  const own = { ...settings, DATA_DIR: join(temporaryFolder(t), 'data'), BOOTSTRAP_API_KEY: '' };
  await command(['org', 'create', 'o'], own);
  await command(['workspace', 'create', 'w', '--org', 'o'], own);
  const { id } = await commandJson<{ id: string }>(['key', 'create', '--name', 'k'], own);
  await commandText(['list', 'create', 'edge'], own);
  const lines: [string, string][] = [
    ['list ls', 'edge'],
    ['key ls', 'k'],
    ['key set k --name fw', id],
    ['rule ls --json', '[]'],
    ['lookup 192.0.2.1 --no-entries', 'list edge'],
    ['export', '"edge"'],
    ['feed create f --all-lists', 'f'],
    ['feed diff f --since 0s', 'networks more'],
    ['key revoke fw --yes', 'is revoked'],
  ];
  for (const [line, says] of lines) {
    const { code, stdout, stderr } = await command(line.split(' '), own);
    assert.equal(code, 0, `${line}: ${stderr}`);
    assert.ok(stdout.includes(says), `${line}: ${stdout}`);
  }
  await command(['workspace', 'create', 'w2', '--org', 'o'], own);
  const names = async (environment: Record<string, string>, ...options: string[]) =>
    (await commandJson<{ name: string }[]>(['list', 'ls', ...options], { ...own, ...environment })).map(({ name }) => name);
  assert.deepEqual(await names({ WEIR_WORKSPACE: 'w' }), ['default', 'edge']);
  assert.deepEqual(await names({ WEIR_WORKSPACE: 'w' }, '--workspace', 'w2'), ['default'], 'the option counts more');
  for (const [environment, says] of [
    [{}, /^weir: there are 2 workspaces: name one with --workspace, or in WEIR_WORKSPACE\n$/],
    [{ WEIR_WORKSPACE: '' }, /^weir: there are 2 workspaces/],
    [{ WEIR_WORKSPACE: 'nowhere' }, /^weir: there is no workspace "nowhere"\n$/],
  ] as const) {
    const { code, stderr } = await command(['list', 'ls'], { ...own, ...environment });
    assert.equal(code, 2);
    assert.match(stderr, says);
  }
});

test('D1.7 a mistake at the command line: one readable sentence on standard error, exit 2, no stack trace', async (t) => {
  const own = { ...settings, DATA_DIR: join(temporaryFolder(t), 'data'), BOOTSTRAP_API_KEY: '' };
  await command(['org', 'create', 'o'], own);
  assert.match(
    (await command(['list', 'ls'], own)).stderr,
    /^weir: there are 0 workspaces: name one with --workspace, or in WEIR_WORKSPACE\n$/,
  );
  await command(['workspace', 'create', 'w', '--org', 'o'], own);
  await command(['workspace', 'create', 'w2', '--org', 'o'], own);
  const MISTAKES: [string, RegExp][] = [
    ['', /name a command; weir --help lists them/],
    ['bake', /unknown command 'bake'/],
    ['key bake', /unknown command 'bake'/],
    ['kez ls', /unknown command 'kez'.*key/],
    ['org create', /missing required argument 'name'/],
    ['org ls more', /too many arguments/],
    ['org ls --colour', /unknown option '--colour'/],
    ['org set o', /--subscription/],
    ['org set o --subscription paid', /--subscription must be one of: active, inactive/],
    ['org set nobody --subscription active', /there is no organization "nobody"/],
    ['workspace create x', /--org/],
    ['workspace create x --org nobody', /there is no organization "nobody"/],
    ['key create', /--workspace/],
    ['key create --workspace nowhere', /there is no workspace "nowhere"/],
    ['key create --workspace w --permission all', /--permission must be one of: signal:write, feed:read, manage/],
    ['key create --workspace w --list nowhere', /there is no list "nowhere"/],
    ['key create --workspace w --list default --permission manage', /bound to a list cannot have manage/],
    ['key create --workspace w --expires-in 0', /--expires-in must be a whole number from 1 to 3155760000, not "0"/],
    ['key create --workspace w --expires-in soon', /--expires-in must be a whole number/],
    ['key create --workspace w --expires-in 5300w', /--expires-in must be a whole number from 1 to 3155760000, not "5300w"/],
    ['history --workspace w --days 36h', /--days must be a whole number from 1 to 366, not "36h": days, or with a unit/],
    ['key revoke 7', /there is no key "7"/],
    ['list create --workspace w', /missing required argument 'name'/],
    ['list create l --workspace w --format xml', /--format must be one of: plain, commented, csv_indicator, set_elements/],
    ['list create l --workspace w --format PLAIN', /--format must be one of/],
    ['list create l --workspace w --family v5', /--family must be one of: v4, v6, both/],
    ['list create l --workspace w --widen-v6 64.5', /--widen-v6 must be one of: 64, 56, 48, not "64\.5"/],
    ['lookup 192.0.2.1 --workspace w --at yesterday', /--at must be an instant such as/],
    ['list create l --workspace w --action drop', /--action must be one of: block, allow/],
    ['list create l --workspace w --max-entries 0', /--max-entries must be a whole number from 1 to 4000000/],
    ['list create l --workspace w --max-entries 4000001', /--max-entries must be a whole number/],
    ['list create l --workspace w --max-entries 1e3', /--max-entries must be a whole number/],
    ['list create l --workspace w --confidence sure', /--confidence must be one of: low, medium, high, critical/],
    ['list create l --workspace w --severity 5', /--severity must be one of: low, medium, high, critical/],
    ['list set nowhere --workspace w --format plain', /there is no list "nowhere"/],
    ['list set default --workspace w', /^weir: name what to set; weir list set --help lists it$/m],
    ['feed create f --workspace w', /--list, once for each list, or --all-lists/],
    ['list ls', /--workspace/],
    ['list delete nowhere --workspace w', /there is no list "nowhere"/],
    ['list delete default --workspace w', /default list/],
    ['rule ls --workspace w --kind rule', /--kind must be one of: access_rule, waf_rule, smart_firewall_rule/],
    ['rule ls --workspace w --list nowhere', /there is no list "nowhere"/],
    ['dead-letter replay', /missing required argument 'id'/],
    ['dead-letter replay 7', /there is no dead letter "7"/],
    ['dead-letter drop seven', /there is no dead letter "seven"/],
  ];
  for (const [line, says] of MISTAKES) {
    const { code, stdout, stderr } = await command(line.split(' ').filter(Boolean), own);
    assert.deepEqual([code, stdout], [2, ''], line);
    assert.match(stderr, /^weir: [^\n]*\n$/, line);
    assert.match(stderr, says, line);
  }
  // As a process the same.
  for (const line of ['', 'bake', 'list delete default --workspace w']) {
    const [, says] = MISTAKES.find(([each]) => each === line)!;
    const { code, stdout, stderr } = await weir(line.split(' ').filter(Boolean), own);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^weir: [^\n]*\n$/);
    assert.match(stderr, says);
  }
});
