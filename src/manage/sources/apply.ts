/** SPEC D23.15 to D23.19. */
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
import type { ApprovePorts } from '../approvals/approve.ts';
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

export interface ApplyPorts extends ReplacementPorts, ApprovePorts {
  readonly store: ReplacementPorts['store'] & ApprovePorts['store'];
  /** Until more entries may be checked. */
  sleep(seconds: number): Promise<void>;
  /** Unpacked. */
  readonly mostBytes: number;
}

export interface ApplyTask {
  readonly source: Source;
  readonly state: SourceState;
  readonly caller: Caller;
  /** Records the start. False if another process refreshes now, or the source has changed. */
  checkpoint(applying: Applying): Promise<boolean>;
}

export interface Content {
  readonly digest: string;
  /** Of the fetch, ms. */
  readonly at: number;
  open(): AsyncIterable<Buffer>;
  /** Reject with this unless the content equals the list. */
  readonly stays?: WeirError | undefined;
}

/** `held`: a reason. */
export interface Applied {
  readonly applying: Applying;
  readonly plan: SyncPlan;
  readonly held?: string;
}

type Entries = AsyncIterable<PlacedEntry | LineFault | PassedRow>;

/** The content is valid. */
const setMeanwhile = () => new WeirError('CHANGED', 'the source was changed, or another process refreshes it');

/** Applies content or puts it on hold. Rejects with USAGE if it is invalid, with CHANGED and REFUSED to try again. */
export async function applyContent(ports: ApplyPorts, task: ApplyTask, content: Content): Promise<Applied> {
  const id = await opened(ports, task);
  return await compared(ports, task, id, content, false);
}

/** Rejects like `applyContent`, and with REFUSED if the content was deleted. */
export async function applyOnHold(ports: ApplyPorts, task: ApplyTask, id: string, content: Omit<Content, 'open'>): Promise<Applied> {
  const { store, now } = ports;
  if (!(await store.moveReplacement(id, { from: 'held', to: 'planning', now: now(), lockedUntil: now() + LOCK })))
    throw new WeirError('REFUSED', 'the version on hold is no longer stored: it will be fetched again');
  return await compared(ports, task, id, { ...content, open: () => contentOnHold(store, id) }, true);
}

export async function discardOnHold({ store, now }: Pick<ApplyPorts, 'store' | 'now'>, id: string): Promise<void> {
  await store.moveReplacement(id, { from: 'held', to: 'failed', now: now(), lockedUntil: 0 });
}

/** Its content has expired. */
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
  await recordApplying(ports, task, applying);
  return await run(ports, task, applying, nothing());
}

/** Undos before the comparison no longer count afterwards. */
const equalSeqOf = ({ undone, equalSeq }: SourceState) => undone?.seq ?? equalSeq;

/** Until the comparison renews it, ms. */
const LOCK = 15_000;

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
 * While this replacement is open no other process can plan for the list. So only the holder of the lease at this checkpoint can apply the
 * next content, even if it sleeps afterwards.
 */
async function recordApplying(ports: ApplyPorts, { checkpoint, source }: ApplyTask, applying: Applying): Promise<void> {
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
  await recordApplying(ports, task, applying);
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

/** After a crash: undefined if another process continues, null if none does. */
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
