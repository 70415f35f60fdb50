/** A row of table.ts. Schema, export and plan are derived from it (SPEC D28). */
import type { TSchema } from 'typebox';
import type { Author } from '../../account/caller.ts';
import type { SecretKeys } from '../../account/secrets/encrypted-secret.ts';
import type { ChangeCall, WorkspaceState } from '../../ports/stored/transaction-store.ts';
import type { Most } from '../context.ts';
import { fieldFault } from '../operation.ts';
import type { Reach } from '../sources/source-settings.ts';

/** Nested fields are named `outer.inner`. */
export type Entry = Readonly<Record<string, unknown>>;

export interface Thing<R = unknown> {
  readonly id: string;
  /** null: it cannot be named. */
  readonly name: string | null;
  readonly entry: Entry;
  readonly row: R;
  /** Never pruned. */
  readonly stays?: boolean;
  /** For objects without a name. */
  readonly label?: string;
}

export interface About {
  /** ms since 1970 */
  readonly now: number;
  /** Deletes what the sections of the file do not name. */
  readonly prune: boolean;
  readonly secretKeys: SecretKeys;
  readonly sourceReach: Reach;
  readonly webhookReach: Reach;
  /** null: a command. */
  readonly callerKeyId: string | null;
  /** Limits the keys it creates, ms; null: never. */
  readonly keyExpiresAt: number | null;
  /** Limits the keys it creates; empty: any. */
  readonly keyNetworks: readonly string[];
}

export interface Doing {
  readonly workspaceId: string;
  readonly by: Author & { readonly act: string };
  readonly most: Most;
  readonly about: About;
  /** Includes objects being created. */
  readonly listId: (name: string) => string;
  readonly feedId: (name: string) => string;
  /** Receives the text of a created key. */
  readonly onKey: (name: string, id: string, text: string) => void;
}

export interface Wanted {
  /** As in the file, flat. */
  readonly given: Entry;
  readonly entry: Entry;
}

export interface FileKind<R = unknown> {
  /** A named array, or one object with `isOne`. */
  readonly section: string;
  readonly isOne?: true;
  /** Singular. */
  readonly word: string;
  readonly about: string;
  readonly fields: Readonly<Record<string, TSchema>>;
  /** Namespace for references. */
  readonly names?: 'list' | 'feed';
  /** Namespace by referring field. */
  readonly refers?: Readonly<Record<string, 'list' | 'feed'>>;
  readonly mask?: (field: string, value: unknown) => unknown;
  /** Kind of preview. */
  readonly loss?: 'list' | 'composed' | 'source' | 'key';
  things(state: WorkspaceState, about: About): Thing<R>[];
  /** Absent fields keep the value of `before` or get their default. Rejects with USAGE. */
  wanted(given: Entry, before: Thing<R> | undefined, about: About): Entry;
  /** Fields from which `wanted` derives the rest, for short exports. */
  core(entry: Entry): Entry;
  add(wanted: Wanted, id: string, doing: Doing): ChangeCall[];
  change(thing: Thing<R>, wanted: Wanted, doing: Doing): ChangeCall[];
  remove(thing: Thing<R>, doing: Doing): ChangeCall[];
}

export const fileKind = <R>(kind: FileKind<R>): FileKind => kind as unknown as FileKind;

export const call = <K extends ChangeCall['call']>(name: K, ...args: Extract<ChangeCall, { call: K }>['args']): ChangeCall =>
  ({ call: name, args }) as unknown as ChangeCall;

/** Placeholders for secrets. */
export const [STORED_SECRET, OTHER_SECRET] = ['kept', 'another'];

/** For fields that only a command can read. Throws USAGE. */
export function refuseNamed(given: Entry, ...fields: readonly string[]): void {
  const field = fields.find((each) => given[each] !== undefined);
  if (field !== undefined) throw fieldFault(field, `is read by weir apply: over HTTP give ${field.split('_')[0]}`);
}

const isObject = (value: unknown): value is Entry => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names nested fields `outer.inner`. */
export const flat = (value: Entry): Entry =>
  Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      isObject(inner) ? Object.entries(inner).map(([field, each]) => [`${name}.${field}`, each]) : [[name, inner]],
    ),
  );

/** The inverse of `flat`. */
export function deep(entry: Entry): Record<string, unknown> {
  const value: Record<string, Record<string, unknown> | unknown> = {};
  for (const [path, each] of Object.entries(entry)) {
    const [name, field] = path.split('.') as [string, string | undefined];
    if (field === undefined) value[name] = each;
    else value[name] = { ...(value[name] as Entry), [field]: each };
  }
  return value;
}

/** Strips the prefix. */
export const below = (entry: Entry, name: string): Entry =>
  Object.fromEntries(
    Object.entries(entry).flatMap(([path, value]) => (path.startsWith(`${name}.`) ? [[path.slice(name.length + 1), value]] : [])),
  );

/** The inverse of `below`. */
export const under = (name: string, fields: Entry): Entry =>
  Object.fromEntries(Object.entries(fields).map(([field, value]) => [`${name}.${field}`, value]));

export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
