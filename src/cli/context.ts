import { once } from 'node:events';
import { userInfo } from 'node:os';
import type { Author } from '../account/caller.ts';
import type { Workspace } from '../account/workspace.ts';
import { WeirError } from '../errors.ts';
import { byCommand } from '../manage/context.ts';
import type { Store, StoreReads } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import type { Config } from '../settings/settings.ts';
import { pick } from './usage.ts';

/** What a command works with; engines are opened at first use and closed after the command. A command takes `reads` or `store`; both only to note in the audit log what it did. */
export interface Context {
  readonly config: Config;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The store for a command that changes nothing. */
  reads(): Promise<StoreReads>;
  /** The store for a command that writes; its schema is up to date. `anew` as for `openStore`. */
  store(anew?: boolean): Promise<Store>;
  stream(): Promise<Stream>;
  /** The service that the command runs at; undefined: on the store of this machine. */
  readonly url: URL | undefined;
  /** Who runs the command, for the audit log: what `--actor` says, else the system user. */
  readonly author: Author;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  /** Set by a command that ran but whose work failed in part. */
  exitCode: number;
}

/** The author of what a command changes. */
export const authorOf = (actor: string | undefined): Author => ({ keyId: null, actor: actor ?? systemUser() });

/** The user that this process runs as; one without an entry in the system's list is told by number. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Writes one line; resolves when the reader keeps up. */
export async function writeLine(output: NodeJS.WritableStream, line: string): Promise<void> {
  if (!output.write(`${line}\n`)) await once(output, 'drain');
}

/** A text that anybody may have written: no line break ends the line, nothing in it speaks to the terminal. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');

/** Rows for people, each by its cells: columns padded to equal width, a heading above, nothing that speaks to the terminal. */
export function table<T>(columns: readonly string[], rows: readonly T[], cellsOf: (row: T) => readonly unknown[]): string {
  const cells = [columns, ...rows.map(cellsOf)].map((row) => row.map((cell) => printable(String(cell ?? '-'))));
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => row[i].length)));
  const padded = (row: readonly string[]) => row.map((cell, i) => cell.padEnd(widths[i])).join('  ');
  return cells.map((row) => padded(row).trimEnd()).join('\n');
}

/** The same of fields: a column each by its heading. */
export const fieldTable = <T>(rows: readonly T[], columns: Readonly<Record<string, keyof T>>): string =>
  table(Object.keys(columns), rows, (row) => Object.values(columns).map((name) => row[name]));

/** A text cut to so many characters. */
export const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** The workspace that `text` names, else WEIR_WORKSPACE, else the only one there is. Rejects with USAGE (SPEC D42.11). */
export async function workspaceIn({ environment }: Context, store: StoreReads, text: string | undefined): Promise<Workspace> {
  const all = await store.workspaces();
  const named = text ?? (environment.WEIR_WORKSPACE || undefined);
  if (named !== undefined) return pick(all, named, 'workspace');
  const [only, ...others] = all;
  if (only === undefined || others.length > 0)
    throw new WeirError('USAGE', `there are ${all.length} workspaces: name one with --workspace, or in WEIR_WORKSPACE`);
  return only;
}

/** What a command that changes nothing works with, in the workspace that `text` names. */
export async function readsIn(
  context: Context,
  text: string | undefined,
): Promise<{ readonly store: StoreReads; readonly workspace: string }> {
  const store = await context.reads();
  return { store, workspace: (await workspaceIn(context, store, text)).id };
}

/** What a command that writes works with, in the workspace that `text` names. */
export async function changesIn(context: Context, text: string | undefined) {
  const store = await context.store();
  const { id: workspace } = await workspaceIn(context, store, text);
  return { store, workspace, change: byCommand(store, workspace, context.author, context.config) };
}
