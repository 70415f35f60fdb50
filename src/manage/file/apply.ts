/** SPEC D28.2 to D28.7. */
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

export interface FileContext extends Omit<About, 'prune' | 'now'> {
  readonly store: StoreReads & StoreWrites;
  readonly workspaceId: string;
  readonly by: Author;
  readonly most: Most;
  /** Per request; 0 = no limit. */
  readonly mostThings: number;
  pause(): Promise<void>;
}

export interface ApplyRequest {
  /** Preview only. */
  readonly dryRun?: boolean | undefined;
  /** Deletes what the sections of the file do not name. */
  readonly prune?: boolean | undefined;
  readonly confirmed?: boolean | undefined;
  /** The only state that may be changed. */
  readonly tag?: string | undefined;
  /** Called before the keys are created. */
  readonly onKeys?: (keys: readonly KeyText[]) => Promise<void>;
}

/** Returned once. */
export interface KeyText {
  readonly name: string;
  readonly id: string;
  readonly key: string;
}

export interface ReportedChange {
  readonly kind: string;
  readonly name: string;
  readonly what: PlannedChange['what'];
  readonly text: string;
  /** Deletes something that the file does not name. */
  readonly takes: boolean;
  readonly fields: readonly FieldChange[];
  readonly goes: Loss | null;
  readonly goes_text: string | null;
}

export interface Applied {
  /** Differs, or did before. */
  readonly changed: boolean;
  readonly applied: boolean;
  /** Groups audit rows; null: nothing changed. */
  readonly act: string | null;
  readonly changes: readonly ReportedChange[];
  readonly keys: readonly KeyText[];
  /** Identifies the compared state. */
  readonly tag: string;
}

/** Attempts under concurrent changes. */
const TRIES = 3;

/** Rejects with USAGE, and with REFUSED for unconfirmed deletions. */
export async function applyFile(context: FileContext, file: WorkspaceFile, request: ApplyRequest): Promise<Applied> {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await applyOnce(context, file, request);
    } catch (error) {
      if (!hasCode(error, 'CHANGED') || request.tag !== undefined) throw error;
      if (left === 1) throw new WeirError('REFUSED', 'the workspace settings keep changing concurrently: nothing was changed, try again');
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
  if (state === undefined) throw new WeirError('NOT_FOUND', 'the workspace was deleted');
  if (request.tag !== undefined && request.tag !== state.tag)
    throw new WeirError('CHANGED', 'the workspace changed after you were asked: nothing was applied, run it again');
  const about: About = { ...context, prune, now: await store.ping() };
  const { changes, faults } = planFile(state, file, about);
  const [fault, ...others] = faults;
  if (fault !== undefined) throw fieldFaults([fault, ...others] as [FieldFault, ...FieldFault[]]);
  refuseMany(context, changes.length);
  const [first, ...more] = changes.filter(({ takes }) => takes);
  if (first !== undefined && !confirmed && !dryRun)
    throw new WeirError(
      'REFUSED',
      `the file would delete or unset: ${changeText(first)}${more.length === 0 ? '' : ` and ${more.length} more`}; see all with dry_run, apply with confirmed`,
    );
  const lost = await losses(store, workspaceId, changes, context.pause);
  const reported = changes.map((change) => changeJson(change, lost.get(change)));
  const nothing = { changed: changes.length > 0, changes: reported, keys: [], tag: state.tag };
  if (dryRun || changes.length === 0) return { ...nothing, applied: !dryRun, act: null };
  const { calls, keys, act } = callsOf(context, about, state, changes);
  await onKeys?.(keys);
  await store.changeInOneTransaction(workspaceId, state.tag, calls, { ...context.by, act });
  return { ...nothing, applied: true, act, keys };
}

/** One tenant must not delay the others. */
function refuseMany({ mostThings }: FileContext, things: number): void {
  if (mostThings > 0 && things > mostThings)
    throw new WeirError('REFUSED', `${things} entries exceed the limit of ${mostThings} per request: use weir apply`);
}

const changeJson = (change: PlannedChange, loss: Loss | undefined): ReportedChange => ({
  kind: change.kind.word,
  name: change.name,
  what: change.what,
  text: changeText(change),
  takes: change.takes,
  fields: change.fields,
  goes: loss ?? null,
  goes_text: (loss && lossText(loss)) ?? null,
});

function callsOf({ workspaceId, by, most }: FileContext, about: About, state: WorkspaceState, changes: readonly PlannedChange[]) {
  const act = by.act ?? randomUUID();
  const keys: KeyText[] = [];
  const goes = new Set(changes.flatMap(({ what, thing }) => (what === 'remove' ? [thing!.id] : [])));
  const stays = ({ id }: { readonly id: string }) => !goes.has(id);
  const ids = {
    list: new Map(state.lists.filter(stays).map(({ name, id }) => [name, id])),
    feed: new Map(state.feeds.filter(stays).map(({ name, id }) => [name, id])),
  };
  // A feed or key may name an object created later.
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
  // Checks limits once, with the last object; expired keys free quota one by one.
  const last = new Map(placed.flatMap(({ change: { kind, what } }, i) => (what === 'add' ? [[kind, i] as const] : [])));
  const doingOf = (kind: FileKind, i: number): Doing =>
    kind.names === undefined || last.get(kind) === i ? doing : { ...doing, most: NO_LIMIT };
  const calls = placed.flatMap(({ change: { kind, what, thing, wanted }, id }, i) =>
    what === 'add'
      ? kind.add(wanted!, id, doingOf(kind, i))
      : what === 'change'
        ? kind.change(thing!, wanted!, doing)
        : kind.remove(thing!, doing),
  );
  return { calls, keys, act };
}
