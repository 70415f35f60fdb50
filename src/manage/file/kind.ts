/** What a kind of thing in the file of a workspace is: a row of its table (table.ts), from which schema, export and plan follow (SPEC D28). */
import type { TSchema } from 'typebox';
import type { Author } from '../../account/caller.ts';
import type { SecretKeys } from '../../account/encrypted-secret.ts';
import type { ChangeCall, WorkspaceState } from '../../ports/stored/transaction-store.ts';
import type { Most } from '../context.ts';
import { fieldFault } from '../operation.ts';
import type { Reach } from '../sources/source-settings.ts';

/** The fields of a thing by their names; those of an object within have both names, with a dot. */
export type Entry = Readonly<Record<string, unknown>>;

/** Something that there is. */
export interface Thing<R = unknown> {
  readonly id: string;
  /** null: it cannot be named. */
  readonly name: string | null;
  /** All its fields. */
  readonly entry: Entry;
  readonly row: R;
  /** It is not taken away where the file does not name it. */
  readonly stays?: boolean;
  /** How it is called where it has no name. */
  readonly label?: string;
}

/** What plans are made with. */
export interface About {
  /** ms since 1970 */
  readonly now: number;
  /** What the file does not say of the kinds that it has goes. */
  readonly prune: boolean;
  readonly secretKeys: SecretKeys;
  readonly sourceReach: Reach;
  readonly webhookReach: Reach;
  /** The key that asks; null: none does. */
  readonly callerKeyId: string | null;
  /** Until when it is good, ms: it makes no key that lasts longer; null: for good. */
  readonly keyExpiresAt: number | null;
  /** The networks that it is good from: it makes no key that is good from others; none: from anywhere. */
  readonly keyNetworks: readonly string[];
}

/** What changes are made with. */
export interface Doing {
  readonly workspaceId: string;
  readonly by: Author & { readonly act: string };
  readonly most: Most;
  readonly about: About;
  /** The ids of lists and feeds by their names, with those that are made. */
  readonly listId: (name: string) => string;
  readonly feedId: (name: string) => string;
  /** Takes the text of a key that is made. */
  readonly onKey: (name: string, id: string, text: string) => void;
}

/** What an entry asks for. */
export interface Wanted {
  /** As the file has it, flat. */
  readonly given: Entry;
  /** All its fields. */
  readonly entry: Entry;
}

export interface FileKind<R = unknown> {
  /** Where the file has it: a list of entries, each with its name; of `isOne` one object. */
  readonly section: string;
  readonly isOne?: true;
  /** What one is called. */
  readonly word: string;
  /** What the schema says of it. */
  readonly about: string;
  /** The fields of an entry, beside its name. */
  readonly fields: Readonly<Record<string, TSchema>>;
  /** Names of this kind are known to feeds and keys, and are not those of others of its sort. */
  readonly names?: 'list' | 'feed';
  /** Where an entry names others, by the field: of which sort. */
  readonly refers?: Readonly<Record<string, 'list' | 'feed'>>;
  /** How a value is told where it is not for everybody. */
  readonly shown?: (field: string, value: unknown) => unknown;
  /** How it is told what goes with one. */
  readonly loss?: 'list' | 'composed' | 'source' | 'key';
  /** What there is. */
  things(state: WorkspaceState, about: About): Thing<R>[];
  /**
   * An entry in full: what it does not say is as it is (`before`), or as it is where nobody says anything. Rejects with USAGE, naming
   * the fields, what it cannot be.
   */
  wanted(given: Entry, before: Thing<R> | undefined, about: About): Entry;
  /** What has to be said of a thing so that `wanted` makes the rest of it; beside what differs from that, it is what is exported. */
  core(entry: Entry): Entry;
  add(wanted: Wanted, id: string, doing: Doing): ChangeCall[];
  change(thing: Thing<R>, wanted: Wanted, doing: Doing): ChangeCall[];
  remove(thing: Thing<R>, doing: Doing): ChangeCall[];
}

/** A row of the table, whose own rows of the store have a type. */
export const fileKind = <R>(kind: FileKind<R>): FileKind => kind as unknown as FileKind;

/** The calls of one change. */
export const call = <K extends ChangeCall['call']>(name: K, ...args: Extract<ChangeCall, { call: K }>['args']): ChangeCall =>
  ({ call: name, args }) as unknown as ChangeCall;

/** How the file tells of a secret that it does not have. */
export const [KEPT, ANOTHER] = ['kept', 'another'];

/** Throws USAGE where an entry names what only a command reads. */
export function refuseNamed(given: Entry, ...fields: readonly string[]): void {
  const field = fields.find((each) => given[each] !== undefined);
  if (field !== undefined) throw fieldFault(field, `is read by weir apply: over HTTP give ${field.split('_')[0]}`);
}

const isObject = (value: unknown): value is Entry => typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object with the fields of those within it beside its own. */
export const flat = (value: Entry): Entry =>
  Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      isObject(inner) ? Object.entries(inner).map(([field, each]) => [`${name}.${field}`, each]) : [[name, inner]],
    ),
  );

/** The same as it was before `flat`. */
export function deep(entry: Entry): Record<string, unknown> {
  const value: Record<string, Record<string, unknown> | unknown> = {};
  for (const [path, each] of Object.entries(entry)) {
    const [name, field] = path.split('.') as [string, string | undefined];
    if (field === undefined) value[name] = each;
    else value[name] = { ...(value[name] as Entry), [field]: each };
  }
  return value;
}

/** The fields of an entry that stand below a name, without it. */
export const below = (entry: Entry, name: string): Entry =>
  Object.fromEntries(
    Object.entries(entry).flatMap(([path, value]) => (path.startsWith(`${name}.`) ? [[path.slice(name.length + 1), value]] : [])),
  );

/** Fields under a name. */
export const under = (name: string, fields: Entry): Entry =>
  Object.fromEntries(Object.entries(fields).map(([field, value]) => [`${name}.${field}`, value]));

export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
