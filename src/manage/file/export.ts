/** What is set in a workspace, as its file (SPEC D28.1). */
import type { WorkspaceState } from '../../ports/stored/transaction-store.ts';
import { type About, deep, type Entry, type FileKind, isSame, type Thing } from './kind.ts';
import { FILE_VERSION, type WorkspaceFile } from './schema.ts';
import { FILE_KINDS } from './table.ts';

/** The file, and what it cannot tell: what has no name, and what shares it. */
export interface Exported {
  readonly file: WorkspaceFile;
  readonly leftOut: readonly string[];
}

/** The file of a workspace: applied to a fresh one, it makes what is equal to this. */
export function exportFile(state: WorkspaceState, about: About): Exported {
  const all = FILE_KINDS.map((kind) => ({ kind, things: kind.things(state, about) }));
  const told = all.map(({ kind, things }) => {
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
      ...Object.fromEntries(told.map(({ kind, entries }) => [kind.section, kind.isOne ? (entries[0] ?? {}) : entries])),
    },
    leftOut: told.flatMap(({ kind, left }) => left.map(({ name, label }) => `${kind.word} ${name ?? label}`)),
  };
}

/** So that equal workspaces have equal files. */
const byName = (a: Thing, b: Thing) => (a.name! < b.name! ? -1 : 1);

/** What has to be said of a thing, and no more. */
function entryOf(kind: FileKind, { name, entry }: Thing, about: About): Record<string, unknown> {
  const core: Entry = { ...(kind.isOne ? {} : { name }), ...kind.core(entry) };
  const unsaid = kind.wanted(core, undefined, { ...about, prune: true });
  const differs = Object.entries(entry).filter(([field, value]) => field !== 'secret' && !isSame(value, unsaid[field]));
  return deep({ ...core, ...Object.fromEntries(differs) });
}
