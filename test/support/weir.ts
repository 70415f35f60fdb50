/** A running weir as a process of its own, as an operator starts it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { loadGeo } from '../../src/geo/load.ts';

/** As `weir`, the unit and the image start Node. */
const NODE_FLAGS = ['--max-semi-space-size=8'];
const NODE_ENVIRONMENT = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };
const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url));
/** What Node is started with. */
export const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
export const KEY = 'weir-test-key-0123456789';
/** How a test opens a database that a process has open: it waits for the lock. */
export const PATIENT = { timeout: 30_000 };

export interface Weir {
  readonly url: string;
  readonly pid: number;
  readonly child: ChildProcess;
  /**
   * What of standard output and standard error has been read so far: all of it once the process has ended. Of standard error something
   * may be on its way still while the ready line, or an answer, is here already.
   */
  output(): { stdout: string; stderr: string };
  /** Resolves with the exit code when the process has ended and its output is whole. */
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

type Environment = Record<string, string | undefined>;

/** The settings of a test process: no setting of the machine's environment gets in but where Node keeps what it has compiled. */
export function testEnvironment(settings: Environment): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE = COMPILE_CACHE } = process.env;
  // Tests ask again at once.
  const defaults = { HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'warn', SOURCE_REFRESH_SECONDS: '0' };
  return { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, ...defaults, ...settings };
}

/** Where the packaged geo data are kept as they were compiled once: to do it anew for each DATA_DIR is half of a start. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/geo', import.meta.url));
let compiled: Promise<unknown> | undefined;

/** Puts the compiled geo data into a DATA_DIR that has none, as an earlier start would. */
async function putGeo({ DATA_DIR, GEO_COUNTRY_FILE, GEO_ASN_FILE }: Environment): Promise<void> {
  if (DATA_DIR === undefined || GEO_COUNTRY_FILE !== undefined || GEO_ASN_FILE !== undefined) return;
  const files = ['geo-country.bin', 'geo-asn.bin'].filter((name) => !existsSync(join(DATA_DIR, name)));
  if (files.length === 0) return;
  compiled ??= loadGeo({ country: undefined, asn: undefined }, COMPILED);
  await compiled;
  mkdirSync(DATA_DIR, { recursive: true, mode: 0o700 });
  for (const name of files) copyFileSync(join(COMPILED, name), join(DATA_DIR, name));
}

// A process that ends early leaves none behind.
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts `weir serve` and resolves with its address at the ready line; rejects when it ends before. */
export async function startWeir(settings: Environment): Promise<Weir> {
  await putGeo(settings);
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, 'serve'], {
    env: { ...NODE_ENVIRONMENT, ...testEnvironment(settings) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  running.add(child);
  // Not at its `exit`: what it has written last may still be in the pipes then.
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  void ended.then(() => running.delete(child));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const ready = /^weir ready on (\S+)$/m.exec(stdout);
      if (ready !== null) resolve(ready[1]);
    });
    void ended.then((code) => reject(new Error(`weir ended with ${code} before it was ready: ${stderr}`)));
  });
  return {
    url,
    pid: child.pid!,
    child,
    output: () => ({ stdout, stderr }),
    kill(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

/** The same for a test or a file: it is killed when that ends. */
export async function weirFor(t: { after(work: () => Promise<unknown>): void }, settings: Environment): Promise<Weir> {
  const started = await startWeir(settings);
  t.after(() => started.kill('SIGKILL'));
  return started;
}

/** Runs one weir command with `input` as its standard input; resolves with its exit code and output. */
export async function weir(
  args: readonly string[],
  settings: Environment,
  input: string | Uint8Array = '',
): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const running = promisify(execFile)(process.execPath, [MAIN, ...args], { env: testEnvironment(settings), maxBuffer: 1 << 28 });
    // A command that does not read its input may end before all of it is written.
    running.child.stdin!.on('error', () => {}).end(input);
    const { stdout, stderr } = await running;
    return { code: 0, stdout, stderr };
  } catch (error) {
    const failed = error as { code?: number; stdout: string; stderr: string };
    if (typeof failed.code !== 'number') throw error;
    return { code: failed.code, stdout: failed.stdout, stderr: failed.stderr };
  }
}

/**
 * Tries until the assertion holds; fails with the complaint of the last try, which is the first to begin more than `ms` from now: what
 * begins then has to be so, however long an answer takes. Give a shorter time only where a rule names one.
 */
export async function eventually<T>(check: () => Promise<T> | T, ms = 60_000): Promise<T> {
  const deadline = Date.now() + ms;
  for (;;) {
    const began = Date.now();
    try {
      return await check();
    } catch (error) {
      if (began > deadline) throw error;
      // A check that is expensive is not the machine's main work while it waits.
      await new Promise((resolve) => setTimeout(resolve, Math.max(50, 2 * (Date.now() - began))));
    }
  }
}

/** Runs up to this often. */
const TRIES = 3;

/**
 * What takes less than `limit` ms: the result of the first run that did. A machine that is busy with other things may make one run take
 * longer, a program that is too slow does so in every run.
 */
export async function inTime<T>(limit: number, run: () => Promise<{ readonly took: number; readonly result: T }>): Promise<T> {
  const times: number[] = [];
  while (times.length < TRIES) {
    const { took, result } = await run();
    if (took < limit) return result;
    times.push(Math.round(took));
  }
  throw new Error(`it took ${times.join(', ')} ms, and may take ${limit}`);
}

/**
 * For what is only there for some seconds: runs it with 2 seconds, and with ever more where that was too short to see it. `run` resolves
 * with undefined when its seconds were over before it had seen what it looks for.
 */
export async function inSeconds<T>(run: (seconds: number) => Promise<T | undefined>): Promise<T> {
  for (let seconds = 2; seconds <= 64; seconds *= 2) {
    const seen = await run(seconds);
    if (seen !== undefined) return seen;
  }
  throw new Error('64 seconds are too short for it');
}
