/**
 * The program of the client library of bouncers. `npm test` runs this file first of all, at the lowest priority: a first build takes a
 * minute of CPU, which must not be missing where tests run servers. Whoever needs the program waits for that build, or makes it.
 */
import { execFile } from 'node:child_process';
import { chmodSync, globSync, mkdirSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { again, needs } from './programs.ts';

const run = promisify(execFile);
/** The names of all modules that are downloaded. */
const BIG = { maxBuffer: 1 << 24 };
const SOURCE = fileURLToPath(new URL('../integrations/bouncer-library/', import.meta.url));
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/bouncer-library/', import.meta.url));

/** The Go that the module of the library asks for, as a module: one before 1.21 does not get it by itself. */
const TOOLCHAIN = `golang.org/toolchain@v0.0.1-go1.25.2.linux-${process.arch === 'x64' ? 'amd64' : process.arch}`;

/** Why the library cannot be built here, or false. */
export const withoutLibrary = () => needs('go', 'flock');

/** Builds the program of the library unless that is done; resolves with its path. One process builds at a time. */
export async function bouncerLibrary(signal: AbortSignal): Promise<string> {
  mkdirSync(CACHE, { recursive: true });
  const [program, lock] = [join(CACHE, 'program'), join(CACHE, 'lock')];
  // What makes programs fast or small to debug is left out.
  const lean = ['-buildvcs=false', '-tags=nethttpomithttp2', '-gcflags=all=-N -l -dwarf=false -c=1', '-ldflags=-s -w'];
  const env = { ...process.env, CGO_ENABLED: '0', GOGC: 'off', GOMAXPROCS: '1' };
  const build = [await goProgram(signal), 'build', '-p', '1', ...lean, '-o', program, '.'];
  await again(() => run('flock', ['--no-fork', lock, ...build], { cwd: SOURCE, env, signal, ...BIG }), signal);
  return program;
}

/** The program that builds: Go, or a newer one from the module proxy. */
async function goProgram(signal: AbortSignal): Promise<string> {
  const { stdout: version } = await run('go', ['env', 'GOVERSION'], { cwd: tmpdir(), signal });
  const [major, minor] = version.trim().slice(2).split('.').map(Number);
  if (major! > 1 || minor! >= 21) return 'go';
  const { stdout } = await again(() => run('go', ['mod', 'download', '-json', TOOLCHAIN], { cwd: tmpdir(), signal }), signal);
  const { Dir } = JSON.parse(stdout) as { Dir: string };
  // Files of modules are for reading only.
  for (const program of globSync(['bin/*', 'pkg/tool/*/*'], { cwd: Dir })) chmodSync(join(Dir, program), 0o755);
  return join(Dir, 'bin/go');
}

if (import.meta.main) {
  setPriority(constants.priority.PRIORITY_LOW);
  const ended = new AbortController();
  process.once('SIGTERM', () => ended.abort());
  // The test that needs the library tells what went wrong.
  if (withoutLibrary() === false) await bouncerLibrary(ended.signal).catch(() => {});
}
