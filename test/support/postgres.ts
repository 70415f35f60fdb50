/**
 * A real PostgreSQL for tests and benchmarks: started here on a free port in a temporary folder, or, with TEST_DATABASE_URL,
 * somebody else's server, on which every test gets a database of its own all the same.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from './http.ts';
import { locate, needs } from './programs.ts';
import { suspend } from './suspend.ts';

export interface Postgres {
  /** Makes an empty database, or one like another that nobody is connected to; resolves with its address. */
  createDatabase(like?: string): Promise<string>;
  /** Ends it and removes what was made. */
  stop(): Promise<void>;
}

/** A server of our own, whose processes tests may kill. */
export interface OwnPostgres extends Postgres {
  readonly port: number;
  /** kill -9 of every process of the server: nothing is written after it. */
  kill(): Promise<void>;
  /** Starts it again after a kill, on the same port; resolves when it answers. */
  start(): Promise<void>;
  /** Stops every process (SIGSTOP): connections stay open and nothing answers. */
  pause(): void;
  /** Lets them run again. */
  resume(): void;
}

/** Why no PostgreSQL of our own can be started here, or false; for the option `skip` of tests. With CI set it is installed. */
export const noOwnPostgres = (): string | false => needs('initdb', 'postgres', 'pg_basebackup');
/** The same for tests that only need a database. */
export const noPostgres = (): string | false => (process.env.TEST_DATABASE_URL ? false : noOwnPostgres());

/** The server behind TEST_DATABASE_URL, or a fast one of our own, which a crash of the machine would not survive. */
export async function startPostgres(): Promise<Postgres> {
  const url = process.env.TEST_DATABASE_URL;
  return url ? foreignPostgres(url) : startOwnPostgres({ fsync: 'off' });
}

/**
 * Starts a server with durable settings, as a crash test needs them. `settings` are lines of postgresql.conf; `standbyOf`: the port of a
 * server that it follows until it is promoted.
 */
export async function startOwnPostgres(settings: Record<string, string> = {}, standbyOf?: number): Promise<OwnPostgres> {
  const user = unprivilegedUser();
  const folder = mkdtempSync(join(tmpdir(), 'weir-postgres-'));
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const initdb = ['-D', data, '-U', 'weir', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'];
  const copy = ['-D', data, '-U', 'weir', '-h', '127.0.0.1', '-p', String(standbyOf), '-R', '-c', 'fast', '--no-sync'];
  const [program, args] = standbyOf === undefined ? (['initdb', initdb] as const) : (['pg_basebackup', copy] as const);
  await promisify(execFile)(locate(program)!, args, { ...user, cwd: folder });
  const port = await freePort();
  const lines = Object.entries({
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '128MB',
    ...settings,
  });
  const flags = lines.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const url = (database: string) => `postgres://weir@127.0.0.1:${port}/${database}`;
  let child: ChildProcess;
  let log = '';

  const ended = () => child.exitCode !== null || child.signalCode !== null;
  const signalAll = (signal: NodeJS.Signals) => {
    if (ended()) return;
    for (const pid of [child.pid!, ...children(child.pid!)]) send(pid, signal);
  };
  const end = async (signal: () => void) => {
    const exit = ended() ? undefined : new Promise((resolve) => child.once('exit', resolve));
    signal();
    await exit;
  };
  const start = async () => {
    // After a crash the memory of its last process may still be held for a moment.
    for (const last = Date.now() + 20_000; ; ) {
      log = '';
      child = spawn(locate('postgres')!, ['-D', data, ...flags], { ...user, stdio: ['ignore', 'ignore', 'pipe'], cwd: folder });
      child.stderr!.setEncoding('utf8').on('data', (text: string) => {
        log = (log + text).slice(-10_000);
      });
      while (!ended()) {
        if (await answers(url('postgres'))) return;
        await delay(50);
      }
      if (Date.now() > last) throw new Error(`PostgreSQL did not start:\n${log}`);
      await delay(200);
    }
  };
  const remove = () => {
    signalAll('SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  process.once('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

  await start();
  return {
    port,
    createDatabase: (like) => createDatabase(url('postgres'), like),
    start,
    kill: () => end(() => signalAll('SIGKILL')),
    pause: () => {
      suspend(child.pid!);
      for (const pid of children(child.pid!)) suspend(pid);
    },
    resume: () => signalAll('SIGCONT'),
    async stop() {
      process.off('exit', remove);
      // No checkpoint of what is thrown away.
      await end(() => signalAll('SIGKILL'));
      remove();
    },
  };
}

async function foreignPostgres(url: string): Promise<Postgres> {
  const made: string[] = [];
  return {
    async createDatabase(like) {
      made.push(await createDatabase(url, like));
      return made[made.length - 1];
    },
    async stop() {
      for (const each of made) await administer(url, `DROP DATABASE IF EXISTS ${new URL(each).pathname.slice(1)} WITH (FORCE)`);
    },
  };
}

async function createDatabase(url: string, like?: string): Promise<string> {
  const name = `weir_test_${randomBytes(6).toString('hex')}`;
  const template = like === undefined ? 'template0' : new URL(like).pathname.slice(1);
  // Files are copied: writing every page to the log as well takes three times as long.
  await administer(url, `CREATE DATABASE ${name} TEMPLATE ${template} ENCODING 'UTF8' STRATEGY FILE_COPY`);
  const made = new URL(url);
  made.pathname = `/${name}`;
  return made.href;
}

/** Runs one statement on a connection of its own. */
export async function administer(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function answers(url: string): Promise<boolean> {
  return administer(url, 'SELECT 1').then(
    () => true,
    () => false,
  );
}

/** PostgreSQL refuses to run as root: its own user, else nobody. */
function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const [, , uid, gid] = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody')!;
  return { uid: Number(uid), gid: Number(gid) };
}

/** Gives files to the user that servers of our own run as, who alone may read a key. */
export function giveToPostgres(...files: string[]): void {
  const user = unprivilegedUser();
  if (user !== undefined) for (const file of files) chownSync(file, user.uid, user.gid);
}

/** The processes that one has started. */
function children(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended
  }
}
