/** Plain lists into a running weir with `weir send`, and out of it with `weir rule export`. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { command, commandJson, commandText, newKey, newTenant, type Tenant } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { postSignals } from '../support/http.ts';
import { eventually, KEY, MAIN, startWeir, testEnvironment, type Weir } from '../support/weir.ts';

const folder = temporaryFolder({ after });
const settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), BOOTSTRAP_API_KEY: KEY };

interface Rule {
  readonly rule_ref: string | null;
  readonly target: string;
  readonly action: string;
  readonly expires_at: string | null;
  readonly [field: string]: unknown;
}

suite('plain lists', () => {
  let weir: Weir;
  let workspaces = 0;
  before(async () => {
    weir = await startWeir(settings);
  });
  after(() => weir.kill('SIGKILL'));

  const tenant = () => {
    workspaces += 1;
    return newTenant(settings, { organization: 'default', workspace: `w${workspaces}` });
  };
  const rules = ({ workspaceId }: Tenant) => commandJson<Rule[]>(['rule', 'ls', '--workspace', workspaceId], settings);
  const targets = async (of: Tenant) => (await rules(of)).map(({ target }) => target).sort();
  const file = (name: string, content: string) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const send = ({ key }: Tenant, path: string, ...options: string[]) =>
    command(['send', path, '--url', weir.url, ...options], { ...settings, WEIR_API_KEY: key });
  const landed = (of: Tenant, expected: readonly string[]) =>
    eventually(async () => assert.deepEqual(await targets(of), [...expected].sort()));

  test('D11.1, D11.3 weir send: a text file; bad lines are told by their number, whoever finds them; the others land; exit 1', async () => {
    const of = await tenant();
    const lines = Array.from({ length: 1500 }, (_, n) => `10.1.${n >> 8}.${n & 255} # ${n}`);
    lines[3] = '10.0.0.999';
    lines[1200] = 'QQ';
    const path = file('ips.txt', `; made by hand\n\n${lines.join('\n')}\n`);
    const { code, stdout } = await send(
      of,
      path,
      '--expires-in',
      '7d',
      '--reason',
      'by hand',
      '--label',
      'source=test',
      '--label',
      'a=b',
      '--yes',
    );
    assert.equal(code, 1);
    assert.deepEqual(stdout.trimEnd().split('\n'), [
      'line 6: "10.0.0.999": an octet must be 0 to 255',
      'line 1203: Schema validation failed: rule.target.country: must be a valid ISO-3166 Alpha-2 code',
      '1498 signals processed, 2 failed',
    ]);
    const stored = await eventually(async () => {
      const found = await rules(of);
      assert.equal(found.length, 1498);
      return found;
    });
    for (const { reason, labels, expires_at } of stored) {
      assert.deepEqual([reason, labels], ['by hand', { source: 'test', a: 'b' }]);
      assert.ok(Math.abs(Date.parse(expires_at!) - Date.now() - 7 * 86_400_000) < 60_000);
    }
    const unblocked = await send(of, path, '--action', 'unblock');
    assert.equal(unblocked.code, 1);
    await landed(of, []);
  });

  test('D11.13 weir send: countries and ASNs of a list are sent with --yes only; else each is told, and what they would do to feeds', async () => {
    const of = await tenant();
    const path = file('wide.csv', 'network,asn,country\n192.0.2.0/24,64500,NL\n');
    assert.deepEqual((await send(of, path)).code, 0);
    const wide = file('wide.txt', '192.0.2.1\nNL\n');
    const { code, stdout, stderr } = await send(of, wide);
    assert.deepEqual(
      [code, stdout],
      [1, 'line 2: country NL consists of many networks and is sent only after confirmation\n1 signals processed, 1 failed\n'],
    );
    assert.match(stderr, /^weir: not sent: 1 country; to send them, add --yes$/m);
    assert.match(stderr, /^weir: with them: default \(block\): \d+ entr(y|ies) of 131072, \d+ more$/m);
    await landed(of, ['192.0.2.0/24', '192.0.2.1']);
    assert.equal((await send(of, wide, '--yes')).code, 0);
    await landed(of, ['192.0.2.0/24', '192.0.2.1', 'NL']);
  });

  test('D44.3, D44.5 weir send: networks that are more than half of the addresses of a list are sent with --yes only; the first list of all, and what the list has, are not asked about', async () => {
    const of = await tenant();
    const hosts = Array.from({ length: 50 }, (_, n) => `192.0.2.${n}`);
    const first = file('first.txt', [...hosts, '198.18.0.0/15', ...hosts.map((each) => each.replace('192', '198'))].join('\n'));
    // As often as it is sent: what the file itself brings is not what the list has.
    for (let n = 0; n < 2; n += 1) assert.equal((await send(of, first)).code, 0);
    const all = [...hosts, '198.18.0.0/15', ...hosts.map((each) => each.replace('192', '198'))];
    await landed(of, all);
    const wide = file('broad.txt', `203.0.113.1\n60.0.0.0/8\n${hosts.join('\n')}\n`);
    const { code, stdout, stderr } = await send(of, wide);
    assert.deepEqual([code, stdout], [1, 'line 2: 60.0.0.0/8 is sent only with --yes\n51 signals processed, 1 failed\n']);
    assert.match(
      stderr,
      /^weir: not sent: 1 network, with which it would block 16,908,388 IPv4 addresses instead of 131,17[12] \(16,777,216 added.*60\.0\.0\.0\/8\), more than 50 %; to send them, add --yes$/m,
    );
    await landed(of, [...all, '203.0.113.1']);
    const replacing = await send(of, file('all.txt', [...all, '203.0.113.1', '60.0.0.0/8'].join('\n')), '--replace');
    assert.equal(replacing.code, 2);
    assert.match(
      replacing.stderr,
      /0 would be removed, and 1 would be added; it would block 16,908,389 IPv4 addresses .*--yes; nothing was sent$/m,
    );
    const pipe = spawn(process.execPath, [MAIN, 'send', '-', '--url', weir.url], {
      env: testEnvironment({ WEIR_API_KEY: of.key }),
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    pipe.stdin.write('61.0.0.0/8\n198.18.0.0/16\n');
    await landed(of, [...all, '203.0.113.1']);
    pipe.stdin.end();
    assert.deepEqual(await once(pipe, 'exit'), [1, null]);
    assert.equal((await send(of, wide, '--yes')).code, 0);
    await landed(of, [...all, '203.0.113.1', '60.0.0.0/8']);
    assert.equal((await send(of, file('within.txt', '60.4.0.0/14\n'))).code, 0);
  });

  test('D11.3 weir send: what comes through a pipe is sent while the pipe stays open', async () => {
    const of = await tenant();
    const child = spawn(process.execPath, [MAIN, 'send', '-', '--url', weir.url], {
      env: testEnvironment({ WEIR_API_KEY: of.key }),
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.stdin.write('192.0.2.1\n');
    await landed(of, ['192.0.2.1']);
    child.stdin.write('192.0.2.2\n192.0.2.3');
    await landed(of, ['192.0.2.1', '192.0.2.2']);
    child.stdin.end();
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    await landed(of, ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
  });

  test('D41.17 weir send --column --skip: the column that has the targets, behind lines that are not read', async () => {
    const of = await tenant();
    const { code } = await send(of, file('report.csv', 'Report\n7,192.0.2.7,192.0.2.9\n'), '--column', '2', '--skip', '1');
    assert.equal(code, 0);
    await landed(of, ['192.0.2.7']);
  });

  test('D11.2 weir send: options of plain lists are refused for a file of signals, which is sent as it is', async () => {
    const of = await tenant();
    const path = file('signals', JSON.stringify([{ type: 'access_rules', action: 'block', ip: '192.0.2.1' }]));
    for (const options of [['--expires-in', '1h'], ['--reason', 'x'], ['--label', 'a=b'], ['--action', 'block'], ['--replace']]) {
      const { code, stderr } = await send(of, path, ...options);
      assert.equal(code, 2);
      assert.match(stderr, new RegExp(`^weir: ${options[0]} is for plain lists, and this file holds signals; nothing was sent$`, 'm'));
    }
    for (const [option, value, says] of [
      ['--label', 'x', /--label must be name=value/],
      ['--expires-in', 'soon', /--expires-in must be a number of seconds, or one with a unit/],
      ['--format', 'xml', /--format must be one of: text, csv, json, ndjson, stix, misp, suricata/],
    ] as const) {
      const { code, stderr } = await send(of, path, option, value);
      assert.equal(code, 2);
      assert.match(stderr, says);
    }
  });

  /** Every kind of rule that a list can hold: of the value, with a rule_ref, never-block, with a name. */
  const prepare = async (of: Tenant) => {
    const envelope = (ip: string, more: object = {}, rule: object = {}) => ({
      kind: 'access_rule',
      op: 'upsert',
      ...more,
      rule: { target: { ip }, ...rule },
    });
    const accepted = await postSignals(
      weir.url,
      of.key,
      [
        envelope('192.0.2.1', { expires_in: 86_400, reason: ' "quoted", with\r\na line break; ' }),
        envelope('192.0.2.2', { rule_ref: 'soc:1', labels: { a: { b: [1, 'ü'] } } }, { config: { severity: 'low', x: 1 } }),
        envelope('192.0.2.2', { expires_in: 3600 }),
        envelope('192.0.2.3', {}, { action: 'allow' }),
        { kind: 'access_rule', op: 'upsert', expires_in: 7200, rule: { target: { country: 'NL' } } },
        envelope('2001:db8::/33', { rule_ref: 'soc:2', expires_in: 3_155_000_000 }),
      ],
      '/v2/signal',
    );
    assert.equal(accepted.status, 200, accepted.text);
    const event = { type: 'access_rules', action: 'block', ip: '192.0.2.4', name: 'a, name', description: 'why' };
    assert.equal((await postSignals(weir.url, of.key, [event])).status, 200);
    await eventually(async () => assert.equal((await rules(of)).length, 7));
  };
  const exported = (of: Tenant, ...options: string[]) =>
    commandText(['rule', 'export', '--workspace', of.workspaceId, ...options], settings);

  for (const format of ['csv', 'json', 'ndjson'] as const) {
    test(`D11.5 weir rule export --format ${format}: what it writes, weir send makes into the same rules`, async () => {
      const [source, copy] = [await tenant(), await tenant()];
      await prepare(source);
      const path = file(`export-${format}`, await exported(source, '--format', format));
      const { code, stdout } = await send(copy, path, '--yes');
      assert.deepEqual([code, stdout], [0, '7 signals processed, 0 failed\n']);
      const told = async (of: Tenant) =>
        (await rules(of)).map(({ id: _, list_id: __, created_at: ___, updated_at: ____, expires_at: _____, ...rest }) => {
          const { batch_id: ______, key_id: _______, ...rule } = rest;
          return rule;
        });
      await eventually(async () => assert.deepEqual(await told(copy), await told(source)));
      const times = async (of: Tenant) => (await rules(of)).map(({ expires_at }) => (expires_at === null ? 0 : Date.parse(expires_at)));
      const [given, now] = [await times(source), await times(copy)];
      assert.deepEqual(now, given, 'the very instants');
    });
  }

  test('D10.18 weir send of never-block rules says which block feeds have their targets all the same, where its key may ask', async () => {
    const of = await tenant();
    await postSignals(weir.url, of.key, [{ type: 'access_rules', action: 'block', ip: '192.0.2.1' }]);
    await landed(of, ['192.0.2.1']);
    const path = file('never.txt', '192.0.2.1\n198.51.100.1\n');
    const may = ['signal:write', 'rules:write'].flatMap((permission) => ['--permission', permission]);
    const key = await newKey(settings, of.workspaceId, ...may);
    const { stderr } = await send({ ...of, key }, path, '--action', 'allow');
    assert.match(stderr, /^weir: 192\.0\.2\.1 is in the block feed "default" all the same; what takes it out: .*--subtract-allow on$/m);
    assert.doesNotMatch(stderr, /198\.51\.100\.1/);
    await postSignals(weir.url, of.key, [{ type: 'access_rules', action: 'block', ip: '192.0.2.0/30' }]);
    await landed(of, ['192.0.2.0/30', '192.0.2.1', '192.0.2.1', '198.51.100.1']);
    const unblock = file('unblock.json', JSON.stringify([{ type: 'access_rules', action: 'unblock', ip: '192.0.2.1' }]));
    const tried = await send({ ...of, key }, unblock, '--dry-run');
    assert.match(tried.stderr, /^weir: 192\.0\.2\.1 is in the block feed "default" all the same; what takes it out: no single step/m);
    assert.doesNotMatch((await send({ ...of, key }, unblock)).stderr, /all the same/);
    const sender = await newKey(settings, of.workspaceId, '--permission', 'signal:write');
    const quiet = await send({ ...of, key: sender }, path, '--action', 'allow');
    assert.deepEqual([quiet.code, /ask weir lookup 192\.0\.2\.1 /.test(quiet.stderr)], [0, true], quiet.stderr);
  });

  test('D11.5 weir rule export: text holds each blocked value once; --action allow the never-block list; --list one list', async () => {
    const of = await tenant();
    await prepare(of);
    assert.equal(await exported(of), '192.0.2.1\n192.0.2.2\nNL\n2001:db8::/33\n192.0.2.4\n');
    assert.equal(await exported(of, '--action', 'allow'), '192.0.2.3\n');
    await commandText(['list', 'create', 'other', '--workspace', of.workspaceId], settings);
    assert.equal(await exported(of, '--list', 'other', '--format', 'json'), '[\n]\n');
    assert.equal(
      await exported(of, '--list', 'default', '--format', 'json', '--action', 'allow'),
      '[\n {"value":"192.0.2.3","action":"allow"}\n]\n',
    );
  });

  test('D11.4 weir send --replace: the list has the rules of the file, what stays keeps what it has; rules with a rule_ref and never-block rules stay', async () => {
    const of = await tenant();
    await prepare(of);
    const before = (await rules(of)).find(({ target }) => target === '192.0.2.4')!;
    const path = file('replace.txt', '192.0.2.4\n198.51.100.1\n192.0.2.5\n');
    const refused = await send(of, path, '--replace', '--list', 'default');
    assert.equal(refused.code, 2);
    assert.match(
      refused.stderr,
      /of the 4 rules of the list "default" 3 would be removed, and 2 would be added: to change it all the same, add --yes; nothing was sent/,
    );
    const sent = await send(of, path, '--replace', '--list', 'default', '--yes');
    assert.equal(sent.code, 0, sent.stderr);
    assert.equal(sent.stdout, '3 signals processed, 0 failed\n');
    assert.match(sent.stderr, /^weir: removed from the list "default", because not in the file: 3 rules$/m);
    assert.match(sent.stderr, /^weir: 2 rules new, 0 changed or renewed, 1 as before$/m);
    assert.match(sent.stderr, /^weir: 2 rules with a rule_ref as before$/m);
    await landed(of, ['192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5', '198.51.100.1', '2001:db8::/33']);
    // Beside a rule_ref of the same value the other rule goes at once, and takes nothing with it.
    const [left, ...others] = (await rules(of)).filter(({ target }) => target === '192.0.2.2');
    assert.deepEqual([left.rule_ref, left.labels, others], ['soc:1', { a: { b: [1, 'ü'] } }, []]);
    assert.deepEqual(
      (await rules(of)).find(({ target }) => target === '192.0.2.4'),
      before,
    );
  });

  test('D11.4, D40.7 weir send --replace: a value that gets a rule_ref is not lost, and an export that is sent again changes nothing', async () => {
    const of = await tenant();
    assert.equal((await send(of, file('two.txt', '192.0.2.10\n192.0.2.11\n'), '--expires-in', '7d')).code, 0);
    await landed(of, ['192.0.2.10', '192.0.2.11']);
    const refs = await send(of, file('refs.csv', 'ip,rule_ref\n192.0.2.10,soc-1\n192.0.2.11,\n'), '--replace');
    assert.equal(refs.code, 0, refs.stderr);
    await landed(of, ['192.0.2.10', '192.0.2.11']);
    assert.deepEqual((await rules(of)).map(({ target, rule_ref }) => [target, rule_ref]).sort(), [
      ['192.0.2.10', 'soc-1'],
      ['192.0.2.11', null],
    ]);
    const before = await rules(of);
    const again = await send(of, file('again.csv', await exported(of, '--format', 'csv')), '--replace');
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stderr, /^weir: 0 rules new, 0 changed or renewed, 2 as before$/m);
    assert.deepEqual(await rules(of), before);
    // So many seconds in a file would be an instant.
    const far = await send(of, file('far.txt', '192.0.2.12\n'), '--replace', '--yes', '--expires-in', '20000d');
    assert.equal(far.code, 0, far.stderr);
    await landed(of, ['192.0.2.10', '192.0.2.12']);
    const { expires_at: end } = (await rules(of)).find(({ target }) => target === '192.0.2.12')!;
    assert.ok(Math.abs(Date.parse(String(end)) - Date.now() - 20_000 * 86_400_000) < 3_600_000, String(end));
  });

  test('D11.4 D42.8 weir send --replace: what would be removed and added is counted, not sizes; nothing goes when an entry failed; another machine may send it', async () => {
    const of = await tenant();
    const all = Array.from({ length: 10 }, (_, n) => `192.0.2.${n}`);
    const elsewhere = (path: string, ...options: string[]) =>
      command(['send', path, '--url', weir.url, '--replace', ...options], {
        ...settings,
        DATA_DIR: join(folder, 'none'),
        WEIR_API_KEY: of.key,
      });
    assert.equal((await elsewhere(file('all.txt', all.join('\n')))).code, 0);
    await landed(of, all);

    const few = file('few.txt', all.slice(0, 4).join('\n'));
    for (const path of [few, file('others.txt', all.map((each) => each.replace('192', '198')).join('\n'))]) {
      const refused = await elsewhere(path);
      assert.deepEqual([refused.code, refused.stdout], [2, '0 signals processed, 0 failed\n']);
      assert.match(
        refused.stderr,
        /of the 10 rules of the list "default" (6 would be removed, and 0|10 would be removed, and 10) would be added: .* --yes; nothing was sent/,
      );
    }
    await landed(of, all);

    const faulty = await send(of, file('faulty.txt', `${all.slice(0, 8).join('\n')}\n192.0.2.x\n198.51.100.1`), '--replace');
    assert.deepEqual(
      [faulty.code, faulty.stdout.split('\n')[0]],
      [1, 'line 9: "192.0.2.x": must be an address, a network, an AS number or a country'],
    );
    assert.match(faulty.stderr, /^weir: nothing was removed from the list, because entries of the file failed$/m);
    await landed(of, [...all, '198.51.100.1']);

    // What cannot be accepted is named before anybody has to be sure.
    const many = Array.from({ length: 140 }, (_, n) => `198.51.100.${n}`);
    const asked = await elsewhere(file('asked.txt', [...many, ...Array(23).fill('192.0.2.x')].join('\n')));
    assert.match(asked.stderr, /^weir: line 141: "192\.0\.2\.x": must be an address/m, 'D42.8');
    assert.match(
      asked.stderr,
      /^weir: line 160: .*\nweir: and 3 more entries that cannot be accepted\n(?:.*\n)*weir: of the 11 rules of the list .* --yes; nothing was sent$/m,
    );

    assert.equal((await send(of, few, '--replace', '--yes')).code, 0);
    await landed(of, all.slice(0, 4));
    // What undoes it is in the JSON, and all of its batches are told.
    const { replacement } = JSON.parse((await send(of, file('one.txt', '192.0.2.200'), '--replace', '--yes', '--json')).stdout) as {
      replacement: string;
    };
    const { stdout } = await command(['undo', replacement, '--workspace', of.workspaceId, '--yes'], settings);
    assert.match(stdout, /^\S+ is undone by \S+: removes 0 rules, restores 4\n(.*\n)*\S+ is undone by \S+: removes 1 rule, restores 0\n/);
    await landed(of, all.slice(0, 4));
    const unblock = await send(of, few, '--replace', '--action', 'unblock');
    assert.match(unblock.stderr, /unblock is not allowed; nothing was sent/);
  });

  test('D11.4 weir send --replace --refused: what guard rails refuse holds back every removal, or counts as absent', async () => {
    const of = await tenant();
    const set = (protect: string) => commandText(['workspace', 'set', of.workspaceId, '--protect', protect], settings);
    await send(of, file('before.txt', '10.1.1.1\n192.0.2.1\n192.0.2.2\n192.0.2.3\n192.0.2.4\n'));
    await landed(of, ['10.1.1.1', '192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4']);
    await set('private');
    const path = file('level1.netset', '# FireHOL\n10.0.0.0/8\n192.0.2.2\n192.0.2.3\n192.0.2.4\n192.0.2.5\n');
    // A process knows of changed guard rails within two seconds.
    const inside = file('inside.txt', '10.9.9.9\n');
    await eventually(async () => assert.equal((await send(of, inside, '--dry-run')).code, 1));
    const kept = await send(of, path, '--replace');
    assert.equal(kept.code, 1);
    assert.match(kept.stdout, /^line 2: 10\.0\.0\.0\/8 overlaps the protected network /);
    await landed(of, ['10.1.1.1', '192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5']);
    const skipped = await send(of, path, '--replace', '--refused', 'skip');
    assert.equal(skipped.code, 0, skipped.stdout);
    assert.match(skipped.stderr, /^weir: refused by guard rails, and counted as absent: 1 entry$/m);
    await landed(of, ['192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5']);
  });
});
