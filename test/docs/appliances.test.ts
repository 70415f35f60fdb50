/** The pages of docs/appliances whose programs Debian has: what they show is pasted as it is, and blocks. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { commandText } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { freePort, getFeed, postSignals } from '../support/http.ts';
import { locate, needs } from '../support/programs.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

/** The blocks of a page in one language. */
const blocks = (page: string, language: string) =>
  [
    ...readFileSync(join(ROOT, `docs/appliances/${page}.md`), 'utf8').matchAll(
      new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'),
    ),
  ].map(([, text]) => text);

suite('appliances', () => {
  const folder = temporaryFolder({ after });
  const settings = { DATA_DIR: join(folder, 'data'), BOOTSTRAP_API_KEY: KEY };
  let weir: Weir;
  /** Answers 200 with what is no feed, or with half of one. */
  const proxy = createServer(({ url }, answer) => {
    if (!url!.endsWith('?half')) return void answer.end('<html>Please sign in</html>\n');
    answer.setHeader('x-feed-entry-count', '2').end('192.0.2.0/24\n');
  });
  before(async () => {
    weir = await startWeir({ ...settings, HOST: '0.0.0.0', PORT: String(await freePort()), FEED_REBUILD_SECONDS: '0' });
    proxy.listen(0);
    await once(proxy, 'listening');
  });
  after(() => {
    proxy.close();
    return weir?.kill('SIGKILL');
  });
  const send = async (list: string, action: string, ...ips: string[]) => {
    const entries = ips.map((ip) => ({ type: 'access_rules', action, ip }));
    const { status, text } = await postSignals(weir.url, KEY, entries, `/v1/signal?list=${list}`);
    assert.equal(status, 200, text);
  };

  /** Does what the page says at weir, for one list, and sets its script up in a folder. */
  async function pasted(t: TestContext, page: string, { host = '127.0.0.1', ...files }: Record<string, string> = {}) {
    const home = temporaryFolder(t);
    mkdirSync(join(home, 'bin'));
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(home, 'bin', name), `#!/bin/sh\n${text.replaceAll('HOME', home)}\n`);
      chmodSync(join(home, 'bin', name), 0o755);
    }
    await commandText(['list', 'create', page, '--workspace', 'default'], settings);
    const [making, keying] = blocks(page, 'sh')[0].trim().split('\n');
    await commandText(
      making.replace('--all-lists', `--list ${page}`).replace(`create ${page}`, `create ${page}-feed`).split(' ').slice(1),
      settings,
    );
    const key = JSON.parse(
      await commandText([...keying.replace(`--feed ${page}`, `--feed ${page}-feed`).split(' ').slice(1), '--json'], settings),
    ).key as string;
    writeFileSync(join(home, 'curl.conf'), `user = "api:${key}"\n`, { mode: 0o600 });
    const here = (text: string) =>
      text
        .replaceAll('/var/lib/weir-feed', home)
        .replaceAll('/etc/haproxy', home)
        .replaceAll('https://weir.example.com', `http://${host}:${new URL(weir.url).port}`)
        .replaceAll(`feeds/${page}`, `feeds/${page}-feed`);
    const shell = blocks(page, 'sh').map(here);
    const script = shell.find((text) => text.startsWith('#!'))!;
    for (const text of shell.slice(1)) if (text !== script) await run('sh', ['-ec', text]);
    return {
      home,
      here,
      feed: `${page}-feed`,
      key,
      /** Its exit code and complaint; `change` edits the script first. */
      async script(change = SAME, within: readonly string[] = [], ...args: string[]) {
        const file = join(home, 'weir-feed');
        assert.ok(change === SAME || change(script) !== script);
        writeFileSync(file, change(script), { mode: 0o755 });
        const [program, ...rest] = [...within, 'sh', file, ...args];
        try {
          await run(program, rest, { env: { ...process.env, PATH: `${join(home, 'bin')}:${process.env.PATH}` } });
          return { code: 0, stderr: '' };
        } catch (error) {
          return error as { code: number; stderr: string };
        }
      },
    };
  }
  type Pasted = Awaited<ReturnType<typeof pasted>>;

  /** What every page promises; `ip` is blocked exactly when `blocked` says so. */
  async function holds(page: Pasted, list: string, ip: string, blocked: () => Promise<boolean>, within: readonly string[] = []) {
    const becomes = (wanted: boolean) => eventually(async () => assert.equal(await blocked(), wanted), 10_000);
    const load = async (change = SAME) => assert.deepEqual(await page.script(change, within), { code: 0, stderr: '' });
    const refused = async (why: RegExp, change = SAME) => {
      const { code, stderr } = await page.script(change, within);
      assert.equal(code, 1, stderr);
      assert.match(stderr, why);
      assert.match(stderr, /the last list stays/);
      // After a reload an old process of the server may answer one more request.
      await becomes(true);
    };
    const shows = (count: string) =>
      eventually(async () => assert.equal((await getFeed(weir.url, KEY, `/${page.feed}`)).headers['x-feed-entry-count'], count));
    assert.equal(await blocked(), false);
    await send(list, 'block', ip, '198.51.100.0/24', '2001:db8::/32');
    await shows('3');
    await load();
    await becomes(true);
    const etag = readFileSync(join(page.home, 'etag'), 'utf8');
    await load();
    assert.equal(readFileSync(join(page.home, 'etag'), 'utf8'), etag);

    await refused(/no feed/, (text) => text.replace(/^url=http:..[^/]*/m, 'url=http://127.0.0.1:9'));
    await refused(/no feed/, (text) => text.replace('--config curl.conf', ''));
    const elsewhere = `url=http://${new URL(page.here('https://weir.example.com')).hostname}:${(proxy.address() as AddressInfo).port}`;
    for (const query of ['', '?half']) {
      const instead = (text: string) =>
        text.replace(/^url=http:..[^/]*(.*)$/m, `${elsewhere}$1${query}`).replace('--etag-compare etag', '');
      await refused(/not a whole feed/, instead);
    }
    const feedSet = (...options: string[]) => commandText(['feed', 'set', page.feed, '--workspace', 'default', ...options], settings);
    await feedSet('--max-entries', '1');
    await eventually(async () => assert.equal((await getFeed(weir.url, KEY, `/${page.feed}`)).status, 413));
    await refused(/no feed/);
    await feedSet('--max-entries', '');

    await send(list, 'unblock', ip, '198.51.100.0/24', '2001:db8::/32');
    await shows('0');
    await refused(/the feed is empty/);
    await refused(/the feed is empty/);
    await load((text) => text.replace('empty=keep', 'empty=load'));
    await becomes(false);
    await send(list, 'block', ip);
    await shows('1');
    await load();
    await becomes(true);
  }

  test('4.5, 4.6.2 docs: nginx blocks as its page says, and keeps the last list whatever comes', {
    skip: needs('nginx', 'curl'),
  }, async (t) => {
    const nginx = `exec ${locate('nginx')} -p HOME -e HOME/error.log -c HOME/nginx.conf "$@"`;
    const page = await pasted(t, 'nginx', { nginx });
    const { home } = page;
    const port = await freePort();
    const [geo, guard] = blocks('nginx', 'nginx').map(page.here);
    writeFileSync(join(home, 'weir.conf'), geo);
    for (const name of ['body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']) mkdirSync(join(home, name));
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${home}/${name.split('_')[0].replace('client', 'body')};`,
    );
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    const site = `server { listen 127.0.0.1:${port}; ${guard} location / { return 204; } }`;
    const conf = `${user} daemon off; pid ${home}/pid; events {} http { access_log off; ${paths.join(' ')} include ${home}/weir.conf; ${site} }\n`;
    writeFileSync(join(home, 'nginx.conf'), conf);
    const child = spawn(join(home, 'bin/nginx'), { stdio: 'ignore' });
    t.after(() => child.kill('SIGTERM'));
    const blocked = () => asks(port, '127.0.0.2', { denied: '403', served: '204' });
    await eventually(blocked);
    await holds(page, 'nginx', '127.0.0.2', blocked);
    assert.equal(await asks(port, '127.0.0.3', { denied: '403', served: '204' }), false);

    writeFileSync(join(home, 'nginx.conf'), `${conf}broken`);
    const held = readFileSync(join(home, 'nginx.geo'), 'utf8');
    await send('nginx', 'block', '127.0.0.4');
    await eventually(async () => assert.match((await page.script()).stderr, /nginx refused it/));
    assert.equal(readFileSync(join(home, 'nginx.geo'), 'utf8'), held);
    writeFileSync(join(home, 'nginx.conf'), conf);
    assert.equal((await page.script()).code, 0);
    await eventually(async () => assert.equal(await asks(port, '127.0.0.4', { denied: '403', served: '204' }), true));
  });

  test('4.5, 4.6.2 docs: HAProxy blocks as its page says, and keeps the last list whatever comes', {
    skip: needs('haproxy', 'curl'),
  }, async (t) => {
    const page = await pasted(t, 'haproxy', { systemctl: '[ "$*" = "reload haproxy" ] && kill -USR2 "$(cat HOME/pid)"' });
    const { home } = page;
    const port = await freePort();
    const conf = `defaults\n  mode http\n  timeout connect 5s\n  timeout client 5s\n  timeout server 5s\nfrontend web\n  bind 127.0.0.1:${port}\n${page.here(blocks('haproxy', 'haproxy')[0])}  http-request return status 200\n`;
    writeFileSync(join(home, 'haproxy.cfg'), conf);
    const child = spawn(locate('haproxy')!, ['-W', '-db', '-f', join(home, 'haproxy.cfg')], { stdio: 'ignore' });
    t.after(() => child.kill('SIGTERM'));
    writeFileSync(join(home, 'pid'), String(child.pid));
    const blocked = () => asks(port, '127.0.0.2', { denied: '403', served: '200' });
    await eventually(blocked);
    await holds(page, 'haproxy', '127.0.0.2', blocked);
    assert.equal(await asks(port, '127.0.0.3', { denied: '403', served: '200' }), false);

    writeFileSync(join(home, 'haproxy.cfg'), `${conf}broken\n`);
    const held = readFileSync(join(home, 'haproxy.acl'), 'utf8');
    await send('haproxy', 'block', '127.0.0.4');
    await eventually(async () => assert.match((await page.script()).stderr, /HAProxy refused it/));
    assert.equal(readFileSync(join(home, 'haproxy.acl'), 'utf8'), held);
    writeFileSync(join(home, 'haproxy.cfg'), conf);
    assert.equal((await page.script()).code, 0);
    await eventually(async () => assert.equal(await asks(port, '127.0.0.4', { denied: '403', served: '200' }), true));
  });

  const namespaces = process.getuid?.() === 0 ? needs('ip', 'ipset', 'iptables', 'curl') : 'needs root';
  test('4.5, 4.6.2 docs: ipset blocks as its page says, and keeps the last sets whatever comes', { skip: namespaces }, async (t) => {
    const name = `weir-ipset${process.pid}`;
    const [near, far] = [`we${process.pid % 100_000}a`, `we${process.pid % 100_000}b`];
    const [host, other, inside] = [1, 2, 3].map((last) => `10.204.${process.pid % 250}.${last}`);
    await run('ip', ['netns', 'add', name]);
    t.after(() => run('ip', ['netns', 'del', name]));
    await run('ip', ['link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', name]);
    for (const address of [host, other]) await run('ip', ['addr', 'add', `${address}/29`, 'dev', near]);
    await run('ip', ['link', 'set', near, 'up']);
    await run('ip', ['-n', name, 'addr', 'add', `${inside}/29`, 'dev', far]);
    await run('ip', ['-n', name, 'link', 'set', far, 'up']);
    const within = ['ip', 'netns', 'exec', name];
    const exec = (...args: string[]) => run('ip', ['netns', 'exec', name, ...args]);
    const page = await pasted(t, 'ipset', { host });
    const blocked = () =>
      exec('curl', '-sS', '-o', '/dev/null', '--connect-timeout', '0.5', `http://${other}:${new URL(weir.url).port}/healthz`).then(
        () => false,
        () => true,
      );
    await holds(page, 'ipset', other, blocked, within);
    const members = async (set: string) => (await exec('ipset', 'list', set)).stdout.split('Members:\n')[1];
    assert.equal(await members('weir4'), `${other}\n`);

    // A start of the machine: no sets, no rules, and weir is not asked.
    for (const tables of ['iptables', 'ip6tables']) await exec(tables, '-F');
    await exec('ipset', 'destroy');
    assert.equal(await blocked(), false);
    const away = (text: string) => text.replace(/^url=http:..[^/]*/m, 'url=http://127.0.0.1:9');
    assert.equal((await page.script(away, within, 'boot')).code, 0);
    assert.equal(await blocked(), true);
    assert.match((await page.script(away, within)).stderr, /no feed/);
    const { stdout: rules } = await exec('iptables', '-S');
    assert.equal(rules.match(/--match-set weir4 src -j DROP/g)?.length, 2, rules);

    await send('ipset', 'block', '0.0.0.0/0', '2001:db8::/32');
    await eventually(async () => assert.match((await page.script(SAME, within)).stderr, /ipset refused it/));
    assert.equal(await members('weir4'), `${other}\n`);
    await send('ipset', 'unblock', '0.0.0.0/0');
    await eventually(async () => {
      assert.deepEqual(await page.script(SAME, within), { code: 0, stderr: '' });
      assert.equal(await members('weir6'), '2001:db8::/32\n');
    });
    assert.equal((await exec('ipset', '-n', 'list')).stdout, 'weir4\nweir6\n');
    assert.ok(existsSync(join(page.home, 'feed')));
  });
});

test('4.5, D5.3 docs: nftables loads what was good before the network is up, keeps it while weir is away, and puts it back where it was flushed', {
  skip: needs('nft', 'unshare', 'curl'),
}, async (t) => {
  const home = temporaryFolder(t);
  const [table, load] = blocks('nftables', 'nft').map((text) => text.replaceAll('/var/lib/weir-feed', home));
  writeFileSync(join(home, 'weir.nft'), table);
  writeFileSync(join(home, 'load.nft'), load);
  writeFileSync(join(home, 'curl.conf'), 'user = "api:none"\n');
  const script = blocks('nftables', 'sh')
    .find((text) => text.startsWith('#!'))!
    .replaceAll('/var/lib/weir-feed', home)
    .replaceAll('/etc/nftables.d', home)
    .replaceAll('/run', home)
    .replace('https://weir.example.com', 'http://127.0.0.1:9');
  writeFileSync(join(home, 'weir-feed'), script);
  writeFileSync(join(home, 'v4.good'), 'elements = { 192.0.2.0/24, 198.51.100.7/32 }\n');
  writeFileSync(join(home, 'v6.good'), '');
  const steps = `cd ${home}
    show() { nft -s list set inet weir block4 > $1.set; nft -a list chain inet weir input > $1.chain; }
    sh weir-feed boot && show boot
    sh weir-feed boot && show again
    sh weir-feed; echo $? > away.code; show away
    nft flush ruleset; sh weir-feed; show flushed
    echo '<html>' > page; mv page v4.elements; rm -f weir-feed.loaded; sh weir-feed; echo $? > broken.code; show broken
    nft flush ruleset; echo '<html>' > page; mv page v4.good; sh weir-feed boot; nft list chain inet weir input > worst.chain
  `;
  await run('unshare', ['-rn', 'sh', '-c', steps]);
  const of = (name: string) => readFileSync(join(home, name), 'utf8');
  assert.match(of('boot.set'), /elements = \{ 192\.0\.2\.0\/24, 198\.51\.100\.7 \}/);
  for (const step of ['again', 'away', 'flushed', 'broken']) assert.equal(of(`${step}.set`), of('boot.set'), step);
  assert.equal(of('again.chain').match(/ drop/g)!.length, 2, 'what is loaded again does not stand there twice');
  assert.deepEqual([of('away.code'), of('broken.code')], ['1\n', '1\n']);
  assert.match(of('worst.chain'), /@block4 drop/);
});

test('docs: systemd takes the units that the pages of ipset, nftables, nginx and HAProxy show', {
  skip: needs('systemd-analyze'),
}, async (t) => {
  for (const page of ['ipset', 'nftables', 'nginx', 'haproxy']) {
    const folder = temporaryFolder(t);
    const names = [...(blocks(page, 'ini').length === 3 ? ['weir-feed-boot.service'] : []), 'weir-feed.service', 'weir-feed.timer'];
    const files = names.map((name) => join(folder, name));
    for (const [i, text] of blocks(page, 'ini').entries()) writeFileSync(files[i], text.replace('/usr/local/sbin/weir-feed', '/bin/true'));
    const { stderr } = await run('systemd-analyze', ['verify', ...files]);
    assert.doesNotMatch(stderr, /weir-feed/);
  }
});

const SAME = (text: string) => text;

/** Whether a request from this address of the machine is denied. */
async function asks(
  port: number,
  from: string,
  { denied, served }: { readonly denied: string; readonly served: string },
): Promise<boolean> {
  const { stdout } = await run('curl', ['-sS', '-o', '/dev/null', '-w', '%{http_code}', '--interface', from, `http://127.0.0.1:${port}/`]);
  assert.ok(stdout === denied || stdout === served, stdout);
  return stdout === denied;
}
