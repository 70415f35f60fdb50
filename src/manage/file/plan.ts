/** Pure (SPEC D28.2, D28.3, D28.6). */

import { NAME_RULE, nameFault } from '../../account/name.ts';
import { hasCode } from '../../errors.ts';
import type { WorkspaceState } from '../../ports/stored/transaction-store.ts';
import type { FieldFault } from '../../signal/validate.ts';
import { type About, type Entry, type FileKind, flat, isSame, OTHER_SECRET, type Thing, type Wanted } from './kind.ts';
import type { WorkspaceFile } from './schema.ts';
import { FILE_KINDS } from './table.ts';

export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface PlannedChange {
  readonly kind: FileKind;
  readonly what: 'add' | 'change' | 'remove';
  /** Or a label. */
  readonly name: string;
  readonly fields: readonly FieldChange[];
  /** Deletes something that the file does not name: the object or a setting. */
  readonly takes: boolean;
  readonly thing?: Thing;
  readonly wanted?: Wanted;
}

export interface Plan {
  /** In the order of execution. */
  readonly changes: readonly PlannedChange[];
  /** By path. If there are any, nothing is applied. */
  readonly faults: readonly FieldFault[];
}

interface Entered {
  readonly kind: FileKind;
  readonly path: string;
  readonly given: Entry;
  readonly name: string;
  readonly here: readonly Thing[];
}

interface Named {
  readonly kind: FileKind;
  /** null: it cannot be named. */
  readonly name: string | null;
}

/** Number of objects per name. */
type Names = Readonly<Record<'list' | 'feed', ReadonlyMap<string, number>>>;

export function planFile(state: WorkspaceState, file: WorkspaceFile, about: About): Plan {
  const all = FILE_KINDS.map((kind) => ({ kind, things: kind.things(state, about), value: file[kind.section] }));
  const entered = all.flatMap(({ kind, things, value }) => (value === undefined ? [] : entriesOf(kind, value, things)));
  const isEntered = new Set(entered.flatMap(({ here }) => here));
  const removed = all
    .filter(({ value }) => about.prune && value !== undefined)
    .flatMap(({ kind, things }) =>
      things
        .filter((thing) => !thing.stays && !isEntered.has(thing))
        .map((thing) => removal(kind, thing))
        .sort(lastNameFirst),
    );
  const isRemoved = new Set(removed.map(({ thing }) => thing));
  const remaining = all.flatMap(({ kind, things }) =>
    things.filter((thing) => !isRemoved.has(thing) && !isEntered.has(thing)).map(({ name }) => ({ kind, name })),
  );
  const names = namesOf([...remaining, ...entered]);
  const judged = entered.map((each) => judge(each, names, about));
  const changes = judged.flatMap(({ change }) => (change === undefined ? [] : [change]));
  return {
    faults: [...nameFaults(entered, remaining), ...judged.flatMap(({ faults }) => faults)],
    // Deletions first: they free quota and names. Referring objects are deleted first and added last.
    changes: [...removed.reverse(), ...changes.filter(({ what, fields }) => what === 'add' || fields.length > 0)],
  };
}

function entriesOf(kind: FileKind, value: unknown, things: readonly Thing[]): Entered[] {
  if (kind.isOne) return [{ kind, path: kind.section, given: value as Entry, name: '', here: things }];
  const named = Map.groupBy(things, ({ name }) => name);
  return (value as Entry[]).map((entry, i) => {
    const name = String(entry.name);
    return { kind, path: `${kind.section}[${i}]`, given: flat(entry), name, here: named.get(name) ?? [] };
  });
}

const removal = (kind: FileKind, thing: Thing): PlannedChange => ({
  kind,
  what: 'remove',
  name: thing.name ?? thing.label ?? thing.id,
  fields: [],
  takes: true,
  thing,
});

/** Reversed later. */
const lastNameFirst = (a: PlannedChange, b: PlannedChange) => (a.name < b.name ? 1 : -1);

function namesOf(those: readonly Named[]): Names {
  const names = { list: new Map<string, number>(), feed: new Map<string, number>() };
  for (const { kind, name } of those)
    if (kind.names !== undefined && name !== null) names[kind.names].set(name, (names[kind.names].get(name) ?? 0) + 1);
  return names;
}

/** Kinds with a common namespace. */
const groupOf = ({ names, section }: FileKind) => (names === undefined ? section : 'named');
const SHARED = 'lists, sources and feeds share their names';

/** Used twice in the file, by several objects, or outside of the file. */
function nameFaults(entered: readonly Entered[], remaining: readonly Named[]): FieldFault[] {
  const seen = new Map<string, string>();
  const others = new Map(remaining.map(({ kind, name }) => [`${groupOf(kind)} ${name}`, kind.word]));
  return entered.flatMap(({ kind, path, name, here }) => {
    const own = `${groupOf(kind)} ${name}`;
    const [first, other] = [seen.get(own), others.get(own)];
    seen.set(own, first ?? path);
    const message =
      first !== undefined
        ? `is also the name of ${first}${kind.names === undefined ? '' : `: ${SHARED}`}`
        : here.length > 1
          ? `is the name of ${here.length} ${kind.word}s, which the file cannot distinguish`
          : other !== undefined
            ? `is the name of an existing ${other}: ${SHARED}`
            : here.length === 0 && nameFault(name) !== null
              ? `must have ${NAME_RULE}`
              : undefined;
    return message === undefined ? [] : [{ field: `${path}.name`, message }];
  });
}

interface Judged {
  readonly faults: readonly FieldFault[];
  readonly change?: PlannedChange;
}

function judge(each: Entered, names: Names, about: About): Judged {
  const { kind, given, name, path, here } = each;
  const [thing] = here;
  const entry = wantedOf(each, thing, about);
  if ('faults' in entry) return entry as Judged;
  const faults = referenceFaults(kind, path, entry, names);
  const fields = fieldChanges(kind, thing?.entry, entry);
  const wanted = { given, entry };
  const change: PlannedChange =
    thing === undefined
      ? { kind, what: 'add', name, fields, takes: false, wanted }
      : { kind, what: 'change', name, fields, takes: about.prune && fields.some(({ field }) => given[field] === undefined), thing, wanted };
  return { faults, change };
}

function wantedOf({ kind, given, path }: Entered, thing: Thing | undefined, about: About): Entry | Judged {
  try {
    return kind.wanted(given, thing, about);
  } catch (error) {
    if (!hasCode(error, 'USAGE') && !hasCode(error, 'REFUSED')) throw error;
    const found = [(error.cause as FieldFault | readonly FieldFault[] | undefined) ?? { field: '', message: error.message }].flat();
    return { faults: found.map(({ field, message }) => ({ field: [path, field].filter(Boolean).join('.'), message })) };
  }
}

const referenceFaults = ({ refers = {} }: FileKind, path: string, entry: Entry, names: Names): FieldFault[] =>
  Object.entries(refers).flatMap(([field, sort]) =>
    ([entry[field] ?? []].flat() as string[]).flatMap((name) => {
      const count = names[sort].get(name) ?? 0;
      if (count === 1) return [];
      const message =
        count === 0 ? `names "${name}", but there is no such ${sort}` : `names "${name}", but ${count} ${sort}s have that name`;
      return [{ field: `${path}.${field}`, message }];
    }),
  );

function fieldChanges({ mask = (_, value) => value }: FileKind, before: Entry = {}, after: Entry): FieldChange[] {
  // Another field reports the presence of a secret.
  const differs = (field: string) => !isSame(before[field], after[field]) && (field !== 'secret' || after.secret === OTHER_SECRET);
  return Object.keys(after)
    .filter(differs)
    .map((field) => ({ field, before: mask(field, before[field]) ?? null, after: mask(field, after[field]) ?? null }));
}
