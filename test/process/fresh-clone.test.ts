/** The installation of packages, with a program in place of npm. What README says of a fresh clone: `npm run test:clone`. */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '../support/folder.ts';
import { machine } from '../support/machine.ts';
import { needs } from '../support/programs.ts';
import { eventually } from '../support/weir.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

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
