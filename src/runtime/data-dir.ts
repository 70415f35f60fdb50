/** The folder of the embedded store and stream. */
import { accessSync, constants, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import { WeirError } from '../errors.ts';

/** Mode bits of group and others. */
const OTHERS = 0o077;

/** Creates DATA_DIR with mode 0700 if missing, and tests writing; throws a readable sentence. */
export function openDataDir(dataDir: string): void {
  attempt(`DATA_DIR ${dataDir} cannot be created`, () => makeFolder(resolve(dataDir)));
  requireWritable(dataDir);
}

/** Throws a readable sentence if the existing folder is none, or read-only. */
export function requireWritable(dataDir: string): void {
  if (!statSync(dataDir).isDirectory()) throw new WeirError('USAGE', `DATA_DIR ${dataDir} is a file, not a folder`);
  attempt(`DATA_DIR ${dataDir} cannot be written to`, () => accessSync(dataDir, constants.W_OK | constants.X_OK));
}

/** A warning if group or others have access; undefined: private, or no modes. */
export function dataDirWarning(dataDir: string): string | undefined {
  if (process.platform === 'win32') return undefined;
  const [folder, ...files] = ['.', ...readdirSync(dataDir).sort()]
    .map((name) => ({ name, mode: statSync(join(dataDir, name), { throwIfNoEntry: false })?.mode ?? 0 }))
    .filter(({ name, mode }) => name === '.' || (mode & OTHERS) !== 0)
    .map(({ name, mode }) => ({ mode, text: `${name === '.' ? dataDir : name} (${(mode & 0o7777).toString(8).padStart(4, '0')})` }));
  if ((folder.mode & OTHERS) === 0) return undefined;
  const open = [folder, ...files].map(({ text }) => text).join(', ');
  return `DATA_DIR is accessible to others than its owner: ${open}; restrict it with: chmod -R go= ${dataDir}`;
}

/** `mkdirSync` with `recursive` loops forever in /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it.
    if (!existsSync(path)) throw error;
  }
}

/** Runs `work`; an error becomes a sentence that begins with `failure`. */
export function attempt<T>(failure: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { errno } = error as NodeJS.ErrnoException;
    throw new WeirError('USAGE', `${failure}: ${errno === undefined ? (error as Error).message : getSystemErrorMessage(errno)}`);
  }
}
