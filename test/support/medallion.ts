/** The standard's own TAXII 2.1 server, from PyPI, in a folder of the project. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from './http.ts';
import { again, needs } from './programs.ts';

const PACKAGES = [
  'medallion==3.0.0',
  'flask==3.1.3',
  'flask-httpauth==4.8.1',
  'pytz==2026.6',
  'six==1.17.0',
  ...['blinker==1.9.0', 'click==8.5.1', 'itsdangerous==2.2.0', 'jinja2==3.1.6', 'markupsafe==3.0.4', 'werkzeug==3.1.9'],
];
const CACHE = fileURLToPath(new URL('../../.cache/', import.meta.url));
const FOLDER = join(CACHE, `medallion-${createHash('sha256').update(PACKAGES.join()).digest('hex').slice(0, 12)}`);
const RUN = ['-c', 'from medallion.scripts.run import main; main()'];

const isInstalled = () => spawnSync('python3', ['-c', 'import medallion'], { env: { ...process.env, PYTHONPATH: FOLDER } }).status === 0;

/** Why it cannot be run here, or false. Without CI it is not installed. */
export function withoutMedallion(): string | false {
  const missing = needs('python3', 'pip3', 'flock');
  if (missing !== false || process.env.CI || isInstalled()) return missing;
  return `needs medallion (PyPI), which is installed into ${FOLDER} with CI=1`;
}

/** Starts it with the data of its memory backend; resolves with its address. Its users are those of `users`. */
export async function startMedallion(data: object, users: Record<string, string>, folder: string, signal: AbortSignal): Promise<string> {
  mkdirSync(CACHE, { recursive: true });
  if (!isInstalled()) {
    const install = [
      'pip3',
      'install',
      '--quiet',
      '--no-deps',
      '--disable-pip-version-check',
      '--target',
      FOLDER,
      '--upgrade',
      ...PACKAGES,
    ];
    await again(() => promisify(execFile)('flock', [`${FOLDER}.lock`, ...install], { signal }), signal);
  }
  const port = await freePort();
  const [backend, config] = [join(folder, 'data.json'), join(folder, 'config.json')];
  writeFileSync(backend, JSON.stringify(data));
  writeFileSync(
    config,
    JSON.stringify({
      backend: { module: 'medallion.backends.memory_backend', module_class: 'MemoryBackend', filename: backend },
      users,
      taxii: { max_page_size: 7 },
    }),
  );
  const child = spawn('python3', [...RUN, '--port', String(port), config], {
    env: { ...process.env, PYTHONPATH: FOLDER },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  });
  let said = '';
  child.stderr.on('data', (piece: Buffer) => {
    said += piece.toString();
  });
  const ended = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`medallion ended: ${said}`)));
  });
  ended.catch(() => {});
  const url = `http://127.0.0.1:${port}`;
  const isUp = async (): Promise<void> => {
    while (!signal.aborted) {
      const answer = await fetch(url).catch(() => undefined);
      if (answer !== undefined) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  await Promise.race([ended, isUp()]);
  return url;
}
