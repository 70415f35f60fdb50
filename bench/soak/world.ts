/** What a soak runs against: one real `weir serve`, its tenants, and a bare server that is asked beside it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PERMISSIONS } from '../../src/account/permission.ts';
import { commandText, newKey, newTenant } from '../../test/support/command.ts';
import { administer, startPostgres } from '../../test/support/postgres.ts';
import { startWeir, type Weir } from '../../test/support/weir.ts';

export interface Tenants {
  readonly workspaceId: string;
  /** A key with all permissions, and one of bouncers. */
  readonly key: string;
  readonly bouncerKey: string;
}

export interface SoakWorld {
  readonly weir: Weir;
  readonly tenants: readonly Tenants[];
  /** Address of the bare server. */
  readonly bare: string;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  /** The clock of weir, ms since 1970. */
  now(): number;
  stop(): Promise<void>;
}

export interface WorldOptions {
  readonly engine: 'embedded' | 'postgres';
  readonly workspaces: number;
  /** How many times as fast as the real one the clock of weir goes. */
  readonly factor: number;
}

const PROBE = new URL('./probe.ts', import.meta.url).href;

export async function startWorld({ engine, workspaces, factor }: WorldOptions): Promise<SoakWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-soak-'));
  const dataDir = join(folder, 'data');
  const postgres = engine === 'postgres' ? await startPostgres() : undefined;
  const databaseUrl = await postgres?.createDatabase();
  const settings = {
    ...{ DATA_DIR: dataDir, LOG_LEVEL: 'error', SOURCE_NETWORKS: '127.0.0.0/8' },
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
  const all = PERMISSIONS.flatMap((permission) => ['--permission', permission]);
  await commandText(['org', 'create', 'soak'], settings);
  const tenants: Tenants[] = [];
  for (let n = 0; n < workspaces; n += 1) {
    const { workspaceId, key } = await newTenant({ ...settings }, { organization: 'soak', workspace: `soak-${n}` }, ...all);
    tenants.push({ workspaceId, key, bouncerKey: await newKey(settings, workspaceId, '--permission', 'feed:read') });
  }
  const start = Date.now();
  if (databaseUrl !== undefined) await hasten(databaseUrl, start, factor);
  const weir = await startWeir({ ...settings, SOAK_CLOCK: `${start},${factor}`, NODE_OPTIONS: `--import=${PROBE}` });
  const { bare, child } = await startBare(join(folder, 'bare'));
  return {
    ...{ weir, tenants, bare, dataDir, databaseUrl },
    now: () => Math.floor(start + (Date.now() - start) * factor),
    async stop() {
      await weir.kill('SIGTERM');
      child.kill();
      await postgres?.stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The database has the clock of weir: its own function comes before that of PostgreSQL. */
async function hasten(url: string, start: number, factor: number): Promise<void> {
  const at = `extract(epoch FROM pg_catalog.clock_timestamp()) - ${start / 1000}`;
  await administer(
    url,
    `CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql
     AS $$ SELECT to_timestamp(${start / 1000} + (${at}) * ${factor}) $$`,
  );
  await administer(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = public, pg_catalog`);
}

/** A bare node:http server of bench/feed.ts with a small body, at the priority of weir. */
async function startBare(file: string): Promise<{ bare: string; child: ChildProcess }> {
  writeFileSync(file, '192.0.2.1/32\n');
  const path = new URL('../support/bare-server.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [path, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => child.kill());
  const bare = await new Promise<string>((resolve, reject) => {
    child.stdout!.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()));
    child.once('exit', () => reject(new Error('the bare server did not start')));
  });
  return { bare, child };
}
