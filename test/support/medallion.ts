/** The standard's own TAXII 2.1 server, from PyPI, in a folder of the project. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './http.ts';
import { installModule, pythonEnv, withoutModule } from './pypi.ts';

const MEDALLION = {
  module: 'medallion',
  packages: [
    'medallion==3.0.0',
    'flask==3.1.3',
    'flask-httpauth==4.8.1',
    'pytz==2026.6',
    'six==1.17.0',
    ...['blinker==1.9.0', 'click==8.5.1', 'itsdangerous==2.2.0', 'jinja2==3.1.6', 'markupsafe==3.0.4', 'werkzeug==3.1.9'],
  ],
};
const RUN = ['-c', 'from medallion.scripts.run import main; main()'];

/** Why it cannot be run here, or false. */
export const withoutMedallion = (): string | false => withoutModule(MEDALLION);

/** Starts it with the data of its memory backend; resolves with its address. Its users are those of `users`. */
export async function startMedallion(data: object, users: Record<string, string>, folder: string, signal: AbortSignal): Promise<string> {
  await installModule(MEDALLION, signal);
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
    env: pythonEnv(MEDALLION),
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
