/** Programs of Python that tests run: packages of PyPI, in a folder of the project. */
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { again, needs } from './programs.ts';

const CACHE = fileURLToPath(new URL('../../.cache/', import.meta.url));

/** A module of Python with all that it needs, each `name==version`. */
export interface PythonModule {
  readonly module: string;
  readonly packages: readonly string[];
}

const folderOf = ({ module, packages }: PythonModule) =>
  join(CACHE, `${module}-${createHash('sha256').update(packages.join()).digest('hex').slice(0, 12)}`);

/** The environment in which Python finds it. */
export const pythonEnv = (of: PythonModule) => ({ ...process.env, PYTHONPATH: folderOf(of) });

const isInstalled = (of: PythonModule) => spawnSync('python3', ['-c', `import ${of.module}`], { env: pythonEnv(of) }).status === 0;

/** Why it cannot be run here, or false. Without CI it is not installed. */
export function withoutModule(of: PythonModule): string | false {
  const missing = needs('python3', 'pip3', 'flock');
  if (missing !== false || process.env.CI || isInstalled(of)) return missing;
  return `needs ${of.module} (PyPI), which is installed into ${folderOf(of)} with CI=1`;
}

/** Installs it where it is not there. */
export async function installModule(of: PythonModule, signal: AbortSignal): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  if (isInstalled(of)) return;
  const folder = folderOf(of);
  const install = [
    'pip3',
    'install',
    '--quiet',
    '--no-deps',
    '--disable-pip-version-check',
    '--target',
    folder,
    '--upgrade',
    ...of.packages,
  ];
  await again(() => promisify(execFile)('flock', [`${folder}.lock`, ...install], { signal }), signal);
}
