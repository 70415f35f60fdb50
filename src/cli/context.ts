import { once } from 'node:events';
import { userInfo } from 'node:os';
import type { Author } from '../account/caller.ts';
import type { Workspace } from '../account/workspace.ts';
import { WeirError } from '../errors.ts';
import type { Store, StoreReads } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import type { Config } from '../settings/settings.ts';
import { pick } from './usage.ts';

/** Engines open on first use and close after the command. A command uses `reads` or `store`; both only to write the audit log. */
export interface Context {
  readonly config: Config;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** For a command that changes nothing. */
  reads(): Promise<StoreReads>;
  /** For a command that writes; the schema is up to date. `mayBeNew` as for `openStore`. */
  store(mayBeNew?: boolean): Promise<Store>;
  stream(): Promise<Stream>;
  /** undefined: the command runs on the local store. */
  readonly url: URL | undefined;
  /** For the audit log: `--actor`, else the system user. */
  readonly author: Author;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  /** Set by a command whose work failed in part. */
  exitCode: number;
}

export const authorOf = (actor: string | undefined): Author => ({ keyId: null, actor: actor ?? systemUser() });

/** By number if the system has no name for the user. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Resolves when the reader keeps up. */
export async function writeLine(output: NodeJS.WritableStream, line: string): Promise<void> {
  if (!output.write(`${line}\n`)) await once(output, 'drain');
}

/** Removes line breaks and control sequences from texts of unknown origin. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');

/** Pads columns to equal width. */
export function table<T>(columns: readonly string[], rows: readonly T[], cellsOf: (row: T) => readonly unknown[]): string {
  const cells = [columns, ...rows.map(cellsOf)].map((row) => row.map((cell) => printable(String(cell ?? '-'))));
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => row[i].length)));
  const padded = (row: readonly string[]) => row.map((cell, i) => cell.padEnd(widths[i])).join('  ');
  return cells.map((row) => padded(row).trimEnd()).join('\n');
}

export const fieldTable = <T>(rows: readonly T[], columns: Readonly<Record<string, keyof T>>): string =>
  table(Object.keys(columns), rows, (row) => Object.values(columns).map((name) => row[name]));

export const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** By name or id, else WEIR_WORKSPACE, else the only workspace. Rejects with USAGE (SPEC D42.11). */
export async function workspaceIn({ environment }: Context, store: StoreReads, text: string | undefined): Promise<Workspace> {
  const all = await store.workspaces();
  const named = text ?? (environment.WEIR_WORKSPACE || undefined);
  if (named !== undefined) return pick(all, named, 'workspace');
  const [only, ...others] = all;
  if (only === undefined || others.length > 0)
    throw new WeirError('USAGE', `there are ${all.length} workspaces: name one with --workspace, or in WEIR_WORKSPACE`);
  return only;
}
