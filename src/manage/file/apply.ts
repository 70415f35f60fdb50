/** Makes a workspace as a file says, in one transaction, or tells what that would change (SPEC D28.2 to D28.7). */
import { randomUUID } from 'node:crypto';
import type { Author } from '../../account/caller.ts';
import { hasCode, WeirError } from '../../errors.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import type { WorkspaceState } from '../../ports/stored/transaction-store.ts';
import type { FieldFault } from '../../signal/validate.ts';
import { type Most, NO_LIMIT } from '../context.ts';
import { fieldFaults } from '../operation.ts';
import { changeText, type Loss, losses, lossText } from './change-text.ts';
import type { About, Doing, FileKind } from './kind.ts';
import { type FieldChange, type PlannedChange, planFile } from './plan.ts';
import type { WorkspaceFile } from './schema.ts';

/** What a file is applied with. */
export interface FileContext extends Omit<About, 'prune' | 'now'> {
  readonly store: StoreReads & StoreWrites;
  readonly workspaceId: string;
  readonly by: Author;
  readonly most: Most;
  /** Things that may be named or changed at once; 0: any number. */
  readonly mostThings: number;
  /** Lets others get on. */
  pause(): Promise<void>;
}

export interface ApplyRequest {
  /** Nothing is done. */
  readonly dryRun?: boolean | undefined;
  /** Of the kinds that the file has, what it does not name goes. */
  readonly prune?: boolean | undefined;
  /** What goes was seen, and is meant. */
  readonly confirmed?: boolean | undefined;
  /** The state that somebody has seen: another one is not changed. */
  readonly tag?: string | undefined;
  /** Takes the texts of keys before they are made. */
  readonly onKeys?: (keys: readonly KeyText[]) => Promise<void>;
}

/** A key that is made, with its text, which is shown once. */
export interface KeyText {
  readonly name: string;
  readonly id: string;
  readonly key: string;
}

/** A change as it is told. */
export interface ToldChange {
  readonly kind: string;
  readonly name: string;
  readonly what: PlannedChange['what'];
  readonly text: string;
  /** Whether something goes that the file does not name. */
  readonly takes: boolean;
  readonly fields: readonly FieldChange[];
  /** What goes with what is taken away; null: nothing, or it was not found out. */
  readonly goes: Loss | null;
  readonly goes_text: string | null;
}

export interface Applied {
  /** Whether it differs, or did. */
  readonly changed: boolean;
  readonly applied: boolean;
  /** What groups the rows of the audit log; null: nothing was done. */
  readonly act: string | null;
  readonly changes: readonly ToldChange[];
  readonly keys: readonly KeyText[];
  /** Names the state that it was compared with. */
  readonly tag: string;
}

/** How often a state that somebody else changes meanwhile is read again. */
const TRIES = 3;

/** Applies a file. Rejects with USAGE for what is wrong with it, with REFUSED where something goes and nobody has confirmed that. */
export async function applyFile(context: FileContext, file: WorkspaceFile, request: ApplyRequest): Promise<Applied> {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await applyOnce(context, file, request);
    } catch (error) {
      if (!hasCode(error, 'CHANGED') || request.tag !== undefined) throw error;
      if (left === 1)
        throw new WeirError('REFUSED', 'others change what is set of the workspace all the time: nothing has been done, try again');
    }
  }
}

async function applyOnce(context: FileContext, file: WorkspaceFile, request: ApplyRequest): Promise<Applied> {
  const { dryRun = false, prune = false, confirmed = false, onKeys } = request;
  const { store, workspaceId } = context;
  refuseMany(
    context,
    Object.values(file).reduce<number>((sum, entries) => sum + (Array.isArray(entries) ? entries.length : 0), 0),
  );
  const state = await store.workspaceState(workspaceId);
  await context.pause();
  if (state === undefined) throw new WeirError('NOT_FOUND', 'the workspace is gone');
  if (request.tag !== undefined && request.tag !== state.tag)
    throw new WeirError('CHANGED', 'the workspace was changed since you were asked: nothing has been done, run it again');
  const about: About = { ...context, prune, now: await store.ping() };
  const { changes, faults } = planFile(state, file, about);
  const [fault, ...others] = faults;
  if (fault !== undefined) throw fieldFaults([fault, ...others] as [FieldFault, ...FieldFault[]]);
  refuseMany(context, changes.length);
  const [first, ...more] = changes.filter(({ takes }) => takes);
  if (first !== undefined && !confirmed && !dryRun)
    throw new WeirError(
      'REFUSED',
      `the file does not name what would go: ${changeText(first)}${more.length === 0 ? '' : ` and ${more.length} more`}; with dry_run it is told in full, with confirmed it is done`,
    );
  const lost = await losses(store, workspaceId, changes, context.pause);
  const told = changes.map((change) => toldChange(change, lost.get(change)));
  const nothing = { changed: changes.length > 0, changes: told, keys: [], tag: state.tag };
  if (dryRun || changes.length === 0) return { ...nothing, applied: !dryRun, act: null };
  const { calls, keys, act } = callsOf(context, about, state, changes);
  await onKeys?.(keys);
  await store.changeInOneTransaction(workspaceId, state.tag, calls, { ...context.by, act });
  return { ...nothing, applied: true, act, keys };
}

/** One tenant must not hold up the others. */
function refuseMany({ mostThings }: FileContext, things: number): void {
  if (mostThings > 0 && things > mostThings)
    throw new WeirError('REFUSED', `${things} things are more than the ${mostThings} that one request may name or change: weir apply does`);
}

const toldChange = (change: PlannedChange, loss: Loss | undefined): ToldChange => ({
  kind: change.kind.word,
  name: change.name,
  what: change.what,
  text: changeText(change),
  takes: change.takes,
  fields: change.fields,
  goes: loss ?? null,
  goes_text: (loss && lossText(loss)) ?? null,
});

/** The calls of the store that make the changes, and the keys that they make. */
function callsOf({ workspaceId, by, most }: FileContext, about: About, state: WorkspaceState, changes: readonly PlannedChange[]) {
  const act = randomUUID();
  const keys: KeyText[] = [];
  const goes = new Set(changes.flatMap(({ what, thing }) => (what === 'remove' ? [thing!.id] : [])));
  const stays = ({ id }: { readonly id: string }) => !goes.has(id);
  const ids = {
    list: new Map(state.lists.filter(stays).map(({ name, id }) => [name, id])),
    feed: new Map(state.feeds.filter(stays).map(({ name, id }) => [name, id])),
  };
  // What a feed or key names may be made behind it in no order: all ids are known first.
  const placed = changes.map((change) => {
    const id = change.thing?.id ?? randomUUID();
    if (change.what === 'add' && change.kind.names !== undefined) ids[change.kind.names].set(change.name, id);
    return { change, id };
  });
  const doing: Doing = {
    workspaceId,
    by: { ...by, act },
    most,
    about,
    listId: (name) => ids.list.get(name)!,
    feedId: (name) => ids.feed.get(name)!,
    onKey: (name, id, key) => void keys.push({ name, id, key }),
  };
  // How many lists, sources and feeds there are is counted once, with the last; keys that have ended make room one by one.
  const last = new Map(placed.flatMap(({ change: { kind, what } }, i) => (what === 'add' ? [[kind, i] as const] : [])));
  const room = (kind: FileKind, i: number): Doing =>
    kind.names === undefined || last.get(kind) === i ? doing : { ...doing, most: NO_LIMIT };
  const calls = placed.flatMap(({ change: { kind, what, thing, wanted }, id }, i) =>
    what === 'add'
      ? kind.add(wanted!, id, room(kind, i))
      : what === 'change'
        ? kind.change(thing!, wanted!, doing)
        : kind.remove(thing!, doing),
  );
  return { calls, keys, act };
}
