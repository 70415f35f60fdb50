/** A weir command in this process: the same code without the start of a process, for setting things up. */
import { PassThrough } from 'node:stream';
import { runCommandLine } from '../../src/cli/program.ts';
import { testEnvironment } from './weir.ts';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function command(args: readonly string[], settings: Record<string, string>): Promise<CommandResult> {
  const [stdout, stderr] = [new PassThrough({ highWaterMark: 1 << 26 }), new PassThrough({ highWaterMark: 1 << 26 })];
  const code = await runCommandLine(args, { environment: testEnvironment(settings), stdout, stderr });
  return { code, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
}

/** What a command that works prints with `--json`. */
export async function commandJson<T = Record<string, never>>(args: readonly string[], settings: Record<string, string>): Promise<T> {
  const { code, stdout, stderr } = await command([...args, '--json'], settings);
  if (code !== 0) throw new Error(`weir ${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}
