// Programs and files with fixed times, modes and order.
import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, lutimesSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The standard output of a program; throws when it fails. */
export const run = (program, ...args) => runIn(undefined, program, ...args);

export const runIn = (cwd, program, ...args) =>
  execFileSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] });

/** Writes a file with its folders. */
export function put(folder, path, content, mode = 0o644) {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  chmodSync(file, mode);
}

/** All paths below a folder, folders before their content, sorted by bytes. */
export function* pathsIn(folder, below = '') {
  for (const name of readdirSync(join(folder, below)).sort()) {
    const path = join(below, name);
    const entry = lstatSync(join(folder, path));
    yield { path, entry };
    if (entry.isDirectory()) yield* pathsIn(folder, path);
  }
}

/** Some packages mark texts as executable. */
const isProgram = (path, { mode }) => (mode & 0o100) !== 0 && !/\.(?:js|json|md)$/.test(path);

/** Gives every file the time of the commit, and a mode that does not depend on the umask. `modes`: by path, for other modes. */
export function normalize(folder, epoch, modes = {}) {
  for (const { path, entry } of [...pathsIn(folder)].reverse()) {
    const file = join(folder, path);
    if (!entry.isSymbolicLink()) chmodSync(file, modes[path] ?? (entry.isDirectory() || isProgram(path, entry) ? 0o755 : 0o644));
    lutimesSync(file, epoch, epoch);
  }
  chmodSync(folder, 0o755);
  lutimesSync(folder, epoch, epoch);
}

/** A tar archive of `names` in `folder`, gzipped, equal for equal content. */
export function tarball(file, epoch, folder, names) {
  const order = ['--sort=name', '--format=ustar', `--mtime=@${epoch}`, '--owner=0', '--group=0', '--numeric-owner'];
  // A level and no name or time in gzip's header.
  run('tar', ...order, '--use-compress-program=gzip -6n', '-cf', file, '-C', folder, ...names);
}
