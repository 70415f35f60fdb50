/** Commands of weir in this process: the same code without the start of a process, for setting things up. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { runCommandLine } from '../../src/cli/program.ts';
import { testEnvironment } from './weir.ts';

interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function command(args: readonly string[], settings: Record<string, string>): Promise<CommandResult> {
  const [stdout, stderr] = [new PassThrough({ highWaterMark: 1 << 26 }), new PassThrough({ highWaterMark: 1 << 26 })];
  const code = await runCommandLine(args, { environment: testEnvironment(settings), stdout, stderr });
  return { code, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
}

/** What a command that has to work prints. */
export async function commandText(args: readonly string[], settings: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await command(args, settings);
  assert.equal(code, 0, `weir ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** The same with `--json`, parsed. */
export const commandJson = async <T = Record<string, never>>(args: readonly string[], settings: Record<string, string>): Promise<T> =>
  JSON.parse(await commandText([...args, '--json'], settings)) as T;

/** A workspace and the first key of it. */
export interface Tenant {
  readonly workspaceId: string;
  readonly key: string;
}

/** Makes a workspace of an organization that is there, and a key; `options` are those of `weir key create`. */
export async function newTenant(
  settings: Record<string, string>,
  { organization, workspace }: { readonly organization: string; readonly workspace: string },
  ...options: string[]
): Promise<Tenant> {
  const { id } = await commandJson<{ id: string }>(['workspace', 'create', workspace, '--org', organization], settings);
  return { workspaceId: id, key: await newKey(settings, id, ...options) };
}

/** Makes a key of a workspace; its text. */
export async function newKey(settings: Record<string, string>, workspace: string, ...options: string[]): Promise<string> {
  return (await commandJson<{ key: string }>(['key', 'create', '--workspace', workspace, ...options], settings)).key;
}
