/** SPEC D28.1. */
import type { WorkspaceState } from '../../ports/stored/transaction-store.ts';
import { type About, deep, type Entry, type FileKind, isSame, type Thing } from './kind.ts';
import { FILE_VERSION, type WorkspaceFile } from './schema.ts';
import { FILE_KINDS } from './table.ts';

/** `leftOut`: objects without a unique name. */
export interface Exported {
  readonly file: WorkspaceFile;
  readonly leftOut: readonly string[];
}

/** A new workspace becomes equal by applying it. */
export function exportFile(state: WorkspaceState, about: About): Exported {
  const all = FILE_KINDS.map((kind) => ({ kind, things: kind.things(state, about) }));
  const sections = all.map(({ kind, things }) => {
    const counts = Map.groupBy(things, ({ name }) => name);
    const isPublished = ({ name }: Thing) => name !== null && counts.get(name)!.length === 1;
    return {
      kind,
      entries: things
        .filter(isPublished)
        .toSorted(byName)
        .map((thing) => entryOf(kind, thing, about)),
      left: things.filter((each) => !isPublished(each)),
    };
  });
  return {
    file: {
      version: FILE_VERSION,
      ...Object.fromEntries(sections.map(({ kind, entries }) => [kind.section, kind.isOne ? (entries[0] ?? {}) : entries])),
    },
    leftOut: sections.flatMap(({ kind, left }) => left.map(({ name, label }) => `${kind.word} ${name ?? label}`)),
  };
}

/** Equal workspaces have equal files. */
const byName = (a: Thing, b: Thing) => (a.name! < b.name! ? -1 : 1);

function entryOf(kind: FileKind, { name, entry }: Thing, about: About): Record<string, unknown> {
  const core: Entry = { ...(kind.isOne ? {} : { name }), ...kind.core(entry) };
  const unsaid = kind.wanted(core, undefined, { ...about, prune: true });
  const differs = Object.entries(entry).filter(([field, value]) => field !== 'secret' && !isSame(value, unsaid[field]));
  return deep({ ...core, ...Object.fromEntries(differs) });
}
