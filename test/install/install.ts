/**
 * `npm run test:install [-- --suite bookworm] [--releases FOLDER]`: the packages in clean Debian roots with their own systemd. Installs,
 * sends, polls 50 times a second during an upgrade, removes and purges. `--releases`: packages made earlier, in `one`, `again` and `two`.
 * As root on Debian, with the network, debootstrap, systemd-container, lintian, gpg and xz.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import about from '../../package.json' with { type: 'json' };
import { freePort } from '../support/http.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = join(tmpdir(), 'weir-install');
const MIRROR = 'http://deb.debian.org/debian';
/** Limits of the issue: s, MB, polls a second. */
const FIRST_FEED = 60;
const MOST_MB = 80;
const POLLS = 50;
/** s */
const BOOT = 60;
/** Time of polling after the upgrade, ms. */
const AFTER = 5000;
const NETWORK = '233.252.0.1/32';
const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { suite: { ...text, multiple: true, default: ['bookworm', 'trixie'] }, releases: text } });

const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });

const releases = values.releases ?? mkdtempSync(join(tmpdir(), 'weir-releases-'));
const release = (name: 'one' | 'again' | 'two', suffix: string, ...options: string[]) => {
  const out = join(releases, name);
  const how = ['--packages', '--arch', 'amd64', '--out', out, ...options];
  if (!existsSync(out)) run('node', 'scripts/run.mjs', 'scripts/release.mjs', `${about.version}${suffix}`, ...how);
  return out;
};
/** A key for apt, and its public half. */
function aptKey(): { id: string; file: string } {
  const [id, file] = ['releases@example.com', join(releases, 'weir.asc')];
  process.env.GNUPGHOME = join(releases, 'gnupg');
  mkdirSync(process.env.GNUPGHOME, { recursive: true, mode: 0o700 });
  if (!existsSync(file)) {
    run('gpg', '--batch', '--quiet', '--passphrase', '', '--quick-generate-key', id, 'ed25519', 'sign', 'never');
    writeFileSync(file, run('gpg', '--batch', '--armor', '--export', id));
  }
  return { id, file };
}
const packagesIn = (out: string) => readdirSync(out).filter((name) => name.endsWith('.deb'));

test('D49.1 two builds of a commit have equal bytes, and both packages together at most 80 MB', () => {
  const [one, again] = [release('one', '+1'), release('again', '+1')];
  assert.equal(readFileSync(join(again, 'SHA256SUMS'), 'utf8'), readFileSync(join(one, 'SHA256SUMS'), 'utf8'));
  const bytes = packagesIn(one).reduce((sum, name) => sum + statSync(join(one, name)).size, 0);
  console.log(`packages: ${(bytes / 1e6).toFixed(1)} MB`);
  assert.ok(bytes <= MOST_MB * 1e6);
});

test('D49.2 lintian has no error but those that are overridden with a reason', () => {
  const one = release('one', '+1');
  console.log(
    run('lintian', '--allow-root', '--fail-on', 'error', '--tag-display-limit', '0', ...packagesIn(one).map((name) => join(one, name))),
  );
});

/** A clean root with systemd; its base is downloaded once. */
function cleanRoot(suite: string): string {
  const [root, base] = [join(CACHE, suite), join(CACHE, `${suite}.tar`)];
  mkdirSync(CACHE, { recursive: true });
  rmSync(root, { recursive: true, force: true });
  if (!existsSync(base)) {
    run('debootstrap', '--variant=minbase', '--include=systemd-sysv,dbus', suite, root, MIRROR);
    run('tar', '-C', root, '-cf', base, '.');
  } else {
    mkdirSync(root);
    run('tar', '-C', root, '-xf', base);
  }
  return root;
}

/** Boots `root` with its own systemd, in the network of this machine; resolves with what runs a command there. */
async function boot(root: string, t: TestContext): Promise<(...command: string[]) => Promise<string>> {
  const options = [
    '--quiet',
    '--boot',
    '--register=no',
    '--keep-unit',
    '--console=pipe',
    '--resolv-conf=replace-host',
    '--directory',
    root,
  ];
  const child = spawn('systemd-nspawn', options, {
    env: { ...process.env, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: '1' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  t.after(async () => {
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
  });
  const inside = async (...command: string[]) => {
    const [init] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ');
    const enter = ['-t', init!, '-m', '-u', '-i', '-p', '-C', '-r', '-w', 'env', '-i', 'LC_ALL=C.UTF-8', 'DEBIAN_FRONTEND=noninteractive'];
    const { stdout } = await promisify(execFile)('nsenter', [...enter, 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', ...command]);
    return stdout;
  };
  await until(() => inside('systemctl', 'is-active', 'multi-user.target'), BOOT);
  return inside;
}

function poll(port: number, key: string, agent?: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(
      {
        port,
        host: '127.0.0.1',
        path: '/v1/threat/feeds',
        agent: agent ?? false,
        headers: { Authorization: `Bearer ${key}` },
        timeout: 60_000,
      },
      (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (chunk) => (body += chunk));
        response.on('end', () => (response.statusCode === 200 ? resolve(body) : reject(new Error(`${response.statusCode}: ${body}`))));
      },
    );
    request.on('error', reject).on('timeout', () => request.destroy(new Error('no answer within 60 s')));
  });
}

/** Starts one poll every 20 ms, also while earlier ones wait; every second one on a new connection. */
function polling(port: number, key: string) {
  const agent = new Agent({ keepAlive: true });
  const polls: Promise<{ ms: number; error?: Error }>[] = [];
  const timer = setInterval(() => {
    const begun = performance.now();
    const ended = (error?: Error) => ({ ms: performance.now() - begun, ...(error && { error }) });
    polls.push(poll(port, key, polls.length % 2 === 0 ? agent : undefined).then(() => ended(), ended));
  }, 1000 / POLLS);
  return async () => {
    clearInterval(timer);
    const all = await Promise.all(polls);
    agent.destroy();
    return all;
  };
}

async function until<T>(work: () => Promise<T>, seconds: number): Promise<T> {
  for (const deadline = performance.now() + seconds * 1000; ; ) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(200);
    }
  }
}

for (const suite of values.suite) {
  test(`D49.2 D49.3 D49.4 D49.9 D49.10 D49.11 D49.14 Debian ${suite}: install, first feed, upgrade without a failed poll, remove, purge`, async (t) => {
    const publisher = aptKey();
    const [one, two] = [release('one', '+1'), release('two', '+2', '--gpg-key', publisher.id)];
    const root = cleanRoot(suite);
    const apt = (...args: string[]) => inside('apt-get', '-q', '-y', '-oDpkg::Use-Pty=0', '--no-install-recommends', ...args);
    for (const [name, from] of Object.entries({ one, two })) cpSync(join(from, 'apt'), join(root, name), { recursive: true });
    cpSync(publisher.file, join(root, 'etc/apt/keyrings/weir.asc'));
    const port = await freePort();
    const address = join(root, 'etc/systemd/system/weir.socket.d');
    mkdirSync(address, { recursive: true });
    const listen = (at: number) => writeFileSync(join(address, 'address.conf'), `[Socket]\nListenStream=\nListenStream=127.0.0.1:${at}\n`);
    listen(port);
    // Data of a clone, moved here as root.
    mkdirSync(join(root, 'var/lib/weir'), { mode: 0o700 });
    writeFileSync(join(root, 'var/lib/weir/moved'), '');
    const inside = await boot(root, t);
    const state = (property: string) => inside('systemctl', 'show', '--value', '--property', property, 'weir.service');

    await apt('update');
    const begun = performance.now();
    await apt('install', ...packagesIn(one).map((name) => `/one/${name}`));
    const installed = performance.now();
    const { key } = JSON.parse(await inside('weir', 'key', 'create', '--name', 'test', '--json'));
    const body = JSON.stringify([{ type: 'access_rules', action: 'block', ip: NETWORK.split('/')[0] }]);
    await until(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/v1/signal`, {
        method: 'POST',
        body,
        headers: { Authorization: `Bearer ${key}` },
      });
      assert.equal(response.status, 200);
    }, FIRST_FEED);
    await until(async () => assert.match(await poll(port, key), new RegExp(NETWORK)), FIRST_FEED);
    const seconds = (performance.now() - begun) / 1000;
    console.log(`${suite}: first feed after ${seconds.toFixed(1)} s, of which apt ${((installed - begun) / 1000).toFixed(1)} s`);

    assert.equal(await inside('stat', '-c', '%a %U %G', '/etc/weir/weir.env'), '640 root weir\n');
    assert.equal(await inside('stat', '-c', '%a %U %G', '/var/lib/weir'), '700 weir weir\n');
    assert.equal(await inside('find', '/var/lib/weir', '!', '-user', 'weir'), '');
    assert.equal(await inside('dpkg', '-V', 'weir', 'weir-geo'), '');
    assert.match(await inside('weir', '--version'), /^\d+\.\d+\.\d+ \([0-9a-f]{12}\)$/m);
    // The sandbox of the unit is systemd's: weir started in it at the first try.
    assert.equal(await state('NRestarts'), '0\n');
    assert.equal(await inside('systemctl', 'is-active', 'weir.socket', 'weir.service'), 'active\nactive\n');
    const process = (await state('MainPID')).trim();
    assert.match(await inside('grep', '-E', '^(CapBnd|NoNewPrivs)', `/proc/${process}/status`), /CapBnd:\t0+\nNoNewPrivs:\t1\n/);
    await assert.rejects(inside('nsenter', '-t', process, '-m', 'touch', '/usr/lib/weir/x'), /Read-only file system/);

    const source = join(root, 'etc/apt/sources.list.d/weir.list');
    const signed = 'deb [signed-by=/etc/apt/keyrings/weir.asc] file:';
    cpSync(join(root, 'two'), join(root, 'forged'), { recursive: true });
    const index = join(root, 'forged/InRelease');
    writeFileSync(index, readFileSync(index, 'utf8').replace('Label: weir', 'Label: wier'));
    writeFileSync(source, `${signed}/forged ./\n`);
    await assert.rejects(apt('update'), /BADSIG|invalid|Bad signature|not signed/i);
    writeFileSync(source, `${signed}/two ./\n`);
    await apt('update');
    // Without a backup nothing is upgraded: here its folder is in the way.
    await inside('sh', '-c', 'mkdir /var/lib/weir/before-upgrade.new && touch /var/lib/weir/before-upgrade.new/x');
    await assert.rejects(apt('install', 'weir'), /no backup could be made/);
    assert.match(await inside('dpkg', '-s', 'weir'), /^Status: install ok installed\n[\s\S]*^Version: .*\+1$/m);
    await inside('rm', '-r', '/var/lib/weir/before-upgrade.new');
    const stop = polling(port, key);
    await apt('install', 'weir');
    await sleep(AFTER);
    const polls = await stop();
    const failed = polls.filter(({ error }) => error !== undefined);
    console.log(
      `${suite}: ${polls.length} polls during the upgrade, ${failed.length} failed, longest ${Math.round(Math.max(...polls.map(({ ms }) => ms)))} ms`,
    );
    assert.deepEqual(
      failed.map(({ error }) => error?.message),
      [],
    );
    assert.match(await inside('dpkg', '-s', 'weir'), /^Version: .*\+2$/m);
    assert.notEqual(await state('MainPID'), `${process}\n`);
    assert.equal(await state('NRestarts'), '0\n');
    assert.deepEqual(readdirSync(join(root, 'usr/lib/weir/running')), [`${about.version}+2`]);
    assert.match(readFileSync(join(root, 'var/lib/weir/before-upgrade/version'), 'utf8'), /\+1\n$/);
    assert.ok(existsSync(join(root, 'var/lib/weir/before-upgrade/backup.json')));
    await until(async () => assert.match(await poll(port, key), new RegExp(NETWORK)), FIRST_FEED);
    assert.equal(await inside('dpkg', '-V', 'weir', 'weir-geo'), '');

    // An address that another program has: nothing is served elsewhere. A restart of the socket is enough for the next address.
    await using other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    listen((other.address() as AddressInfo).port);
    await inside('systemctl', 'daemon-reload');
    await assert.rejects(inside('systemctl', 'restart', 'weir.socket'));
    await assert.rejects(inside('systemctl', 'start', 'weir.service'), /dependency/);
    listen(port);
    await inside('systemctl', 'daemon-reload');
    await inside('systemctl', 'restart', 'weir.socket');
    await until(async () => assert.match(await poll(port, key), new RegExp(NETWORK)), FIRST_FEED);
    await inside('systemctl', 'reload', 'weir.service');

    await apt('remove', 'weir');
    assert.ok(existsSync(join(root, 'var/lib/weir/weir.db')) && existsSync(join(root, 'etc/weir/weir.env')));
    assert.ok(!existsSync(join(root, 'usr/lib/weir/src')));
    await apt('install', 'weir');
    await until(async () => assert.match(await poll(port, key), new RegExp(NETWORK)), FIRST_FEED);
    // The way back, as docs/install.md has it.
    const { key: later } = JSON.parse(await inside('weir', 'key', 'create', '--name', 'later', '--json'));
    const old = `/one/${packagesIn(one).find((name) => name.startsWith('weir_'))}`;
    // Unpacked, but not configured: the version that still runs has its files, also those that it has not read yet.
    const file = (folder: string) => inside('stat', '-Lc', '%i', `${folder}/src/main.ts`);
    const before = await file('/usr/lib/weir');
    await inside('dpkg', '--unpack', old);
    assert.notEqual(await file('/usr/lib/weir'), before);
    assert.equal(await file(`/proc/${(await state('MainPID')).trim()}/cwd`), before);
    await apt('install', '--allow-downgrades', old);
    assert.match(readFileSync(join(root, 'var/lib/weir/before-upgrade/version'), 'utf8'), /\+2\n$/);
    await inside('systemctl', 'stop', 'weir.socket', 'weir.service');
    await inside('weir', 'restore', '--force', '/var/lib/weir/before-upgrade');
    await inside('systemctl', 'start', 'weir.socket', 'weir.service');
    await until(async () => assert.match(await poll(port, key), new RegExp(NETWORK)), FIRST_FEED);
    await assert.rejects(poll(port, later), /401/);
    await apt('purge', 'weir', 'weir-geo');
    for (const path of ['var/lib/weir', 'var/cache/weir', 'etc/weir', 'usr/lib/weir', 'usr/bin/weir'])
      assert.ok(!existsSync(join(root, path)), path);
    assert.doesNotMatch(readFileSync(join(root, 'etc/passwd'), 'utf8'), /^weir:/m);
    assert.ok(seconds <= FIRST_FEED, `the first feed came after ${seconds.toFixed(1)} s`);
  });
}
