/** Using stream messages (SPEC D11.4). Unchanged rules are not sent and retain their age; unset entry fields retain the rule's values. */
import { type Caller, senderOf } from '../account/caller.ts';
import { WeirError } from '../errors.ts';
import type { GeoDatabase } from '../ports/geo.ts';
import type { StoreReads } from '../ports/store.ts';
import type { ComparedRule } from '../ports/stored/stored-rule.ts';
import type { Message } from '../ports/stream.ts';
import type { AccessRule, Target } from '../rule.ts';
import type { Accept } from '../signal/accept.ts';
import { entryErrors } from '../signal/faults.ts';
import { LIMITS } from '../signal/limits.ts';
import { encodeOperation, OPERATION_RULES } from '../signal/message/encode.ts';
import { newBatchId, signalId } from '../signal/message/signal-id.ts';
import { throwRefusal } from '../signal/refusal.ts';
import { formatTarget } from '../signal/target.ts';
import { type AddressChange, AddressTally, largeChanges, SURE_PERCENT } from './addresses.ts';
import { broadTarget } from './broad-targets.ts';
import { COMPARED, type Compared, type CurrentRule, CurrentRules, comparedPages } from './current-rules.ts';
import type { PassedRow, PlacedEntry } from './readers/content.ts';
import { hasExpired, type ListEntry, signalOf } from './readers/entry.ts';
import { arrayOf, type FileSignal, type LineFault } from './readers/items.ts';
import type { ListAction } from './readers/verdict.ts';
import { expiryOf, isOutlived } from './renewal.ts';

export interface SyncPorts {
  readonly reads: Pick<StoreReads, 'comparedRules' | 'rulesById'>;
  readonly accept: Accept;
  readonly blockFaults: (network: Extract<Target, { kind: 'ip' }>['network']) => readonly string[];
  readonly geo: GeoDatabase;
  readonly now: () => number;
  /** Yields to other work. Rejects if the result is no longer needed. */
  pause(): Promise<void>;
  /** Seconds; undefined: refuse instead. */
  readonly wait?: (seconds: number) => Promise<void>;
}

export interface SyncTask {
  readonly caller: Caller;
  readonly listId: string;
  readonly action: ListAction;
  /**
   * Entries refused by guard rails: `keep` prevents all removals; `skip` treats them as absent; `skip_all` does so for all unacceptable
   * entries.
   */
  readonly refused: 'keep' | 'skip' | 'skip_all';
}

export interface PlacedFault {
  readonly place: string;
  readonly message: string;
}

export interface SyncPlan {
  /** Of the actions concerned, without `rule_ref`. */
  readonly present: number;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
  /** Unmatched rules: never removed. */
  readonly kept: number;
  readonly listed: number;
  /** Of the actions concerned. */
  readonly addresses: readonly AddressChange[];
  /** Unreadable, unacceptable, refused and expired entries. */
  readonly failed: number;
  readonly refused: number;
  readonly expired: number;
  readonly passed: Readonly<Record<string, number>>;
  readonly faults: readonly PlacedFault[];
  /** Their number requires confirmation. */
  readonly isLarge: boolean;
  /** They require confirmation too. */
  readonly wide: number;
}

export const needsConfirmation = ({ isLarge, wide }: Pick<SyncPlan, 'isLarge' | 'wide'>): boolean => isLarge || wide > 0;

const SLICE = LIMITS.batchEntries;
/** Entries per turn. */
const TURN = 200;
/** In API documents. */
export const MOST_FAULTS = 1000;
export const FIRST_FAULTS = `The first ${MOST_FAULTS.toLocaleString('en')}.`;
const MOST_REASONS = 20;
/** Additions without confirmation. */
const FEW = 100;
const compared = (rule: ComparedRule): Readonly<Record<Compared, unknown>> =>
  rule.ruleRef === null ? rule : { ...rule, name: `${rule.action} ${formatTarget(rule.target)}` };
const comparedOf = (entry: ListEntry): Readonly<Record<Compared, unknown>> =>
  entry.ruleRef === undefined ? entry : { ...entry, name: `${entry.action} ${formatTarget(entry.target)}` };

interface Pending extends PlacedEntry {
  /** The changed rule; 0: a new one. */
  readonly id: number;
  readonly index: number;
  readonly keepsExpiry: boolean;
}

/**
 * Passes on changes in batches: additions first, then removals (none if an entry failed). Rejects with USAGE for an entry without a rule,
 * and with a batch's refusal.
 */
export async function planSync(
  { reads, accept, blockFaults, geo, now, pause, wait }: SyncPorts,
  { caller, listId, action, refused: onRefused }: SyncTask,
  entries: AsyncIterable<PlacedEntry | LineFault | PassedRow>,
  step: (messages: readonly Message[]) => Promise<void>,
): Promise<SyncPlan> {
  const { workspaceId, organizationId, sourceId } = caller;
  const tally = new AddressTally(geo);
  const present = new CurrentRules();
  for await (const rules of comparedPages(reads, workspaceId, listId, now(), pause)) for (const rule of rules) takePresent(rule);
  const stored = present.size;
  const actions = new Set<string>([action]);
  const faults: PlacedFault[] = [];
  const passed: Record<string, number> = Object.create(null);
  const count = { added: 0, changed: 0, unchanged: 0, failed: 0, refused: 0, expired: 0, wide: 0 };
  let pending: Pending[] = [];
  const tell = (fault: PlacedFault) => void (faults.length < MOST_FAULTS && faults.push(fault));

  let seen = 0;
  for await (const each of entries) {
    seen += 1;
    if (seen % TURN === 0) await pause();
    if ('passed' in each) {
      const reason = each.passed in passed || Object.keys(passed).length < MOST_REASONS ? each.passed : 'other reasons';
      passed[reason] = (passed[reason] ?? 0) + 1;
    } else if ('fault' in each) {
      count.failed += 1;
      tell({ place: each.place, message: each.fault });
    } else take(each);
    if (pending.length >= SLICE) await judge();
  }
  if (pending.length > 0) await judge();
  if (actions.has('unblock')) throw noRule();

  const mayRemove = onRefused === 'skip_all' || (count.failed === 0 && (count.refused === 0 || onRefused === 'skip'));
  const isConcerned = ({ isAllow, hasRef }: CurrentRule) => !hasRef && actions.has(isAllow ? 'allow' : 'block');
  const [removals, known] = [[] as number[], { present: 0, kept: 0 }];
  for (let at = 0; at < stored; at += 1) {
    if (at % (TURN * 10) === 0) await pause();
    const rule = present.get(at);
    if (rule.hasRef && !present.isWanted(at)) known.kept += 1;
    if (!isConcerned(rule)) continue;
    known.present += 1;
    if (!present.isWanted(at)) removals.push(rule.id);
  }
  if (mayRemove) await remove(removals);
  const { added } = count;
  const removed = mayRemove ? removals.length : 0;
  let listed = stored - removed;
  for (let at = stored; at < present.size; at += 1) if (present.isWanted(at)) listed += 1;
  const addresses = (await tally.change(pause, !mayRemove)).filter(({ action: of }) => actions.has(of));
  const isMuch = removed * 2 > known.present || (known.present > 0 && added > Math.max(FEW, known.present));
  const isLarge = isMuch || largeChanges(addresses, { present: stored, added, removed, percent: SURE_PERCENT }).length > 0;
  return { ...known, ...count, removed, listed, addresses, passed, faults, isLarge };

  function takePresent(rule: ComparedRule): void {
    const [fields, hasRef] = [compared(rule), rule.ruleRef !== null];
    const known = { id: rule.id, expiresAt: rule.expiresAt ?? 0, hasRef, isAllow: rule.action === 'allow' };
    const digests = COMPARED.map((field) => present.digest(fields[field]));
    present.add(rule, known, digests);
    tally.push('before', rule);
    if (hasRef) tally.push('after', rule);
  }

  function take({ entry, place }: PlacedEntry): void {
    if (entry.action === 'unblock') throw noRule();
    actions.add(entry.action);
    const at = now();
    if (hasExpired(entry, at)) {
      count.expired += 1;
      return;
    }
    const why = entry.action === 'block' && entry.target.kind === 'ip' ? blockFaults(entry.target.network) : [];
    if (why.length > 0) {
      count.refused += 1;
      tell({ place, message: `${formatTarget(entry.target)} ${why.join('; ')}` });
      return;
    }
    const of = { action: entry.action, target: entry.target };
    tally.push('after', of);
    const found = present.find(entry);
    const rule = found < 0 ? undefined : present.get(found);
    if (rule !== undefined) present.want(found);
    const isDue = rule === undefined || isOutlived(entry, rule.expiresAt, at);
    const fields = comparedOf(entry);
    const isSame =
      rule !== undefined &&
      COMPARED.every((field, i) => fields[field] === undefined || present.digest(fields[field]) === present.digestAt(found, i));
    if (rule !== undefined && isSame && !isDue) {
      if (rule.id > 0) count.unchanged += 1;
      return;
    }
    if (rule === undefined && broadTarget(entry) !== undefined) count.wide += 1;
    const before = (i: number) => (found < 0 ? 0 : present.digestAt(found, i));
    const digests = COMPARED.map((field, i) => (fields[field] === undefined ? before(i) : present.digest(fields[field])));
    const hasRef = entry.ruleRef !== undefined;
    const next = { id: rule?.id ?? 0, expiresAt: expiryOf(entry, at), hasRef, isAllow: entry.action === 'allow' };
    if (found < 0) tally.noteNew(of);
    else present.set(found, next, digests);
    const index = found < 0 ? present.add(entry, next, digests) : found;
    present.want(index);
    pending.push({ entry, place, id: rule?.id ?? 0, index, keepsExpiry: !isDue && entry.expiry === undefined });
  }

  async function judge(): Promise<void> {
    const all = pending;
    pending = [];
    const ids = all.flatMap(({ id }) => (id > 0 ? [id] : []));
    const before = new Map(
      ids.length === 0 ? [] : (await reads.rulesById(workspaceId, 'access_rule', ids)).map(({ id, rule }) => [id, rule as AccessRule]),
    );
    const signals = all.flatMap(({ entry, place, id, index, keepsExpiry }) => {
      const signal = signalOf(merged(entry, before.get(id), keepsExpiry), now());
      return signal === undefined ? [] : [{ ...signal, place, index, isNew: !before.has(id) }];
    });
    for (const version of [1, 2] as const) {
      // Keeps the order: a later entry for a value wins, and named entries have another version.
      const batch = signals.filter((signal) => signal.version === version);
      if (batch.length > 0) await judgeBatch(version, batch);
    }
  }

  async function judgeBatch(
    version: 1 | 2,
    batch: readonly (FileSignal & Pick<Pending, 'index'> & { readonly isNew: boolean })[],
  ): Promise<void> {
    const plan = { version, caller, list: listId, entries: arrayOf(batch), dryRun: true, isPlan: true };
    let result = await accept(plan);
    while (result.refused?.code === 'LIMITED' && wait !== undefined) {
      await wait(result.refused.retryAfter ?? 1);
      result = await accept(plan);
    }
    if (result.refused !== undefined) throwRefusal(result.refused);
    const wrong = entryErrors(result.faults);
    for (const { entry, message } of wrong) {
      tell({ place: batch[entry].place!, message });
      if (batch[entry].isNew) present.want(batch[entry].index, false);
    }
    count.failed += wrong.length;
    const bad = new Set(wrong.map(({ entry }) => entry));
    for (const [i, { isNew }] of batch.entries()) if (!bad.has(i)) count[isNew ? 'added' : 'changed'] += 1;
    if (result.foreseen.messages.length > 0) await step(result.foreseen.messages);
  }

  async function remove(ids: readonly number[]): Promise<void> {
    for (let at = 0; at < ids.length; ) {
      const batchId = newBatchId(now());
      const messages: Message[] = [];
      for (; at < ids.length && messages.length < 10; at += OPERATION_RULES) {
        const operation = { change: 'delete_rules', kind: 'access_rule', ids: ids.slice(at, at + OPERATION_RULES) } as const;
        const context = {
          workspaceId,
          organizationId,
          listId,
          receivedAt: now(),
          signalId: signalId(batchId, messages.length + 1),
          ...senderOf(caller),
          sourceId,
        };
        messages.push(encodeOperation(operation, context));
      }
      await step(messages);
      await pause();
    }
  }
}

const noRule = () => new WeirError('USAGE', 'a file that replaces a list contains its rules: unblock is not allowed');

/** Fills unset fields from the rule. */
function merged(entry: ListEntry, rule: AccessRule | undefined, keepsExpiry: boolean): ListEntry {
  if (rule === undefined) return entry;
  return {
    ...entry,
    reason: entry.reason ?? rule.reason ?? undefined,
    labels: entry.labels ?? rule.labels ?? undefined,
    config: entry.config ?? rule.config ?? undefined,
    name: entry.name ?? rule.name ?? undefined,
    expiry: keepsExpiry && rule.expiresAt !== null ? { at: rule.expiresAt } : entry.expiry,
  };
}
