/** weir-follow against a running weir and real packet filters, in network namespaces of its own. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { commandText, newKey } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, freePort, getFeed, postSignals } from '../support/http.ts';
import { locate, needs } from '../support/programs.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLLOW = join(ROOT, 'integrations/weir-follow');
const GOLDEN = join(ROOT, 'test/integrations/follow_golden.py');
const BIG = { maxBuffer: 1 << 28 };
const UNTIL = 60_000;
/** python3 of the machine first. */
const PYTHONS = ['python3', ...globSync(join(process.env.PYENV_ROOT ?? `${process.env.HOME}/.pyenv`, 'versions/3.{9,13}.*/bin/python3'))];
const SKIP = process.getuid?.() === 0 ? needs('ip', 'nft', 'ipset', 'unshare', 'python3') : 'needs root';

suite('weir-follow', { skip: SKIP }, () => {
  const folder = temporaryFolder({ after });
  const open: (() => unknown)[] = [];
  let settings: Record<string, string>;
  let weir: Weir;
  let near: string;
  let spaces = 0;
  before(async () => {
    const PORT = String(await freePort());
    const own = { HOST: '0.0.0.0', PORT, FEED_REBUILD_SECONDS: '0', DRAIN_SECONDS: '0', RATE_LIMIT_FEEDS: '0' };
    settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), BOOTSTRAP_API_KEY: KEY, ...own };
    weir = await startWeir(settings);
  });
  after(async () => {
    for (const close of open.reverse()) await close();
    await weir.kill('SIGKILL');
  });

  const base = () => `http://127.0.0.1:${settings.PORT}`;
  const makeList = (name: string, ...options: string[]) =>
    commandText(['list', 'create', name, '--workspace', 'default', ...options], settings);
  const post = async (list: string, action: string, targets: readonly string[], expiration = 3600) => {
    const entries = targets.map((ip) => ({ type: 'access_rules', action, ip, expiration }));
    for (let at = 0; at < entries.length; at += 1000) {
      const { status, text } = await postSignals(base(), KEY, entries.slice(at, at + 1000), `/v1/signal?list=${list}`);
      assert.equal(status, 200, text);
    }
  };
  /** Lines of the plain format, which has prefixes. */
  const feed = async (list: string) => (await getFeed(base(), KEY, `/${list}?format=plain`)).text.split('\n').filter(Boolean);

  /** A namespace that reaches weir. */
  async function namespace() {
    spaces += 1;
    const name = `wf${process.pid}-${spaces}`;
    const [here, there] = [`wfa${process.pid % 100_000}${spaces}`, `wfb${process.pid % 100_000}${spaces}`];
    near = `10.204.${process.pid % 250}.${4 * spaces + 1}`;
    const ip = (...args: string[]) => run('ip', args);
    await ip('netns', 'add', name);
    open.push(() => ip('netns', 'del', name));
    await ip('link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', name);
    await ip('addr', 'add', `${near}/30`, 'dev', here);
    await ip('link', 'set', here, 'up');
    await ip('-n', name, 'addr', 'add', `${near.replace(/\d+$/, String(4 * spaces + 2))}/30`, 'dev', there);
    await ip('-n', name, 'link', 'set', there, 'up');
    return {
      name,
      url: `http://${near}:${settings.PORT}`,
      within: (...command: string[]) => run('ip', ['netns', 'exec', name, ...command], BIG),
    };
  }

  /** A follower of a list in a namespace of its own. */
  async function follower(list: string, options: readonly string[] = [], python = 'python3') {
    const space = await namespace();
    const key = await newKey(settings, 'default', '--permission', 'feed:read', '--list', list);
    const state = join(folder, `state-${spaces}`);
    const env = { PATH: process.env.PATH, WEIR_URL: space.url, WEIR_API_KEY: key, WEIR_FOLLOW_STATE: state };
    const args = (more: readonly string[]) => ['netns', 'exec', space.name, python, FOLLOW, ...options, ...more];
    const runs: ChildProcess[] = [];
    let log = '';
    return {
      ...space,
      state,
      log: () => log,
      /** Exit code and output of a command that ends. */
      async once(...more: string[]) {
        const done = run('ip', args(more), { ...BIG, env });
        return done.then(
          ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
          ({ code, stdout, stderr }) => ({ code, output: stdout + stderr }),
        );
      },
      start(more: readonly string[] = []) {
        const child = spawn('ip', args(more), { env, stdio: ['ignore', 'ignore', 'pipe'] });
        child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
        runs.push(child);
        open.push(() => child.kill('SIGKILL'));
      },
      async end(signal: NodeJS.Signals) {
        const child = runs.pop()!;
        const ended = once(child, 'exit');
        child.kill(signal);
        await ended;
      },
      child: () => runs.at(-1)!,
    };
  }
  type Following = Awaited<ReturnType<typeof follower>>;

  /** The networks of the kernel, with prefixes. */
  async function blocked({ within }: Pick<Following, 'within'>, table = 'weir_follow'): Promise<string[]> {
    const both = await Promise.all(['block4', 'block6'].map((set) => within('nft', '-j', 'list', 'set', 'inet', table, set)));
    return both.flatMap(({ stdout }, i) => {
      const { nftables } = JSON.parse(stdout) as {
        nftables: { set?: { elem?: (string | { prefix: { addr: string; len: number } })[] } }[];
      };
      const elements = nftables.flatMap(({ set }) => set?.elem ?? []);
      return elements.map((each) =>
        typeof each === 'string' ? `${each}/${i === 0 ? 32 : 128}` : `${each.prefix.addr}/${each.prefix.len}`,
      );
    });
  }
  /** The kernel has the feed. */
  const equal = (following: Following, list: string, expected?: readonly string[]) =>
    eventually(async () => {
      const wanted = await feed(list);
      if (expected !== undefined) assert.deepEqual(wanted.toSorted(), expected.toSorted());
      assert.deepEqual((await blocked(following)).toSorted(), wanted.toSorted(), following.log());
    }, UNTIL);

  for (const [i, python] of PYTHONS.entries()) {
    test(`D51.1, D51.2 ${i === 0 ? 'nftables and ipset' : `nftables with ${python}`}: random networks and changes, as nft list and nft get element have them`, async () => {
      const args = i === 0 ? ['11', '25', '131072', 'ipset'] : [`${i}`, '8', '1000'];
      const { stdout } = await run('unshare', ['-n', python, '-B', GOLDEN, FOLLOW, ...args]);
      assert.ok(JSON.parse(stdout).peak > 0);
    });
  }

  test('D51.1, D51.3, D51.4, D51.5 the kernel has the feed, whatever changes, ends or is deleted by others', async () => {
    await makeList('main');
    await post('main', 'block', ['192.0.2.1', '198.51.100.0/24', '2001:db8::/32', '255.255.255.255']);
    const one = await follower('main', ['--verify', '1s']);
    one.start();
    await equal(one, 'main', ['192.0.2.1/32', '198.51.100.0/24', '2001:db8::/32', '255.255.255.255/32']);
    await post('main', 'unblock', ['198.51.100.0/24', '192.0.2.1']);
    await post('main', 'block', ['198.51.100.0/25', '203.0.113.0/24', '2001:db9::1']);
    await equal(one, 'main', ['198.51.100.0/25', '203.0.113.0/24', '2001:db8::/32', '2001:db9::1/128', '255.255.255.255/32']);
    // Other programs: their own table stays, the follower's is restored.
    await one.within('nft', 'add table inet other');
    await one.within('nft', 'delete element inet weir_follow block4 { 203.0.113.0/24 }');
    await equal(one, 'main');
    await one.within('nft', 'flush chain inet weir_follow forward');
    await eventually(
      async () => assert.match((await one.within('nft', 'list', 'chain', 'inet', 'weir_follow', 'forward')).stdout, /@block6 .*drop/),
      UNTIL,
    );
    await equal(one, 'main');
    assert.match((await one.within('nft', 'list', 'tables')).stdout, /inet other/);
    await one.within('nft', 'flush', 'ruleset');
    await eventually(() => equal(one, 'main'), UNTIL);
    assert.match(one.log(), /differs from the feed: 1 missing, 0 unexpected \(203\.0\.113\.0\/24\)/);
    // weir ends without a word: the networks stay, and changes follow when it is back.
    const before_ = await blocked(one);
    await weir.kill('SIGKILL');
    await eventually(() => assert.match(one.log(), /No changes: .* does not answer/), UNTIL);
    assert.deepEqual(await blocked(one), before_);
    weir = await startWeir(settings);
    await post('main', 'unblock', ['203.0.113.0/24']);
    await equal(one, 'main', ['198.51.100.0/25', '2001:db8::/32', '2001:db9::1/128', '255.255.255.255/32']);
    await eventually(() => assert.match(one.log(), /weir answers again/), UNTIL);
    // The follower ends without a word: the networks stay, and it starts with them.
    await one.end('SIGKILL');
    assert.deepEqual((await blocked(one)).toSorted(), (await feed('main')).toSorted());
    await post('main', 'block', ['192.0.2.9']);
    one.start();
    await equal(one, 'main', ['192.0.2.9/32', '198.51.100.0/25', '2001:db8::/32', '2001:db9::1/128', '255.255.255.255/32']);
    await eventually(() => assert.match(one.log(), /Started with 4 networks of the last run/), UNTIL);
    await one.end('SIGTERM');
    assert.equal((await blocked(one)).length, 5);
  });

  test('D51.4, D51.5 what differs from weir is loaded again: an element removed behind its back, an answer with another digest, a cut answer', async () => {
    await makeList('altered');
    await post('altered', 'block', ['192.0.2.1', '198.51.100.0/24', '2001:db8::/32']);
    // Passes everything on; one answer of each kind is altered.
    const altered = new Set<'digest' | 'cut'>();
    const full: string[] = [];
    const proxy = createServer((asked, answer) => {
      const { method, url, headers } = asked;
      if (url!.includes('startup')) full.push(url!);
      const sent = request(base() + url!, { method, headers: { ...headers, 'accept-encoding': 'identity' } }, async (response) => {
        const body = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>));
        const isChange = /since/.test(url!) && body.includes('value');
        if (isChange && altered.delete('digest')) response.headers['x-feed-digest'] = '0'.repeat(64);
        const isCut = isChange && altered.delete('cut');
        answer.writeHead(response.statusCode!, response.headers);
        if (isCut) answer.write(body.subarray(0, -9), () => answer.destroy());
        else answer.end(body);
      });
      answer.on('close', () => sent.destroy());
      sent.on('error', () => answer.destroy());
      asked.pipe(sent);
    }).listen(0);
    open.push(() => proxy.close().closeAllConnections());
    await once(proxy, 'listening');
    // The space of the follower is the next one.
    const one = await follower('altered', ['--verify', '1s']);
    one.start(['--url', `http://${near}:${(proxy.address() as AddressInfo).port}`]);
    const first = ['192.0.2.1/32', '198.51.100.0/24', '2001:db8::/32'];
    await equal(one, 'altered', first);
    await one.within('nft', 'delete element inet weir_follow block4 { 192.0.2.1 }');
    await equal(one, 'altered', first);
    await eventually(
      () => assert.match(one.log(), /differs from the feed: 1 missing, 0 unexpected \(192\.0\.2\.1\/32\)\. Everything is loaded/),
      UNTIL,
    );
    await eventually(() => assert.equal(full.length, 2, one.log()), UNTIL);
    altered.add('cut');
    await post('altered', 'block', ['203.0.113.1']);
    await equal(one, 'altered', [...first, '203.0.113.1/32']);
    assert.match(one.log(), /No changes: /);
    assert.deepEqual([altered.size, full.length], [0, 2]);
    altered.add('digest');
    await post('altered', 'block', ['203.0.113.3']);
    await eventually(() => assert.match(one.log(), /The networks differ from version \S+ of weir/), UNTIL);
    await equal(one, 'altered', [...first, '203.0.113.1/32', '203.0.113.3/32']);
    assert.equal(altered.size, 0);
  });

  test('D51.6, D51.7 while weir is down: the last good set, without networks whose end has passed, also after a start of the machine', async () => {
    await makeList('alone');
    await post('alone', 'block', ['192.0.2.1', '198.51.100.0/24', '203.0.113.7', '2001:db8::/32']);
    const one = await follower('alone');
    assert.equal((await one.once('--once')).code, 0);
    const unreachable = ['--url', `http://${near}:1`, '--keep', '1s'];
    const file = join(one.state, 'networks');
    const [head, ...lines] = readFileSync(file, 'utf8').trim().split('\n');
    const header = JSON.parse(head!);
    const up = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
    const end = (seconds: number) => (up + seconds).toFixed(1);
    const write = (boot: string, shift: number) => {
      const of = [`192.0.2.1/32 ${end(shift + 2)}`, `198.51.100.0/24 ${end(shift + 900)}`, `203.0.113.7/32 ${end(shift - 1)}`];
      const text = [JSON.stringify({ ...header, url: `http://${near}:1`, boot, offset: header.offset - shift }), ...of, '2001:db8::/32 9'];
      writeFileSync(file, text.join('\n'));
    };
    assert.equal(lines.length, 4);
    for (const [boot, shift] of [
      [header.boot, 0],
      ['another', 5000],
    ] as const) {
      await one.within('nft', 'flush', 'ruleset');
      write(boot, shift);
      one.start(unreachable);
      await eventually(async () => assert.deepEqual(await blocked(one), ['198.51.100.0/24']), UNTIL);
      await one.end('SIGTERM');
    }
    assert.match(one.log(), /1 network reached the announced end/);
    assert.match(one.log(), /stale: no answer of weir for 1 second/);
  });

  test('D51.8 --once, --check, --show, self-test, uninstall', async () => {
    await makeList('commands');
    await post('commands', 'block', ['192.0.2.0/24', '2001:db8::1', '::1:2', '11.0.0.0/8', '9.0.0.0/8']);
    const one = await follower('commands');
    const missing = await one.once('--check');
    assert.deepEqual([missing.code, /a part of it is missing/.test(missing.output)], [1, true], missing.output);
    assert.equal((await one.within('nft', 'list', 'tables')).stdout, '');
    assert.equal((await one.once('self-test')).output, 'The self-test succeeded\n');
    assert.equal((await one.within('nft', 'list', 'tables')).stdout, '');
    assert.deepEqual([(await one.once('--show')).code, (await one.once('--once')).code], [1, 0]);
    const digest = createHash('sha256')
      .update((await feed('commands')).map((line) => `${line}\n`).join(''))
      .digest('hex');
    for (const mode of ['--check', '--show']) {
      const { code, output } = await one.once(mode);
      assert.deepEqual([code, output.includes(`5 networks, SHA-256 ${digest}`), /^equal$/m.test(output)], [0, true, true], output);
    }
    await one.within('nft', 'delete element inet weir_follow block4 { 9.0.0.0/8 }');
    assert.match((await one.once('--check')).output, /1 missing, 0 unexpected 9\.0\.0\.0\/8/);
    assert.equal((await one.once('uninstall')).code, 1);
    assert.equal((await blocked(one)).length, 4);
    assert.equal((await one.once('uninstall', '--yes')).code, 0);
    assert.deepEqual([(await one.within('nft', 'list', 'tables')).stdout, existsSync(one.state)], ['', false]);
    const wrong = {
      '--driver=iptables': /must be one of nftables/,
      '--keep=1': /must be a time such as 30s/,
      '--wait=61': /must be 1 to 60/,
    };
    for (const [option, message] of Object.entries(wrong)) assert.match((await one.once(option)).output, message);
    const refused = await one.once('--once', '--url', `http://${near}:1`);
    assert.deepEqual([refused.code, /does not answer: Connection refused/.test(refused.output)], [1, true], refused.output);
  });

  test('D51.9 ipset', async () => {
    await makeList('sets');
    await post('sets', 'block', ['0.0.0.0/0', '2001:db8::/32']);
    const one = await follower('sets', ['--driver', 'ipset', '--name', 'wf']);
    one.start();
    const members = async () =>
      (await one.within('ipset', 'save')).stdout
        .split('\n')
        .filter((line) => line.startsWith('add '))
        .sort();
    const have = (...lines: string[]) => eventually(async () => assert.deepEqual(await members(), lines, one.log()), UNTIL);
    await have('add wf4 0.0.0.0/1', 'add wf4 128.0.0.0/1', 'add wf6 2001:db8::/32');
    await post('sets', 'unblock', ['0.0.0.0/0']);
    await post('sets', 'block', ['192.0.2.0/24']);
    await have('add wf4 192.0.2.0/24', 'add wf6 2001:db8::/32');
    assert.equal((await one.once('--check')).code, 0);
    await one.end('SIGTERM');
    assert.equal((await one.once('uninstall', '--yes')).code, 0);
    assert.equal((await one.within('ipset', 'list', '-name')).stdout, '');
  });

  test('D51.11 a command: changes one at a time, everything after a failure', async (t) => {
    await makeList('commanded');
    await post('commanded', 'block', ['192.0.2.1']);
    const file = join(temporaryFolder(t), 'input');
    const fail = `${file}.fail`;
    const command = `{ echo "$WEIR_FOLLOW_INPUT"; cat; } >> ${file}; test ! -e ${fail} || { rm ${fail}; echo broken >&2; exit 3; }`;
    const one = await follower('commanded', ['--driver', 'command', '--command', command]);
    one.start();
    const input = (...lines: string[]) =>
      eventually(() => assert.deepEqual(readFileSync(file, 'utf8').trim().split('\n').slice(-lines.length), lines, one.log()), UNTIL);
    await input('all', '192.0.2.1/32');
    await post('commanded', 'block', ['192.0.2.4/30']);
    await input('changes', '+192.0.2.4/30');
    writeFileSync(fail, '');
    await post('commanded', 'unblock', ['192.0.2.1']);
    await input('changes', '-192.0.2.1/32', 'all', '192.0.2.4/30');
    assert.match(one.log(), /ended with code 3: broken/);
  });

  suite('HAProxy', { skip: needs('haproxy', 'curl') }, () => {
    test('D51.10 HAProxy: the ACL follows without a reload, and a reloaded HAProxy reads the file', async (t: TestContext) => {
      await makeList('proxy');
      await post('proxy', 'block', ['127.0.0.2', '2001:db8::/32']);
      const own = temporaryFolder(t);
      chmodSync(own, 0o755);
      const [acl, socket, config] = [join(own, 'acl'), join(own, 'admin.sock'), join(own, 'haproxy.cfg')];
      writeFileSync(acl, '');
      const frontend = `frontend web\n  bind 127.0.0.1:8081\n  http-request deny deny_status 403 if { src -f ${acl} }\n  http-request return status 200\n`;
      writeFileSync(
        config,
        `global\n  stats socket ${socket} level admin\ndefaults\n  mode http\n  timeout client 5s\n  timeout connect 5s\n  timeout server 5s\n${frontend}`,
      );
      const one = await follower('proxy', ['--driver', 'haproxy', '--haproxy-socket', socket, '--haproxy-acl', acl]);
      await one.within('ip', 'link', 'set', 'lo', 'up');
      const startProxy = () => {
        const proxy = spawn('ip', ['netns', 'exec', one.name, locate('haproxy')!, '-f', config], { stdio: 'ignore' });
        open.push(() => proxy.kill('SIGKILL'));
        return proxy;
      };
      const status = async (address: string) => {
        const asked = ['curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', '--interface', address, 'http://127.0.0.1:8081/'];
        return (await one.within(...asked)).stdout;
      };
      const answers = (...expected: string[]) =>
        eventually(async () => assert.deepEqual([await status('127.0.0.2'), await status('127.0.0.3')], expected, one.log()), UNTIL);
      // HAProxy starts later than the follower: it reads the file.
      one.start();
      await eventually(() => assert.match(readFileSync(acl, 'utf8'), /^127\.0\.0\.2\/32\n2001:db8::\/32\n$/, one.log()), UNTIL);
      const proxy = startProxy();
      await answers('403', '200');
      await post('proxy', 'block', ['127.0.0.3']);
      await post('proxy', 'unblock', ['127.0.0.2']);
      await answers('200', '403');
      assert.equal((await one.once('--check')).code, 0);
      const ended = once(proxy, 'exit');
      proxy.kill('SIGKILL');
      await ended;
      await post('proxy', 'block', ['127.0.0.2']);
      await eventually(() => assert.match(readFileSync(acl, 'utf8'), /127\.0\.0\.2\/31/), UNTIL);
      startProxy();
      await answers('403', '403');
      await post('proxy', 'unblock', ['127.0.0.2', '127.0.0.3']);
      await answers('200', '200');
    });
  });

  test('D51.12 131,072 networks take at most 60 MB, also when everything is loaded again', async () => {
    // Each /24 lacks one of its addresses: eight networks.
    await makeList('many', '--subtract-allow', 'on');
    const slots = Array.from({ length: 16_384 }, (_, n) => `10.${n >> 8}.${n & 255}`);
    await post(
      'many',
      'block',
      slots.map((slot) => `${slot}.0/24`),
    );
    const rules = slots.map((slot, n) => ({
      kind: 'access_rule',
      op: 'upsert',
      rule: { target: { ip: `${slot}.${n % 256}` }, action: 'allow' },
    }));
    for (let at = 0; at < rules.length; at += 1000) {
      assert.equal((await postSignals(base(), KEY, rules.slice(at, at + 1000), '/v2/signal?list=many')).status, 200);
    }
    await eventually(async () => assert.equal((await feed('many')).length, 131_072), UNTIL);
    const all: Following[] = [];
    for (const python of PYTHONS) all.push(await follower('many', [], python));
    for (const one of all) one.start();
    const loaded = (times: number) =>
      eventually(() => {
        for (const { log } of all) assert.equal(log().split('Loaded 131,072').length, times + 1, log());
      }, UNTIL);
    await loaded(1);
    await weir.kill('SIGKILL');
    weir = await startWeir(settings);
    await loaded(2);
    for (const one of all) {
      await equal(one, 'many');
      const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${one.child().pid}/status`, 'utf8'))![1]) / 1024;
      assert.ok(peak < 60, `${peak} MB`);
    }
  });

  test('D51.13 the service serves the follower and its unit, in its version', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    for (const [name, path] of [
      ['weir-follow', FOLLOW],
      ['weir-follow.service', join(ROOT, 'deploy/weir-follow.service')],
    ] as const) {
      const { status, text } = await ask(base(), `/integrations/${name}`);
      assert.deepEqual([status, text], [200, readFileSync(path, 'utf8')]);
    }
    assert.equal((await ask(base(), '/integrations/../package.json')).status, 404);
    assert.equal((await run('python3', [FOLLOW, '--version'])).stdout, `weir-follow ${version}\n`);
    assert.ok(readFileSync(FOLLOW, 'utf8').split('\n').length <= 901);
  });
});
