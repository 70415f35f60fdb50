/** A fresh clone: what README says works as pasted, with the Node that happens to be there (decisions, section 1). */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SETTINGS } from '../../src/config.ts';
import { temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/http.ts';
import { needs } from '../support/programs.ts';
import { eventually } from '../support/weir.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ADDRESS = 'http://127.0.0.1:8080';

/** The machine's environment, without the settings of weir and without this checkout's Node and npm run. */
function machine(): NodeJS.ProcessEnv {
  const settings = new Set(Object.values(SETTINGS).map(({ variable }) => variable));
  const own = /^(NODE.*|INIT_CWD|npm_(package_.*|lifecycle_.*|command|execpath|node_execpath|config_local_prefix))$/;
  const kept = Object.entries(process.env).filter(([name]) => !settings.has(name) && !own.test(name));
  const path = process.env.PATH!.split(delimiter).filter((folder) => !folder.includes('node_modules'));
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter) };
}

/** The shell lines of a text in Markdown, block by block. */
const shellBlocks = (markdown: string) => [...markdown.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, lines]) => lines);

suite('a fresh clone', () => {
  const folder = temporaryFolder({ after });
  const clone = join(folder, 'weir');
  const children: ChildProcess[] = [];
  let env: NodeJS.ProcessEnv;
  let url: string;
  let startLine: string;
  let curlLines: string;

  before(async () => {
    await promisify(execFile)('git', ['clone', '-q', ROOT, clone]);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    // What this checkout was installed from is in npm's cache: how the registry does today is not tested.
    env = { ...machine(), PORT: String(port), npm_config_prefer_offline: 'true' };
    [startLine, curlLines] = shellBlocks(readFileSync(join(clone, 'README.md'), 'utf8')).filter((lines) => /npm start|curl/.test(lines));
  });
  // Each was made the leader of a group of its own.
  afterEach(() => {
    for (const { pid, exitCode } of children) if (exitCode === null) kill(-pid!, 'SIGKILL');
  });

  function kill(pid: number, signal: NodeJS.Signals): void {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  /** Runs a shell line as a terminal does and resolves at the ready line. */
  async function start(line: string) {
    const child = spawn('sh', ['-c', `exec env ${line}`], { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    children.push(child);
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text));
    const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
    const ended = exited.then((code) => assert.fail(`it ended with ${code}: ${output.stderr}`));
    await Promise.race([ended, eventually(() => assert.match(output.stdout, /^weir ready on /m), 300_000)]);
    return { pid: child.pid!, output, exited };
  }

  const weir = (args: string[], cwd = clone) => promisify(execFile)(args[0], args.slice(1), { cwd, env });

  /** A POST of which the end is held back. */
  async function postInFlight() {
    const { hostname, port } = new URL(url);
    const key = /BOOTSTRAP_API_KEY=(\S+)/.exec(startLine)![1];
    const body = '[{"type":"access_rules","action":"block","ip":"192.0.2.2"}]';
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
    });
    const head = `POST /v1/signal HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${body.length}`;
    socket.write(`${head}\r\nExpect: 100-continue\r\n\r\n`);
    await eventually(() => assert.equal(answer, 'HTTP/1.1 100 Continue\r\n\r\n'));
    answer = '';
    socket.write('[');
    return async () => {
      await eventually(() => assert.rejects(fetch(`${url}/healthz`)));
      socket.write(body.slice(1));
      await eventually(() => assert.match(answer, /^HTTP\/1\.1 200 /));
      socket.destroy();
    };
  }

  test('D1.2, D46.5 npm start installs what it needs and starts, and the lines of README work as pasted, in less than two minutes', async () => {
    const began = performance.now();
    const { pid, output, exited } = await start(startLine);
    assert.match(output.stderr, /^weir: installing packages/m);
    assert.ok(output.stdout.endsWith(`weir ready on ${url}\n`));
    await eventually(async () => {
      const pasted = await promisify(execFile)('sh', ['-c', curlLines.replaceAll(ADDRESS, url)], { env });
      assert.match(
        pasted.stdout,
        /^\{"success":true,"message":"Processed 1 entries, 0 failed"\}192\.0\.2\.1\/32\n# default\n#\n# action: block\n# family: v4\n# generated: \S+\n# entries: 1\n192\.0\.2\.1\/32\n$/,
      );
      assert.equal(pasted.stderr, '');
    });
    assert.ok(performance.now() - began < 120_000, 'two minutes');
    assert.equal(statSync(join(clone, 'data')).mode & 0o777, 0o700);
    const modules = join(clone, 'node_modules');
    assert.ok(!existsSync(join(modules, 'typescript')));
    assert.ok(Number.parseInt(execFileSync('du', ['-sm', modules], { encoding: 'utf8' }), 10) <= 360, 'MB');

    // Ctrl-C: the terminal sends it to npm, to the shell and to weir; npm passes its own on.
    const finish = await postInFlight();
    process.kill(-pid, 'SIGINT');
    await finish();
    await exited;
  });

  test('D1.2, D1.4 a second start installs nothing; npm that is told to stop stops weir', async () => {
    const { pid, output, exited } = await start(startLine);
    assert.doesNotMatch(output.stderr, /installing/);
    const finish = await postInFlight();
    process.kill(pid, 'SIGTERM');
    await finish();
    await exited;
  });

  test('D1.7, D1.4 ./weir COMMAND and npm run -s weir -- COMMAND, beside ./weir serve; exit codes are passed on', async () => {
    const { pid, output, exited } = await start('./weir serve');
    assert.doesNotMatch(output.stderr, /installing/);
    const direct = await weir(['./weir', 'rule', 'ls', '--workspace', 'default', '--json']);
    assert.deepEqual((JSON.parse(direct.stdout) as { target: string }[]).map(({ target }) => target).sort(), ['192.0.2.1', '192.0.2.2']);
    const throughNpm = await weir(['npm', 'run', '-s', 'weir', '--', 'rule', 'ls', '--workspace', 'default', '--json']);
    assert.deepEqual([throughNpm.stdout, throughNpm.stderr, direct.stderr], [direct.stdout, '', '']);
    const elsewhere = await promisify(execFile)(join(clone, 'weir'), ['rule', 'ls', '--workspace', 'default', '--json'], {
      cwd: folder,
      env: { ...env, DATA_DIR: join(clone, 'data') },
    });
    assert.equal(elsewhere.stdout, direct.stdout);
    for (const args of [
      ['./weir', 'brew'],
      ['npm', 'run', '-s', 'weir', '--', 'brew'],
    ]) {
      await assert.rejects(weir(args), { code: 2, stderr: "weir: unknown command 'brew'\n" });
    }
    const finish = await postInFlight();
    process.kill(pid, 'SIGTERM');
    await finish();
    assert.equal(await exited, 0);
  });

  test('D1.2 the clone holds nothing but what git knows, node_modules and data; the Node is new enough', () => {
    const status = execFileSync('git', ['status', '--porcelain', '--ignored'], { cwd: clone, encoding: 'utf8' });
    assert.deepEqual(status.trimEnd().split('\n').sort(), ['!! data/', '!! node_modules/']);
    const bin = join(clone, 'node_modules', '.bin', 'node');
    const version = execFileSync(existsSync(bin) ? bin : 'node', ['--version'], { encoding: 'utf8', env });
    assert.match(version, /^v(24\.(1[5-9]|[2-9]\d)|2[5-9]|[3-9]\d)\./);
  });
});

suite('the installation', () => {
  const folder = temporaryFolder({ after });
  const clone = join(folder, 'weir');
  const claim = join(clone, '.installing');
  /** Stands before npm in PATH: says what it was given, and installs nothing, or the packages of a folder. */
  const stub = join(folder, 'stub');
  const NPM = `#!/bin/sh
[ "$1" = --version ] && { echo "\${STUB_VERSION:-11.0.0}"; exit; }
echo "npm $*, cache $npm_config_cache" >&2
touch "$npm_config_cache/used"
[ -n "$STUB_SECONDS" ] && exec sleep "$STUB_SECONDS"
[ -n "$STUB_MODULES" ] || exit 1
cp -al "$STUB_MODULES" node_modules 2>/dev/null || { rm -rf node_modules; cp -a "$STUB_MODULES" node_modules; }
rm -rf node_modules/.cache
`;

  before(async () => {
    await promisify(execFile)('git', ['clone', '-q', ROOT, clone]);
    mkdirSync(stub);
    writeFileSync(join(stub, 'npm'), NPM, { mode: 0o755 });
  });

  const run = (settings: Record<string, string>, [program, ...args]: string[] = ['./weir', '--help']) => {
    const env: NodeJS.ProcessEnv = { ...machine(), npm_config_prefer_offline: 'true', ...settings };
    return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
      execFile(program, args, { cwd: clone, env }, (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }));
    });
  };
  const stubbed = { PATH: `${stub}${delimiter}${machine().PATH}` };

  test('D1.2 npm gets a temporary cache where the user has no home; a failed installation leaves nothing behind', async () => {
    const { code, stderr } = await run({ ...stubbed, HOME: '/dev/null/none', npm_config_cache: '' });
    const [, cache] = /^npm ci .*, cache (\S+)$/m.exec(stderr) ?? assert.fail(stderr);
    assert.ok(!existsSync(cache), 'it is removed');
    assert.equal(code, 1);
    assert.match(stderr, /^weir: the packages could not be installed; see the lines above\n$/m);
    assert.equal(execFileSync('git', ['status', '--porcelain', '--ignored'], { cwd: clone, encoding: 'utf8' }), '');
  });

  test('D1.7 an npm that is too old, and a folder that cannot be written to: one readable sentence, exit code 2', {
    skip: needs('setpriv'),
  }, async () => {
    assert.deepEqual(await run({ ...stubbed, STUB_VERSION: '6.14.18' }), {
      code: 2,
      stdout: '',
      stderr: 'weir: needs npm 7 or newer to install its packages, found 6.14.18\n',
    });
    chmodSync(clone, 0o555);
    const bound = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override'] : [];
    const locked = await run({}, [...bound, './weir', '--help']);
    chmodSync(clone, 0o755);
    assert.deepEqual([locked.code, locked.stdout], [2, '']);
    assert.match(
      locked.stderr,
      /^weir: the packages are not installed, and \S+ cannot be written to: run \S+weir --help once as its owner\n$/,
    );
  });

  test('D1.2 a start that is stopped while it installs stops npm too and lets others install', async () => {
    const child = spawn('./weir', ['--help'], { cwd: clone, env: { ...machine(), ...stubbed, STUB_SECONDS: '600' }, stdio: 'ignore' });
    const exited = new Promise((resolve) => child.on('exit', resolve));
    const [, npm] = await eventually(() => /^\d+ (\d+)$/.exec(readFileSync(claim, 'utf8')) ?? assert.fail('npm runs'), 60_000);
    child.kill('SIGTERM');
    await exited;
    assert.throws(() => process.kill(Number(npm), 0), { code: 'ESRCH' });
    assert.ok(!existsSync(claim));
  });

  test('D1.2 two first starts at once: one takes over from a dead one and installs, the other waits and says for whom', async () => {
    const { pid: dead } = spawn('true');
    writeFileSync(claim, `${dead} `);
    const settings = { ...stubbed, npm_config_cache: folder, STUB_MODULES: join(ROOT, 'node_modules') };
    const results = await Promise.all([run(settings), run(settings)]);
    for (const { code, stdout, stderr } of results) {
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^Usage: weir /);
    }
    const told = results.map(({ stderr }) => [
      /^weir: installing packages/m.test(stderr),
      /^weir: waiting for process \d+, which installs/m.test(stderr),
    ]);
    assert.deepEqual(told.sort(), [
      [false, true],
      [true, false],
    ]);
    const status = execFileSync('git', ['status', '--porcelain', '--ignored'], { cwd: clone, encoding: 'utf8' });
    assert.equal(status, '!! node_modules/\n');
  });

  test('D46.4, D46.5 what npm has finished counts as installed, by whomever; what is missing, other or cut short is installed, what is there stays', async () => {
    const lock = join(clone, 'node_modules', '.package-lock.json');
    const whole = JSON.parse(readFileSync(lock, 'utf8')) as { packages: Record<string, { dev?: boolean; integrity?: string }> };
    const without = (isLeftOut: (path: string, dev: boolean) => boolean) =>
      Object.fromEntries(Object.entries(whole.packages).filter(([path, { dev = false }]) => !isLeftOut(path, dev)));
    const started = without((_, dev) => dev);
    const other = (path: string) => ({ ...whole.packages, [path]: { ...whole.packages[path], integrity: 'sha512-x' } });
    /** What npm is told to do where its own file names these packages; undefined: nothing. */
    const asked = async (packages: object | string | undefined, script: string, settings: Record<string, string> = {}) => {
      // The file is also that of the packages which were copied.
      rmSync(lock, { force: true });
      if (packages !== undefined) writeFileSync(lock, typeof packages === 'string' ? packages : JSON.stringify({ packages }));
      const { stderr } = await run({ ...stubbed, ...settings }, [process.execPath, 'scripts/run.mjs', script, '--version']);
      return /^npm (.*) --no-audit/m.exec(stderr)?.[1];
    };
    const [weir, development] = ['src/main.ts', 'scripts/spec.mjs'];
    for (const script of [weir, development]) assert.equal(await asked(whole.packages, script), undefined);
    assert.equal(await asked(started, weir), undefined);
    assert.equal(await asked(started, development), 'install --no-save --include=dev');
    // Packages of other machines are never there; a Node of the packages is needed where that of the machine is too old.
    assert.equal(
      await asked(
        without((path) => path.startsWith('node_modules/node-')),
        weir,
      ),
      undefined,
    );
    assert.equal(
      await asked(
        without((path) => path === 'node_modules/pino'),
        weir,
      ),
      'ci --include=dev',
    );
    assert.equal(await asked(other('node_modules/pino'), weir), 'ci --include=dev');
    assert.equal(await asked(other('node_modules/typescript'), weir), undefined);
    assert.equal(await asked(other('node_modules/typescript'), development), 'install --no-save --include=dev');
    for (const broken of [undefined, '', '{"packages":{"node_modules/pi']) assert.equal(await asked(broken, weir), 'ci --omit=dev');
    assert.equal(await asked(undefined, weir, { npm_config_omit: 'optional' }), 'ci --omit=dev --omit=optional');
    assert.ok(!existsSync(lock), 'an installation that failed counts as none');
  });
});
