/** DATA_DIR and the machine around it: what is written is private, and what cannot be used is one sentence. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { needs } from '../support/programs.ts';
import { eventually, KEY, startWeir, testEnvironment, weir } from '../support/weir.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const modes = (folder: string) => Object.fromEntries(readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777]));

// What most machines start a process with; every weir of this file inherits it.
process.umask(0o022);

suite('modes', () => {
  test("D1.10 the databases of a server and of a command are their user's alone", async (t) => {
    const folder = temporaryFolder(t);
    const [served, commanded] = ['served', 'commanded'].map((name) => join(folder, name));
    const server = await startWeir({ ...smallGeo(folder), DATA_DIR: served, BOOTSTRAP_API_KEY: KEY });
    t.after(() => server.kill('SIGKILL'));
    assert.equal((await weir(['org', 'create', 'acme'], { DATA_DIR: commanded })).code, 0);
    for (const dataDir of [served, commanded]) {
      assert.equal(statSync(dataDir).mode & 0o777, 0o700);
      assert.ok(readdirSync(dataDir).includes('weir.db'));
      for (const [name, mode] of Object.entries(modes(dataDir))) assert.equal(mode, 0o600, name);
    }
    assert.doesNotMatch(server.output().stderr, /DATA_DIR/);
  });

  test('D1.10 a DATA_DIR that is open to others is told in one warning with the open files in it, and left as it is', async (t) => {
    const folder = temporaryFolder(t);
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir, { mode: 0o755 });
    writeFileSync(join(dataDir, 'old.db'), '', { mode: 0o644 });
    writeFileSync(join(dataDir, 'secret.db'), '', { mode: 0o600 });
    const server = await startWeir({ ...smallGeo(folder), DATA_DIR: dataDir, BOOTSTRAP_API_KEY: KEY });
    t.after(() => server.kill('SIGKILL'));
    await eventually(() => {
      const lines = server.output().stderr.split('\n');
      const warnings = lines.filter((line) => line.includes('DATA_DIR')).map((line) => JSON.parse(line) as { level: string; msg: string });
      assert.deepEqual(
        warnings.map(({ level, msg }) => [level, msg]),
        [
          [
            'warn',
            `DATA_DIR is accessible to others than its owner: ${dataDir} (0755), old.db (0644); restrict it with: chmod -R go= ${dataDir}`,
          ],
        ],
      );
    });
    assert.equal(statSync(dataDir).mode & 0o777, 0o755);
    assert.equal(modes(dataDir)['old.db'], 0o644);
  });
});

suite('a machine that cannot be used', () => {
  const AS_ROOT = process.getuid?.() === 0;
  /** Takes root's right to write where the modes forbid it. */
  const bound = AS_ROOT ? ['setpriv', '--bounding-set', '-dac_override'] : [];
  /** In a mount namespace of its own, where $1 is read-only. */
  const READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"';

  const CASES: Record<string, { dataDir(folder: string): string; within?(folder: string): string[]; says: RegExp }> = {
    'a DATA_DIR that may not be written': {
      dataDir(folder) {
        chmodSync(folder, 0o555);
        return folder;
      },
      within: () => bound,
      says: /^weir: DATA_DIR \S+ cannot be written to: permission denied\n$/,
    },
    'a DATA_DIR that may not be made': {
      dataDir(folder) {
        chmodSync(folder, 0o555);
        return join(folder, 'data');
      },
      within: () => bound,
      says: /^weir: DATA_DIR \S+ cannot be created: permission denied\n$/,
    },
    'a DATA_DIR where no folder can be made': {
      dataDir: () => '/proc/weir/data',
      says: /^weir: DATA_DIR \S+ cannot be created: no such file or directory\n$/,
    },
    'a read-only disk': {
      dataDir: (folder) => folder,
      within: (folder) => ['unshare', ...(AS_ROOT ? [] : ['--user', '--map-root-user']), '--mount', 'sh', '-ec', READ_ONLY, 'sh', folder],
      says: /^weir: DATA_DIR \S+ cannot be written to: read-only file system\n$/,
    },
    'a read-only disk without the folder': {
      dataDir: (folder) => join(folder, 'data'),
      within: (folder) => ['unshare', ...(AS_ROOT ? [] : ['--user', '--map-root-user']), '--mount', 'sh', '-ec', READ_ONLY, 'sh', folder],
      says: /^weir: DATA_DIR \S+ cannot be created: read-only file system\n$/,
    },
  };
  // A disk in memory with a store on it, filled to the last byte.
  const FULL =
    'mount -t tmpfs -o size=8m,mode=0700 none "$1" && "$2" "$3" org create acme >/dev/null && (umask 077; cat /dev/zero > "$1/rest" 2>/dev/null || true) && ("$2" "$3" doctor || true) && exec "$2" "$3" serve';
  test('D1.25 D49.6 a disk that is full at the start: one sentence, exit 1, so that the service is started again; doctor names it', {
    skip: needs('unshare'),
  }, async (t) => {
    const folder = temporaryFolder(t);
    const env = testEnvironment({ DATA_DIR: folder, BOOTSTRAP_API_KEY: KEY });
    const args = [...(AS_ROOT ? [] : ['--user', '--map-root-user']), '--mount', 'sh', '-ec', FULL, 'sh', folder, process.execPath, MAIN];
    const ended = promisify(execFile)('unshare', args, { env, timeout: 60_000, killSignal: 'SIGKILL' });
    await assert.rejects(ended, (error: { code: number; stdout: string; stderr: string }) => {
      assert.match(error.stderr, /^weir: .*the disk of DATA_DIR is full\n$/);
      assert.match(error.stdout, /^disk +fault +the disk of DATA_DIR is full +free space/m);
      assert.equal(error.code, 1);
      return true;
    });
  });

  for (const [what, { dataDir, within, says }] of Object.entries(CASES)) {
    test(`D1.7 ${what}: one readable sentence, exit code 2`, { skip: needs('setpriv', 'unshare') }, async (t) => {
      const folder = temporaryFolder(t);
      const env = testEnvironment({ DATA_DIR: dataDir(folder) });
      for (const args of [['serve'], ['org', 'create', 'acme']]) {
        const [program, ...rest] = [...(within?.(folder) ?? []), process.execPath, MAIN, ...args];
        // Killed, not asked: a server that hangs in its start would not hear it.
        const ended = promisify(execFile)(program, rest, { env, timeout: 60_000, killSignal: 'SIGKILL' });
        await assert.rejects(ended, (error: { code: number; stdout: string; stderr: string }) => {
          assert.match(error.stderr, says);
          assert.deepEqual([error.code, error.stdout], [2, '']);
          return true;
        });
      }
    });
  }

  for (const HOME of [undefined, '/dev/null/none']) {
    test(`D1.7 HOME is ${HOME ?? 'missing'}: weir does not need it`, async (t) => {
      const folder = temporaryFolder(t);
      // Without guard rails a first start says so.
      const settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), MIN_PREFIX_V4: '8', HOME };
      const server = await startWeir({ ...settings, BOOTSTRAP_API_KEY: KEY });
      t.after(() => server.kill('SIGKILL'));
      const { code, stderr } = await weir(['org', 'ls'], settings);
      assert.deepEqual([code, stderr, server.output().stderr], [0, '', '']);
    });
  }
});
