/** A running weir as a process of its own, as an operator starts it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** As `weir`, the unit and the image start Node. */
const NODE_FLAGS = ['--max-semi-space-size=8'];
/** What Node is started with. */
export const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
export const KEY = 'weir-test-key-0123456789';

export interface Weir {
  readonly url: string;
  readonly pid: number;
  readonly child: ChildProcess;
  /** All of standard output and of standard error so far. */
  output(): { stdout: string; stderr: string };
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

type Environment = Record<string, string | undefined>;

/** The settings of a test process: no setting of the machine's environment gets in but where Node keeps what it has compiled. */
export function testEnvironment(settings: Environment): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'warn', ...settings };
}

// A process that ends early leaves none behind.
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts `weir serve` and resolves with its address at the ready line; rejects when it ends before. */
export async function startWeir(settings: Environment): Promise<Weir> {
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, 'serve'], {
    env: testEnvironment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  running.add(child);
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
  void exited.then(() => running.delete(child));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const ready = /^weir ready on (\S+)$/m.exec(stdout);
      if (ready !== null) resolve(ready[1]);
    });
    void exited.then((code) => reject(new Error(`weir ended with ${code} before it was ready: ${stderr}`)));
  });
  return {
    url,
    pid: child.pid!,
    child,
    output: () => ({ stdout, stderr }),
    kill(signal) {
      child.kill(signal);
      return exited;
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

/** Tries until the assertion holds; fails with its last complaint after `ms`. Give a shorter time only where a rule names one. */
export async function eventually<T>(check: () => Promise<T> | T, ms = 60_000): Promise<T> {
  const deadline = Date.now() + ms;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
