/** The enrolment script as a host runs it: over TLS, in network and mount namespaces of its own, with real Python and kernel (SPEC D52). */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, globSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import { makeAuthority, makeCertificate } from '../support/certificates.ts';
import { commandJson, commandText } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { freePort } from '../support/http.ts';
import { locate, needs } from '../support/programs.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

const run = promisify(execFile);
/** python3 of the machine first. */
const PYTHONS = [
  locate('python3')!,
  ...globSync(join(process.env.PYENV_ROOT ?? `${process.env.HOME}/.pyenv`, 'versions/3.{9,13}.*/bin/python3')),
];
const SKIP = process.getuid?.() === 0 ? needs('ip', 'nft', 'ipset', 'unshare', 'curl', 'openssl', 'setpriv', 'python3') : 'needs root';
const NETWORKS = ['192.0.2.1', '198.51.100.0/24', '2001:db8::/32'];

/** Folders of the host that the script writes to: changes go to a folder of the test. Stays until it is killed. */
const HOST = `set -e
mount --make-rprivate /
for name in etc usr/local var/lib run; do
  mkdir -p "$CHANGES/$name" "$WORK/$name"
  mount -t overlay overlay -o "lowerdir=/$name,upperdir=$CHANGES/$name,workdir=$WORK/$name" "/$name"
done
if [ -n "$SYSTEMD" ]; then mkdir -p /run/systemd/system; fi
echo ready
exec sleep infinity`;

/** Stands in for systemctl where systemd does not run: it starts the program of the unit, and stops it. */
const SYSTEMCTL = `#!/bin/sh
unit=/etc/systemd/system/weir-follow.service
pid() { cat "$STUB/pid" 2>/dev/null; }
start() { setsid sh -c 'echo $$ >"$STUB/pid"; exec "$(sed -n s/^ExecStart=//p '$unit')" --state "$STUB/state"' >>"$STUB/log" 2>&1 </dev/null & }
stop() { kill "$(pid)"; while kill -0 "$(pid)"; do sleep 0.05; done; } 2>/dev/null
echo "$*" >>"$STUB/calls"
case $* in
  daemon-reload) ;;
  '-q is-enabled weir-follow') test -e "$STUB/enabled" ;;
  '-q is-active weir-follow') kill -0 "$(pid)" 2>/dev/null ;;
  'enable --now weir-follow') touch "$STUB/enabled"; start ;;
  'restart weir-follow') stop; start ;;
  'disable --now weir-follow') rm -f "$STUB/enabled"; stop; true ;;
  *) echo "unexpected: $*" >&2; exit 9 ;;
esac
`;

interface Result {
  readonly code: number;
  readonly output: string;
}

suite('enrolment', { skip: SKIP }, () => {
  const folder = temporaryFolder({ after });
  const open: (() => unknown)[] = [];
  let settings: Record<string, string>;
  let weir: Weir;
  let spaces = 0;
  const prefix = `10.205.${process.pid % 250}`;
  before(async () => {
    const port = await freePort();
    // Also for users other than root.
    chmodSync(folder, 0o755);
    await makeAuthority(folder);
    const names = Array.from({ length: 16 }, (_, n) => `IP:${prefix}.${4 * n + 1}`);
    await makeCertificate(folder, 'server', '/CN=weir', `subjectAltName=${['IP:127.0.0.1', ...names]}\nauthorityKeyIdentifier=keyid`);
    const tls = { TLS_CERT_FILE: join(folder, 'server.pem'), TLS_KEY_FILE: join(folder, 'server.key') };
    const own = { HOST: '0.0.0.0', PORT: String(port), FEED_REBUILD_SECONDS: '0', DRAIN_SECONDS: '0' };
    settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), BOOTSTRAP_API_KEY: KEY, ...own, ...tls };
    weir = await startWeir(settings);
    await commandText(['feed', 'create', 'edge', '--all-lists', '--workspace', 'default'], settings);
    const entries = NETWORKS.map((address) => ({ type: 'access_rules', action: 'block', ip: address, expiration: 3600 }));
    const posted = ['-fsS', '--cacert', join(folder, 'ca.pem'), '-H', `Authorization: Bearer ${KEY}`, '-d', JSON.stringify(entries)];
    await run('curl', [...posted, `https://127.0.0.1:${port}/v1/signal`]);
  });
  after(async () => {
    for (const close of open.reverse()) await close();
    await weir.kill('SIGKILL');
  });

  /** A host that reaches weir; its changed files are in `changes`. */
  async function host(python = PYTHONS[0]!, systemd = true) {
    const n = spaces++;
    const name = `we${process.pid}-${n}`;
    const [here, there] = [`wea${process.pid % 100_000}${n}`, `web${process.pid % 100_000}${n}`];
    const ip = (...args: string[]) => run('ip', args);
    await ip('netns', 'add', name);
    open.push(() => ip('netns', 'del', name));
    await ip('link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', name);
    await ip('addr', 'add', `${prefix}.${4 * n + 1}/30`, 'dev', here);
    await ip('link', 'set', here, 'up');
    await ip('-n', name, 'addr', 'add', `${prefix}.${4 * n + 2}/30`, 'dev', there);
    await ip('-n', name, 'link', 'set', there, 'up');
    const at = (...parts: string[]) => join(folder, `host-${n}`, ...parts);
    for (const each of ['bin', 'stub', 'changes', 'work']) mkdirSync(at(each), { recursive: true });
    symlinkSync(python, at('bin/python3'));
    writeFileSync(at('bin/systemctl'), SYSTEMCTL);
    chmodSync(at('bin/systemctl'), 0o755);
    const env = {
      ...{ PATH: `${at('bin')}:${process.env.PATH}`, CHANGES: at('changes'), WORK: at('work'), STUB: at('stub') },
      ...{
        SYSTEMD: systemd ? '1' : '',
        CURL_CA_BUNDLE: join(folder, 'ca.pem'),
        SSL_CERT_FILE: join(folder, 'ca.pem'),
        WEIR_FOLLOW_STATE: at('stub/state'),
      },
    };
    const url = `https://${prefix}.${4 * n + 1}:${settings.PORT}`;
    const machine = spawn('ip', ['netns', 'exec', name, 'unshare', '-m', 'sh', '-c', HOST], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    open.push(() => machine.kill('SIGKILL'));
    await once(machine.stdout, 'data');
    const within = (...command: string[]): Promise<Result> =>
      run('nsenter', ['-t', String(machine.pid), '-m', '-n', ...command], { env }).then(
        ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
        ({ code, stdout, stderr }) => ({ code, output: stdout + stderr }),
      );
    open.push(() => within('systemctl', 'disable', '--now', 'weir-follow'));
    return {
      ...{ name, url, at, within },
      /** The code of a new enrolment. */
      async code(name_ = name, ...options: string[]) {
        const made = await commandJson<{ code: string; command: string }>(
          ['device', 'enroll', name_, '--feed', 'edge', '--workspace', 'default', ...options],
          { ...settings, BASE_URL: url },
        );
        assert.ok(made.command.includes(`'${url}/enroll/${made.code}'`), made.command);
        return made.code;
      },
      enroll: (code: string, ...args: string[]) => within('sh', '-c', `curl -fsS '${url}/enroll/${code}' | sh -s -- "$@"`, 'sh', ...args),
      /** The files that differ from those before. */
      changed: () =>
        globSync('**', { cwd: at('changes') }).filter((path) => statSync(at('changes', path), { throwIfNoEntry: false })?.isFile()),
      tables: async () => (await run('ip', ['netns', 'exec', name, 'nft', 'list', 'tables'])).stdout,
      sets: async () => (await run('ip', ['netns', 'exec', name, 'nft', 'list', 'table', 'inet', 'weir_follow'])).stdout,
    };
  }
  const INSTALLED = ['etc/systemd/system/weir-follow.service', 'etc/weir/follow.env', 'usr/local/sbin/weir-follow'];
  type Bouncers = readonly {
    readonly key_name: string;
    readonly user_agent: string | null;
    readonly enforced?: { readonly verdict: string } | null;
  }[];

  for (const [i, python] of PYTHONS.entries()) {
    test(`D52.6, D52.7 ${i === 0 ? 'a host' : python}: the script says what it would do, does it once, and all of it can be removed`, async () => {
      const one = await host(python);
      const code = await one.code();
      const plan = await one.enroll(code);
      assert.deepEqual([plan.code, one.changed(), await one.tables()], [0, [], ''], plan.output);
      assert.match(plan.output, new RegExp(`'${one.url}/enroll/${code}' \\| sh -s -- --yes$`, 'm'));
      const done = await one.enroll(code, '--yes');
      assert.equal(done.code, 0, done.output);
      assert.match(done.output, /This host is enrolled at .* Changed: \/etc\/weir\/follow\.env .*weir-follow\.service$/m);
      assert.deepEqual(one.changed().toSorted(), INSTALLED);
      assert.deepEqual(
        INSTALLED.map((path) => (statSync(one.at('changes', path)).mode & 0o777).toString(8)),
        ['644', '600', '755'],
      );
      for (const network of NETWORKS) assert.ok((await one.sets()).includes(network));
      await eventually(async () => {
        const rows = await commandJson<Bouncers>(['bouncer', 'ls', '--workspace', 'default'], settings);
        const [row, ...more] = rows.filter(({ key_name: name }) => name === one.name);
        assert.deepEqual([row?.enforced?.verdict, /^weir-follow\//.test(row?.user_agent ?? ''), more.length], ['same', true, 0]);
      }, 60_000);
      const times = () => INSTALLED.map((path) => statSync(one.at('changes', path)).mtimeMs);
      const before_ = times();
      const again = await one.enroll(await one.code('unused'), '--yes');
      assert.deepEqual([again.code, times()], [0, before_], again.output);
      assert.match(again.output, /is enrolled at .* already\. Nothing was changed, and the code was not used/);
      const open_ = await commandJson<{ name: string }[]>(['device', 'codes', '--workspace', 'default'], settings);
      assert.ok(open_.some(({ name }) => name === 'unused'));
      const removed = await one.within('weir-follow', 'uninstall', '--yes');
      assert.deepEqual(
        [removed.code, one.changed(), await one.tables(), existsSync(one.at('stub/state'))],
        [0, [], '', false],
        removed.output,
      );
      assert.ok(!existsSync(one.at('stub/enabled')));
    });
  }

  test('D52.6 what is missing is named, nothing is changed, and the code stays valid', async () => {
    const one = await host();
    const code = await one.code();
    const refused = async (expected: RegExp, ...command: string[]) => {
      const { code: exit, output } = await one.within(...command, 'sh', '-c', `curl -fsS '${one.url}/enroll/${code}' | sh -s -- --yes`);
      assert.deepEqual([exit, expected.test(output), one.changed(), await one.tables()], [1, true, [], ''], output);
    };
    await refused(/this needs root\. Nothing was changed/, 'setpriv', '--reuid', '65534', '--clear-groups');
    await refused(
      /the packet filter does not work: .*the code was not used/s,
      'setpriv',
      '--bounding-set',
      '-net_admin',
      '--inh-caps',
      '-net_admin',
    );
    const old = one.at('old');
    mkdirSync(old);
    writeFileSync(join(old, 'python3'), '#!/bin/sh\n[ "$1" = --version ] && echo Python 3.8.10\nexit 1\n');
    chmodSync(join(old, 'python3'), 0o755);
    await refused(/Python 3\.8\.10 is too old: weir-follow needs Python 3\.9 or newer/, 'env', `PATH=${old}:${process.env.PATH}`);
    for (const [args, expected] of [
      [['--force'], /there is no option --force/],
      [['--yes', '--driver', 'iptables'], /the driver must be nftables or ipset/],
      [['--driver'], /--driver needs a value/],
    ] as const) {
      const { code: exit, output } = await one.enroll(code, ...args);
      assert.deepEqual([exit, expected.test(output), one.changed()], [1, true, []], output);
    }
    const wrong = await one.enroll('a'.repeat(32), '--yes');
    assert.deepEqual(
      [wrong.code, /weir refused the code \(404\): This code is unknown/.test(wrong.output), one.changed()],
      [1, true, []],
      wrong.output,
    );
    assert.equal((await one.enroll(code, '--yes')).code, 0);
  });

  test('D52.7 the settings of another weir stay, and a run that was interrupted continues', async () => {
    const one = await host();
    mkdirSync(one.at('changes/etc/weir'), { recursive: true });
    const env = one.at('changes/etc/weir/follow.env');
    writeFileSync(env, 'WEIR_URL=https://other.example.com\nWEIR_API_KEY=weir_x\n');
    const other = await one.enroll(await one.code(), '--yes');
    assert.deepEqual([other.code, /belongs to another weir \(https:\/\/other\.example\.com\)/.test(other.output)], [1, true], other.output);
    assert.deepEqual(one.changed(), ['etc/weir/follow.env']);
    const key = await commandJson<{ key: string }>(
      ['key', 'create', '--feed', 'edge', '--name', 'by hand', '--workspace', 'default'],
      settings,
    );
    writeFileSync(env, `WEIR_URL=${one.url}\nWEIR_API_KEY=${key.key}\n`);
    const done = await one.enroll('b'.repeat(32), '--yes');
    assert.deepEqual([done.code, one.changed().toSorted()], [0, INSTALLED], done.output);
  });

  test('D52.6 without systemd no unit is installed; with ipset the settings name it', async () => {
    const one = await host(PYTHONS[0], false);
    const made = await one.enroll(await one.code('sets', '--driver', 'ipset'), '--yes', '--driver', 'ipset');
    assert.deepEqual([made.code, one.changed().toSorted()], [0, INSTALLED.slice(1)], made.output);
    assert.match(made.output, /systemd does not run here: start \/usr\/local\/sbin\/weir-follow with your own supervisor/);
    const { output } = await one.within('cat', '/etc/weir/follow.env');
    assert.match(output, /^WEIR_URL=.*\nWEIR_API_KEY=weir_[\w-]{43}\nWEIR_FOLLOW_DRIVER=ipset\n$/);
    assert.equal((await one.within('weir-follow', '--once')).code, 0);
    const again = await one.enroll('c'.repeat(32), '--yes');
    assert.deepEqual([again.code, /Nothing was changed/.test(again.output)], [0, true], again.output);
    assert.equal((await one.within('weir-follow', 'uninstall', '--yes')).code, 0);
    assert.deepEqual([one.changed(), existsSync(one.at('stub/calls'))], [[], false]);
  });
});
