/** Rules: written by the landing, read by feeds. Every call for rules names the workspace. */

import type { Author } from '../../account/caller.ts';
import type { DeviceDocument } from '../../account/device.ts';
import type { ProposedFeed } from '../../account/feed.ts';
import type { SavedRepeat } from '../../account/repeat.ts';
import type { AccessAction, Kind } from '../../rule.ts';
import type { DeadLetter, LandingBatch } from '../landing.ts';
import type {
  KnownRules,
  ListSink,
  NamedDirectory,
  RuleSink,
  SnapshotHead,
  SnapshotSink,
  StoredRulesSink,
  WorkspaceDirectory,
} from '../snapshot.ts';
import type { AuditedChange, Page, PageRequest } from './account-store.ts';
import type { ActiveRules, RuleMatch, RulePosition, SenderStep, SenderStepRequest, StepPlace } from './rule-queries.ts';
import type { ComparedPage, ComparedRule, RuleState, StoredRule } from './stored-rule.ts';

/** `target` is canonical. */
export interface NamedRule {
  readonly id: number;
  readonly ruleRef: string | null;
  readonly action: AccessAction;
  readonly target: string;
}

/** With a stored first appearance (Last-Modified). */
export type DocumentRecordKey = Pick<DeviceDocument, 'feedId' | 'format' | 'family' | 'action'>;

export interface StepFilter extends Omit<RuleFilter, 'after'> {
  /** undefined: the start. */
  readonly after?: StepPlace | undefined;
  /** Up to 1,000. */
  readonly limit: number;
}

/** `next` null: the last step. */
export interface RuleStep {
  readonly rules: readonly StoredRule[];
  readonly places: readonly StepPlace[];
  readonly next: StepPlace | null;
}

export interface RuleFilter {
  readonly listId?: string;
  readonly kind: Kind;
  /** ms */
  readonly now: number;
  /** Of access rules. */
  readonly match?: RuleMatch;
  /** Of a deleted list: the result is empty. */
  readonly after?: RulePosition;
}

/** null: not known, or no key (D9). */
export interface RuleOrigin {
  readonly batchId: string | null;
  readonly keyId: string | null;
  /** Name and provider identity. */
  readonly actor?: string;
  readonly personId?: string;
}

/** With its time (ms) and the undone batch. */
export interface ChangeOrigin extends RuleOrigin {
  readonly landedAt: number;
  readonly undoes: string | null;
}

/** As written or as restored by an undo. */
export interface RuleVersion {
  readonly stored: StoredRule;
  /** Or restored it (`undoes`); null: not known. */
  readonly written: ChangeOrigin | null;
  /** Replaced or removed it; null: still stored, expired or not. */
  readonly ended: { readonly seq: number; readonly by: ChangeOrigin | null } | null;
}

/** What a batch did (D45.13). */
export const BATCH_DEEDS = ['sent', 'refreshed', 'deleted', 'changed', 'undone'] as const;

/** Applied at least in part (D9). Times in ms. */
export interface BatchInfo extends Omit<RuleOrigin, 'batchId'> {
  readonly id: string;
  /** Lower bound for rule ids. */
  readonly firstSeq: number;
  /** Of its access rules; null: deleted, or none. */
  readonly listId: string | null;
  /** Including deleted ones. */
  readonly lists: number;
  /** Access rules belong to lists; null: not known (D38.1). */
  readonly hasTargets: boolean | null;
  /** null: not recorded. */
  readonly what: (typeof BATCH_DEEDS)[number] | null;
  readonly receivedAt: number;
  readonly landedAt: number;
  readonly entries: number;
  /** And its latest valid undo. */
  readonly undoes: string | null;
  readonly undoneBy: string | null;
  /** Replaced versions are still stored (SPEC D9.10) and can be restored somewhere. */
  readonly undoable: boolean;
  /** All are: an undo has no effect. */
  readonly isListDeleted: boolean;
}

export interface UndoPreview {
  readonly removes: number;
  readonly restores: number;
  /** Changed by another batch since. */
  readonly keeps: number;
  readonly sample: readonly string[];
}

export type Step = <T>(work: () => Promise<T>) => Promise<T>;

/** No read takes a lock that a writer waits for. */
export interface RuleReads {
  /** undefined: unknown workspace. */
  directory(workspaceId: string): Promise<WorkspaceDirectory | undefined>;
  /**
   * The list or composed feed with this UUID (case-insensitive), else every list with exactly this name, oldest first, else the composed
   * feed. Constant cost. undefined: unknown workspace.
   */
  findNamed(workspaceId: string, ref: string): Promise<NamedDirectory | undefined>;
  /** UUID, at constant cost; undefined: unknown workspace. */
  defaultList(workspaceId: string): Promise<string | undefined>;
  /** 0 for an unknown workspace. */
  listCount(workspaceId: string): Promise<number>;
  /**
   * Reads head and active rules of a feed (UUID of a list or composed feed, or an unsaved composed feed; null: the workspace's) at `now`
   * (ms) in one transaction, both actions. Rules of composed feeds inherit the levels of their list. Without `sink` access rules are not
   * read as numbers; `storedRules` gets rules as stored. undefined: workspace, list or feed deleted.
   */
  snapshot(
    workspaceId: string,
    feed: string | null | ProposedFeed,
    now: number,
    sink: SnapshotSink | undefined,
    storedRules?: StoredRulesSink,
  ): Promise<SnapshotHead | undefined>;
  /**
   * With expired ones, and previous rules as far as stored (SPEC D9.7). `id` is the start of each rule (ms), `expires` its end. One read
   * per sink; none for another workspace's list.
   */
  listHistory(workspaceId: string, listId: string, sinks: { readonly stored: RuleSink; readonly lost: RuleSink }): Promise<void>;
  /**
   * Changes since `known` up to `now` (ms) in one transaction: all rules of the feed's lists that are not cached, and the changes in all
   * cached lists of the workspace; if these are too many, all rules. `too_far`: the changes are no longer stored; `sink` got nothing.
   */
  follow(
    workspaceId: string,
    feedId: string | null,
    now: number,
    known: KnownRules,
    sink: ListSink,
  ): Promise<SnapshotHead | 'too_far' | undefined>;
  /** Of landed blocks by this sender (key or person) in the last `RECENT` (SPEC D64.3); 0 unless signals can be large. */
  recentAddresses(workspaceId: string, sender: string, now: number): Promise<number>;
  ruleStates(workspaceId: string, ids: readonly number[]): Promise<RuleState[]>;
  /** With one of these `rule_ref`s or canonical targets, expired ones too, each once, in one read. None for another workspace's list. */
  namedRules(workspaceId: string, listId: string, refs: readonly string[], targets: readonly string[]): Promise<NamedRule[]>;
  rulesById(workspaceId: string, kind: Kind, ids: readonly number[]): Promise<StoredRule[]>;
  /** Sorted; uses an index. */
  rulesByRef(workspaceId: string, kind: Kind, prefix: string, which: ActiveRules): Promise<StoredRule[]>;
  /** undefined: none stored. */
  position(streamId: string, partition: number): Promise<number | undefined>;
  positionStreams(): Promise<string[]>;
  /** All kinds, with expired ones and unswept ones of deleted lists. Constant cost. */
  ruleCount(workspaceId: string): Promise<number>;
  /** All kinds, active at `now` (ms); 0: including unswept expired ones. Reads every rule. */
  countRules(workspaceId: string, now: number): Promise<number>;
  countListRules(workspaceId: string, listId: string, most: number): Promise<number>;
  /** Active rules in primary-key order (by list), streamed. A match uses indexes, except `covered`, which reads every rule of the lists. */
  rules(workspaceId: string, filter: RuleFilter): AsyncIterable<StoredRule>;
  /**
   * Constant cost: may return none although more follow. Access rules in the order of `rules`; others in the order of enforcement: by
   * `order` (those without one last), then `rule_ref`.
   */
  ruleStep(workspaceId: string, filter: StepFilter): Promise<RuleStep>;
  /** Active, after the rule `after`, by id. */
  comparedRules(workspaceId: string, listId: string, page: ComparedPage): Promise<ComparedRule[]>;
  /** Counts by list and last key, newest rules of each list first. */
  senderStep(workspaceId: string, feed: string | null | ProposedFeed, step: SenderStepRequest): Promise<SenderStep>;
  batches(workspaceId: string, page: { before?: string; limit: number }): Promise<BatchInfo[]>;
  /** undefined: unknown, or no longer stored. */
  batch(workspaceId: string, batchId: string): Promise<BatchInfo | undefined>;
  /** Computed in small chunks, each run by `step` if given. */
  undoPreview(workspaceId: string, batchId: string, step?: Step): Promise<UndoPreview>;
  /** Before the item `seq`, as far as stored; without rules that it created. */
  rulesBefore(
    workspaceId: string,
    of: { readonly kind: Kind; readonly listId: string | null },
    rules: readonly Pick<StoredRule, 'id' | 'seq'>[],
  ): Promise<StoredRule[]>;
  /**
   * Versions of access rules with exactly these targets (see `formatTarget`) in all lists, the newest `limit`. With a `rule_ref` only while
   * a rule has the target.
   */
  ruleVersions(workspaceId: string, targets: readonly string[], limit: number): Promise<RuleVersion[]>;
  /** Blocked more than once, in lists with `repeat`; `sent`: duration of the last block as sent, ms. */
  repeats(
    workspaceId: string,
    of: readonly { readonly listId: string; readonly target: string }[],
  ): Promise<
    { readonly listId: string; readonly target: string; readonly blocks: number; readonly sent: number; readonly repeat: string }[]
  >;
  /** That may still count at `now`, ms, by target; empty without `repeat`. */
  repeatPage(workspaceId: string, listId: string, page: PageRequest & { readonly now: number }): Promise<Page<SavedRepeat>>;
  origins(workspaceId: string, seqs: readonly number[]): Promise<Map<number, ChangeOrigin>>;
  /** The newest `limit`, oldest first. */
  deadLetters(limit: number): Promise<DeadLetter[]>;
  deadLetterPage(workspaceId: string, page: PageRequest): Promise<Page<DeadLetter>>;
  deadLettersOf(workspaceId: string, most: number): Promise<number>;
  deadLetterCount(most: number): Promise<number>;
  deadLetter(id: number): Promise<DeadLetter | undefined>;
}

/** Times in ms. */
export interface SweepLimits {
  readonly now: number;
  readonly rulesExpiredBefore: number;
  readonly auditBefore: number;
  readonly limit: number;
  readonly mostPrevious?: number;
  readonly mostPreviousInAll?: number;
  /** 100,000 by default. */
  readonly deadLetters?: number;
  /** Per workspace, bytes; from half of it the retention is seven days. 0 or absent: none. */
  readonly auditBytes?: number;
}

/** Each call is one transaction. */
export interface RuleWrites {
  /**
   * One fenced transaction. `fenced`: the stored position is not `from` (another owner), nothing was written. Items of unknown workspaces
   * become dead letters.
   */
  apply(batch: LandingBatch): Promise<'landed' | 'fenced'>;
  /**
   * Returns the stored row. A newer snapshot with another hash sets since = max(second, stored since + 1). An older one changes nothing,
   * unless the stored one lies after the store's clock, which then had been ahead (SPEC D35.2). `lastModified`: a later one sent with the
   * same hash; becomes since (SPEC D37.3). snapshotAt in ms, others in whole seconds.
   */
  recordDocument(
    workspaceId: string,
    key: DocumentRecordKey,
    seen: { hash: string; snapshotAt: number; second: number; lastModified?: number },
  ): Promise<{ hash: string; snapshotAt: number; since: number }>;
  /**
   * Rows beyond their retention, and replaced versions of the oldest batches above `mostPrevious` of a workspace (SPEC D9.10) or
   * `mostPreviousInAll`; up to `limit` rows per table. Returns the number deleted. Consumer role only.
   */
  sweep(limits: SweepLimits): Promise<number>;
  /** One slice to the disk, if many are free; whether there may be more. */
  shrink(): Promise<boolean>;
  dropDeadLetter(id: number, of?: { readonly workspaceId?: string; readonly by: Author }): Promise<boolean>;
  noteChange(workspaceId: string, event: string, batchId: string, change: AuditedChange['after'], by: Author): Promise<void>;
  /** Landing starts at the beginning of this stream, or at `ends` per partition. */
  adoptStream(streamId: string, ends?: ReadonlyMap<number, number>, by?: Author): Promise<void>;
}
