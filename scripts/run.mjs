// Runs a script of the project with the right Node: `node scripts/run.mjs SCRIPT [ARG…]`. Installs the packages of the
// lock file first when they are missing or older than it, among them that Node. Written for any Node, because it runs
// before the right one is there.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const lock = createHash('sha256')
  .update(readFileSync(`${root}package-lock.json`))
  .digest('hex');
const stamp = `${root}node_modules/.installed`;

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
  process.stderr.write('weir: installing packages (once) …\n');
  try {
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: root, stdio: ['ignore', 2, 2] });
  } catch {
    process.stderr.write('weir: the packages could not be installed; see the lines above\n');
    process.exit(1);
  }
  writeFileSync(stamp, lock);
}

const node = existsSync(`${root}node_modules/.bin/node`) ? `${root}node_modules/.bin/node` : process.execPath;
const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
const [major, minor] = version.slice(1).split('.').map(Number);
if (major < 24 || (major === 24 && minor < 15)) {
  process.stderr.write(
    `weir: needs Node 24.15 or newer, found ${version}, and no package of it exists for ${process.platform}-${process.arch}\n`,
  );
  process.exit(1);
}

const [script, ...args] = process.argv.slice(2);
const bin = `${root}node_modules/.bin`;
const child = spawn(node, [`${root}${script}`, ...args], { stdio: 'inherit', env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
// npm hands a signal to the shell between it and this process, which dies of it and tells nobody.
const parent = process.ppid;
if (process.env.npm_lifecycle_event !== undefined) {
  setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 250).unref();
}
child.on('exit', (code, signal) => {
  process.exitCode = code ?? 1;
  if (signal !== null) process.stderr.write(`weir: ended by ${signal}\n`);
});
