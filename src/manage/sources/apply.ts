/** Makes the list of a source equal to a content, or holds it back (SPEC D23.15 to D23.19). */
import type { Network } from '@weir/network/network.ts';
import type { Caller } from '../../account/caller.ts';
import type { Applying, Source, SourceState } from '../../account/source.ts';
import { WeirError } from '../../errors.ts';
import { broadOf, broadText } from '../../source/broad-targets.ts';
import type { PassedRow, PlacedEntry } from '../../source/readers/content.ts';
import type { LineFault } from '../../source/readers/items.ts';
import { nothingSeen, readSource } from '../../source/refresh/content.ts';
import { guardFaults, isSame } from '../../source/refresh/guards.ts';
import type { SyncPlan } from '../../source/sync.ts';
import {
  giveUp,
  headOf,
  openReplacement,
  planReplacement,
  type ReplacementHead,
  type ReplacementPorts,
  runReplacement,
  syncPorts,
} from '../imports/replacements.ts';
import { contentOnHold, keepContent } from './on-hold.ts';

/** What applying works with. */
export interface ApplyPorts extends ReplacementPorts {
  /** Waits until more entries may be judged, seconds. */
  sleep(seconds: number): Promise<void>;
  /** Bytes of a content at most, unpacked. */
  readonly mostBytes: number;
}

/** A source whose list is made equal to something. */
export interface ApplyTask {
  readonly source: Source;
  readonly state: SourceState;
  readonly caller: Caller;
  /** Keeps that it is being applied; false where another process refreshes sources now, or the source was set: then nothing is done. */
  checkpoint(applying: Applying): Promise<boolean>;
}

/** A content, as often as it is asked for. */
export interface Content {
  readonly digest: string;
  /** When it was fetched, ms. */
  readonly at: number;
  open(): AsyncIterable<Buffer>;
  /** Rejects with this where the content is not what the list has. */
  readonly stays?: WeirError | undefined;
}

/** What was done; `held`: why it was held back. */
export interface Applied {
  readonly applying: Applying;
  readonly plan: SyncPlan;
  readonly held?: string;
}

type Entries = AsyncIterable<PlacedEntry | LineFault | PassedRow>;

/** Why nothing was applied although nothing is wrong with the content. */
const setMeanwhile = () => new WeirError('CHANGED', 'the source was set, or another process refreshes it');

/** Compares a content that was fetched with the list, and applies or holds it. Rejects with USAGE for a content that is none, with CHANGED and REFUSED where it has to be tried again. */
export async function applyContent(ports: ApplyPorts, task: ApplyTask, content: Content): Promise<Applied> {
  const id = await opened(ports, task);
  return await compared(ports, task, id, content, false);
}

/** Applies what is held. Rejects as `applyContent` does, with REFUSED where it is not there any more. */
export async function applyHeld(ports: ApplyPorts, task: ApplyTask, id: string, content: Omit<Content, 'open'>): Promise<Applied> {
  const { store, now } = ports;
  if (!(await store.moveReplacement(id, { from: 'held', to: 'planning', now: now(), heldUntil: now() + HOLD })))
    throw new WeirError('REFUSED', 'what was held is not kept any more: it is fetched again');
  return await compared(ports, task, id, { ...content, open: () => contentOnHold(store, id) }, true);
}

/** Drops what is held. */
export async function dropHeld({ store, now }: Pick<ApplyPorts, 'store' | 'now'>, id: string): Promise<void> {
  await store.moveReplacement(id, { from: 'held', to: 'failed', now: now(), heldUntil: 0 });
}

/** Empties the list, because its content was not confirmed. */
export async function applyExpiry(ports: ApplyPorts, task: ApplyTask): Promise<Applied> {
  const id = await opened(ports, task);
  const applying = {
    replacement: id,
    at: ports.now(),
    digest: null,
    isAccepted: true,
    hasBroad: task.state.hasBroad,
    revision: task.source.revision,
    equalSeq: equalSeqOf(task.state),
  };
  await keptApplying(ports, task, applying);
  return await run(ports, task, applying, nothing());
}

/** Undos that are known when a content is compared no longer count once the list is equal to it. */
const equalSeqOf = ({ undone, equalSeq }: SourceState) => undone?.seq ?? equalSeq;

/** Until the plan says for itself that it goes on, ms. */
const HOLD = 15_000;

const opened = (ports: ApplyPorts, { source, caller }: ApplyTask) =>
  openReplacement(
    ports,
    caller,
    { id: source.listId, name: source.name, sourceId: source.id },
    { action: source.purpose, refused: 'skip_all' },
    'planning',
  );

async function* nothing(): Entries & AsyncGenerator<never> {}

/**
 * Nobody else can plan for the list while this replacement is open: so who holds the lease when that is kept is the only one whose content can
 * come next, also where this process sleeps from here on.
 */
async function keptApplying(ports: ApplyPorts, { checkpoint, source }: ApplyTask, applying: Applying): Promise<void> {
  if (await checkpoint(applying)) return;
  await giveUp(ports, applying.replacement, 'planning', headFor(source), setMeanwhile());
  throw setMeanwhile();
}

const headFor = ({ name, purpose }: Source): ReplacementHead => ({
  list: name,
  action: purpose,
  refused: 'skip_all',
  steps: 0,
  batches: [],
});

async function compared(ports: ApplyPorts, task: ApplyTask, id: string, content: Content, isAccepted: boolean): Promise<Applied> {
  const { source, state, caller } = task;
  const { geo, store, now, mostBytes, pause } = ports;
  const about = { replacement: id, at: content.at, digest: content.digest, isAccepted };
  const applying = { ...about, hasBroad: false, revision: source.revision, equalSeq: equalSeqOf(state) };
  await keptApplying(ports, task, applying);
  const seen = nothingSeen();
  const blockFaults = ports.blockFaults(caller);
  const mayBeBlocked = (network: Network) => blockFaults(network).length === 0;
  const wide = async () => (seen.wide.length === 0 ? undefined : await broadOf(seen.wide, geo(), pause));
  const judge = async (plan: SyncPlan) => {
    const found = await wide();
    const facts = {
      wider: { count: seen.wider, first: seen.firstWider },
      wide: found && broadText(found),
      broadBefore: state.hasBroad,
      undone: state.undone === null ? undefined : `by batch ${state.undone.batch}`,
      hadContent: state.digest !== null,
    };
    if (content.stays !== undefined && !isSame(plan, facts)) throw content.stays;
    const faults = guardFaults(plan, facts, source.guards);
    if (faults.length === 0) return undefined;
    await keepContent(store, id, content.open(), now);
    return faults.join('; ');
  };
  const entries = readSource(content.open(), source, mostBytes, mayBeBlocked, seen);
  const done = await run(ports, task, applying, entries, isAccepted ? undefined : judge);
  return { ...done, applying: { ...applying, hasBroad: seen.wide.length > 0, hasEnds: seen.hasEnds } };
}

async function run(
  ports: ApplyPorts,
  { source, caller }: ApplyTask,
  applying: Applying,
  entries: Entries,
  judge?: (plan: SyncPlan) => Promise<string | undefined>,
): Promise<Applied> {
  const { replacement: id } = applying;
  const task = { id, caller, listId: source.listId, isSure: true, ...(judge && { judge }) };
  const head = await planReplacement(
    ports,
    syncPorts(ports, caller, (seconds) => ports.sleep(seconds)),
    task,
    headFor(source),
    entries,
  );
  if (head.held !== undefined) return { applying, plan: head.plan!, held: head.held };
  await runReplacement(ports, caller.workspaceId, id);
  return { applying, plan: head.plan! };
}

/** What became of a content that was being applied when a process ended: undefined while another goes on with it, null where nothing did. */
export async function resumedApply(
  { store }: Pick<ApplyPorts, 'store'>,
  workspaceId: string,
  applying: Applying,
): Promise<Applied | null | undefined> {
  const found = await store.replacement(workspaceId, applying.replacement);
  if (found === undefined || found.state === 'failed' || found.state === 'open' || found.state === 'planned') return null;
  const { plan, held } = headOf(found);
  if (found.state === 'planning' || found.state === 'running' || plan === undefined) return undefined;
  return { applying, plan, ...(found.state === 'held' && held !== undefined && { held }) };
}
