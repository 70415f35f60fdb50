/**
 * `npm run test:install [-- --suite bookworm] [--releases FOLDER]`: the packages in clean Debian roots, as root, with the network. Installs,
 * sends, polls 50 times a second during an upgrade, removes and purges. `--releases`: packages made earlier, in `one`, `again` and `two`.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import about from '../../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = join(tmpdir(), 'weir-install');
const MIRROR = 'http://deb.debian.org/debian';
/** Limits of the issue: s, MB, polls a second. */
const FIRST_FEED = 60;
const MOST_MB = 80;
const POLLS = 50;
/** Time of polling after the upgrade, ms. */
const AFTER = 5000;
const NETWORK = '233.252.0.1/32';
const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { suite: { ...text, multiple: true, default: ['bookworm', 'trixie'] }, releases: text } });

const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });

const releases = values.releases ?? mkdtempSync(join(tmpdir(), 'weir-releases-'));
const release = (name: 'one' | 'again' | 'two', suffix: string) => {
  const out = join(releases, name);
  if (!existsSync(out))
    run('node', 'scripts/run.mjs', 'scripts/release.mjs', `${about.version}${suffix}`, '--packages', '--arch', 'amd64', '--out', out);
  return out;
};
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

/** A clean root; its base is downloaded once. */
function cleanRoot(suite: string): string {
  const [root, base] = [join(CACHE, suite), join(CACHE, `${suite}.tar`)];
  mkdirSync(CACHE, { recursive: true });
  rmSync(root, { recursive: true, force: true });
  if (!existsSync(base)) {
    run('debootstrap', '--variant=minbase', suite, root, MIRROR);
    run('tar', '-C', root, '-cf', base, '.');
  } else {
    mkdirSync(root);
    run('tar', '-C', root, '-xf', base);
  }
  // systemd does not run here: stand-ins for its manager and its command, everything else is real.
  mkdirSync(join(root, 'run/systemd/system'), { recursive: true });
  cpSync(join(ROOT, 'test/install/systemctl'), join(root, 'usr/bin/systemctl'));
  for (const name of ['supervisor', 'supervisor.done']) writeFileSync(join(root, 'run', name), '');
  cpSync('/etc/resolv.conf', join(root, 'etc/resolv.conf'), { dereference: true });
  run('mount', '-t', 'proc', 'proc', join(root, 'proc'));
  return root;
}

/** Starts supervisor.py; resolves with the port of its socket, and with what ends it. */
async function supervise(root: string): Promise<{ port: number; end: () => Promise<unknown> }> {
  const child = spawn('python3', [join(ROOT, 'test/install/supervisor.py'), root], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const end = () => {
    child.stdin.end();
    return child.exitCode === null ? once(child, 'exit') : Promise.resolve();
  };
  return { port: Number(line.replace('listening on ', '')), end };
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
  test(`D49.2 D49.3 D49.4 Debian ${suite}: install, first feed, upgrade without a failed poll, remove, purge`, async (t) => {
    const [one, two] = [release('one', '+1'), release('two', '+2')];
    const root = cleanRoot(suite);
    const inside = async (...command: string[]) => {
      const { stdout } = await promisify(execFile)('chroot', [root, 'env', 'DEBIAN_FRONTEND=noninteractive', 'LC_ALL=C.UTF-8', ...command]);
      return stdout;
    };
    const apt = (...args: string[]) => inside('apt-get', '-q', '-y', '--no-install-recommends', ...args);
    for (const [name, from] of Object.entries({ one, two })) cpSync(join(from, 'apt'), join(root, name), { recursive: true });
    const { port, end } = await supervise(root);
    t.after(async () => {
      await end();
      run('umount', join(root, 'proc'));
    });

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
    assert.equal(await inside('dpkg', '-V', 'weir', 'weir-geo'), '');
    assert.match(await inside('weir', '--version'), /^\d+\.\d+\.\d+ \([0-9a-f]{12}\)$/m);

    writeFileSync(join(root, 'etc/apt/sources.list.d/weir.list'), 'deb [trusted=yes] file:/two ./\n');
    await apt('update');
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
    assert.equal(readFileSync(join(root, 'run/supervisor'), 'utf8'), 'start\nrestart\n');
    assert.match(readFileSync(join(root, 'var/lib/weir/before-upgrade/version'), 'utf8'), /\+1\n$/);
    assert.ok(existsSync(join(root, 'var/lib/weir/before-upgrade/backup.json')));
    await until(async () => assert.match(await poll(port, key), new RegExp(NETWORK)), FIRST_FEED);
    assert.equal(await inside('dpkg', '-V', 'weir', 'weir-geo'), '');

    await apt('remove', 'weir');
    assert.ok(existsSync(join(root, 'var/lib/weir/weir.db')) && existsSync(join(root, 'etc/weir/weir.env')));
    assert.ok(!existsSync(join(root, 'usr/lib/weir/src')));
    await apt('purge', 'weir', 'weir-geo');
    for (const path of ['var/lib/weir', 'var/cache/weir', 'etc/weir', 'usr/lib/weir', 'usr/bin/weir'])
      assert.ok(!existsSync(join(root, path)), path);
    assert.doesNotMatch(readFileSync(join(root, 'etc/passwd'), 'utf8'), /^weir:/m);
    assert.ok(seconds <= FIRST_FEED, `the first feed came after ${seconds.toFixed(1)} s`);
  });
}
