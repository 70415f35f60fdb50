/** A fresh clone installs its packages, and what README says works as pasted, with the Node of the machine: `npm run test:clone`. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/http.ts';
import { machine } from '../support/machine.ts';
import { eventually } from '../support/weir.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ADDRESS = 'http://127.0.0.1:8080';

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
