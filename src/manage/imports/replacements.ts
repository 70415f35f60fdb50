/**
 * Stores all messages before the first is published (SPEC D11.4): after a crash another process continues: the list has either the
 * old content or the new.
 */
import { v7 } from 'uuid';
import type { Caller } from '../../account/caller.ts';
import type { AccessList } from '../../account/list.ts';
import { requireOwnList } from '../../account/managed-list.ts';
import { WeirError } from '../../errors.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import type { Replacement, ReplacementSlot } from '../../ports/stored/replacement-store.ts';
import type { Message } from '../../ports/stream.ts';
import { batchReader } from '../../signal/message/signal-id.ts';
import type { PassedRow, PlacedEntry } from '../../source/readers/content.ts';
import type { LineFault } from '../../source/readers/items.ts';
import { needsConfirmation, planSync, type SyncPlan, type SyncPorts, type SyncTask } from '../../source/sync.ts';
import { allLanded } from '../operate.ts';
import type { RuleManagement } from '../rules/rule-ports.ts';
import { pack, unpack } from './pack.ts';

/** Silence before another process takes over, ms. */
const LOCK = 10_000;
/** Slots per workspace. Only one source per service is compared at a time. */
const MOST: Readonly<Record<ReplacementSlot, number>> = { parts: 4, import: 4, source: 0 };
/** Idle time before another may take the slot, ms. */
const IDLE = 600_000;

export interface ReplacementPorts extends Pick<RuleManagement, 'accept' | 'blockFaults' | 'gate' | 'geo' | 'publish' | 'untilLanded'> {
  /** Yields to other work. */
  pause(): Promise<void>;
  readonly store: Pick<StoreReads, 'comparedRules' | 'rulesById' | 'batch' | 'replacement' | 'replacementPiece' | 'abandonedReplacements'> &
    Pick<StoreWrites, 'openReplacement' | 'storeReplacementPiece' | 'moveReplacement'>;
  readonly now: () => number;
}

export interface ReplacementHead {
  readonly list: string;
  readonly action: SyncTask['action'];
  readonly refused: SyncTask['refused'];
  readonly plan?: SyncPlan;
  /** To publish. */
  readonly steps: number;
  readonly batches: readonly string[];
  /** Of a failure. */
  readonly reason?: string;
  /** Reason for the hold. */
  readonly held?: string;
}

export const headOf = ({ head }: Pick<Replacement, 'head'>): ReplacementHead => JSON.parse(head) as ReplacementHead;

type Asked = Pick<ReplacementHead, 'action' | 'refused'>;

/** `open`: content is uploaded in parts. Rejects with REFUSED if a source manages the list. */
export async function openReplacement(
  { store, now }: ReplacementPorts,
  { workspaceId, sourceId }: Caller,
  list: Pick<AccessList, 'id' | 'name' | 'sourceId'>,
  { action, refused }: Asked,
  state: 'open' | 'planning',
): Promise<string> {
  requireOwnList(list, sourceId);
  const at = now();
  const id = v7({ msecs: at });
  const head: ReplacementHead = { list: list.name, action, refused, steps: 0, batches: [] };
  const lockedUntil = state === 'open' ? 0 : at + LOCK;
  const slot = state === 'open' ? 'parts' : sourceId === undefined ? 'import' : 'source';
  const one = { id, workspaceId, listId: list.id, slot, state, createdAt: at, lockedUntil, head: JSON.stringify(head) } as const;
  await store.openReplacement(one, { most: MOST[slot], idleBefore: at - IDLE });
  return id;
}

export const syncPorts = (ports: ReplacementPorts, caller: Caller, wait?: SyncPorts['wait']): SyncPorts => ({
  reads: ports.store,
  accept: ports.accept,
  blockFaults: ports.blockFaults(caller),
  geo: ports.geo(),
  now: ports.now,
  pause: ports.pause,
  ...(wait !== undefined && { wait }),
});

export interface PlanTask {
  readonly id: string;
  readonly caller: Caller;
  readonly listId: string;
  readonly isSure: boolean;
  /** Returns a reason for a hold; stores what it needs. */
  readonly judge?: (plan: SyncPlan) => Promise<string | undefined>;
}

/** Stores the steps. The next state is `running`, `planned` (needs confirmation) or `held`; `failed` if this rejects. */
export async function planReplacement(
  ports: ReplacementPorts,
  equal: SyncPorts,
  { id, caller, listId, isSure, judge }: PlanTask,
  before: ReplacementHead,
  entries: AsyncIterable<PlacedEntry | LineFault | PassedRow>,
): Promise<ReplacementHead> {
  const { store, now } = ports;
  const batches: string[] = [];
  const batchOf = batchReader();
  let [steps, held] = [0, now()];
  const { action, refused } = before;
  try {
    await allLanded(ports);
    const hold = async () => {
      await equal.pause();
      if (now() - held < LOCK / 4) return;
      held = now();
      if (!(await store.moveReplacement(id, { from: 'planning', to: 'planning', now: held, lockedUntil: held + LOCK }))) throw lostLease();
    };
    const plan = await planSync({ ...equal, pause: hold }, { caller, listId, action, refused }, entries, async (messages) => {
      const body = await pack(JSON.stringify(messages));
      if (!(await store.storeReplacementPiece(id, 'step', steps, body, now()))) throw lostLease();
      steps += 1;
      const batch = batchOf(messages[0]?.headers.signal_id);
      if (batch !== null && !batches.includes(batch, -1)) batches.push(batch);
    });
    const why = await judge?.(plan);
    const head: ReplacementHead = { ...before, plan, steps, batches, ...(why !== undefined && { held: why }) };
    const to = why !== undefined ? 'held' : needsConfirmation(plan) && !isSure ? 'planned' : 'running';
    const lockedUntil = to === 'running' ? now() + LOCK : 0;
    if (!(await store.moveReplacement(id, { from: 'planning', to, head: JSON.stringify(head), now: now(), lockedUntil })))
      throw lostLease();
    return head;
  } catch (error) {
    await giveUp(ports, id, 'planning', before, error).catch(() => undefined);
    throw error;
  }
}

const lostLease = () => new WeirError('REFUSED', 'this took too long and was cancelled: try again');

/** Without changes. */
export async function giveUp(
  { store, now }: ReplacementPorts,
  id: string,
  from: 'open' | 'planning' | 'planned' | 'held' | 'running',
  head: ReplacementHead,
  error: unknown,
): Promise<void> {
  const reason = error instanceof WeirError ? error.message : 'the service could not compare the content';
  await store.moveReplacement(id, { from, to: 'failed', head: JSON.stringify({ ...head, reason }), now: now(), lockedUntil: 0 });
}

/** Only one process continues it. */
export async function runReplacement(ports: ReplacementPorts, workspaceId: string, id: string): Promise<void> {
  const { store, now, publish } = ports;
  const found = await store.replacement(workspaceId, id);
  if (found?.state !== 'running') return;
  const { steps } = headOf(found);
  let { published, lockedUntil: lockedBefore } = found;
  const move = async (to: 'running' | 'done', next: number): Promise<boolean> => {
    const lockedUntil = to === 'done' ? 0 : now() + LOCK;
    const isOurs = await store.moveReplacement(id, {
      from: 'running',
      to,
      published: next,
      expected: published,
      lockedBefore,
      now: now(),
      lockedUntil,
    });
    [published, lockedBefore] = [next, lockedUntil];
    return isOurs;
  };
  if (!(await move('running', published))) return;
  // The crashed process may have published a step without recording it.
  if (published > 0 || found.touchedAt < now() - LOCK) await allLanded(ports);
  const stepAt = async (step: number) => {
    const body = await store.replacementPiece(id, 'step', step);
    if (body === undefined) throw new Error(`step ${step} of the replacement ${id} is missing`);
    return JSON.parse((await unpack(body)).toString()) as Message[];
  };
  async function* all() {
    for (let step = 0; step < steps; step += 1) yield await stepAt(step);
  }
  if (published === 0)
    await ports.gate.check(all()).catch(async (error: unknown) => {
      await giveUp(ports, id, 'running', headOf(found), error);
      throw error;
    });
  for (let isFirst = true; published < steps; isFirst = false) {
    const messages = await stepAt(published);
    const batch = batchReader()(messages[0]?.headers.signal_id);
    const isThere = isFirst && batch !== null && (await store.batch(workspaceId, batch)) !== undefined;
    if (!isThere) await publish(messages);
    if (!(await move('running', published + 1))) return;
  }
  await move('done', published);
}

/** Comparisons fail, running replacements continue. */
export async function resumeReplacements(ports: ReplacementPorts): Promise<void> {
  for (const each of await ports.store.abandonedReplacements(ports.now(), 10)) {
    if (each.state === 'running') await runReplacement(ports, each.workspaceId, each.id);
    else
      await giveUp(
        ports,
        each.id,
        'planning',
        headOf(each),
        new WeirError('REFUSED', 'the service stopped during the comparison; nothing was changed'),
      );
  }
}
