/** Rules: written by the landing, read by feeds. Every call for rules names the workspace. */

import type { Author } from '../../account/caller.ts';
import type { DeviceDocument } from '../../account/device.ts';
import type { ProposedFeed } from '../../account/feed.ts';
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

/** How signals identify an access rule; `target` is canonical. */
export interface NamedRule {
  readonly id: number;
  readonly ruleRef: string | null;
  readonly action: AccessAction;
  readonly target: string;
}

/** A representation with a stored first appearance (Last-Modified). */
export type DocumentRecordKey = Pick<DeviceDocument, 'feedId' | 'format' | 'family' | 'action'>;

export interface StepFilter extends Omit<RuleFilter, 'after'> {
  /** undefined: from the start. */
  readonly after?: StepPlace | undefined;
  /** Up to 1,000. */
  readonly limit: number;
}

/** Rules with their places; `next` null: the last step. */
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
  /** If its list is deleted, the result is empty. */
  readonly after?: RulePosition;
}

/** The origin of a rule (D9); null: not known, or no key. */
export interface RuleOrigin {
  readonly batchId: string | null;
  readonly keyId: string | null;
  /** The person, if known: name and provider identity. */
  readonly actor?: string;
  readonly personId?: string;
}

/** The origin of one change, with its time (ms) and the undone batch. */
export interface ChangeOrigin extends RuleOrigin {
  readonly landedAt: number;
  readonly undoes: string | null;
}

/** A version of an access rule, as written or as restored by an undo. */
export interface RuleVersion {
  readonly stored: StoredRule;
  /** The change that wrote it, or that restored it (`undoes`); null: not known. */
  readonly written: ChangeOrigin | null;
  /** The change that replaced or removed it; null: still stored, expired or not. */
  readonly ended: { readonly seq: number; readonly by: ChangeOrigin | null } | null;
}

/** What a batch did (D45.13). */
export const BATCH_DEEDS = ['sent', 'refreshed', 'deleted', 'changed', 'undone'] as const;

/** A batch that was applied, at least in part (D9). Times in ms. */
export interface BatchInfo extends Omit<RuleOrigin, 'batchId'> {
  readonly id: string;
  /** Lower bound for the ids of its rules. */
  readonly firstSeq: number;
  /** The first list of its access rules; null: deleted, or none. */
  readonly listId: string | null;
  /** Number of lists, including deleted ones. */
  readonly lists: number;
  /** Whether it has access rules, which belong to lists; null: not known (D38.1). */
  readonly hasTargets: boolean | null;
  /** null: applied before weir recorded this. */
  readonly what: (typeof BATCH_DEEDS)[number] | null;
  readonly receivedAt: number;
  readonly landedAt: number;
  readonly entries: number;
  /** The batch that it undid, and its latest valid undo. */
  readonly undoes: string | null;
  readonly undoneBy: string | null;
  /** Whether the replaced versions are still stored (SPEC D9.10) and can be restored somewhere. */
  readonly undoable: boolean;
  /** Whether all its lists are deleted: an undo has no effect. */
  readonly isListDeleted: boolean;
}

export interface UndoPreview {
  readonly removes: number;
  readonly restores: number;
  /** Rules that another batch has changed since; they stay. */
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
   * feed with this name. Constant cost. undefined: unknown workspace.
   */
  findNamed(workspaceId: string, ref: string): Promise<NamedDirectory | undefined>;
  /** UUID of the default list, at constant cost; undefined: unknown workspace. */
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
   * The stored access rules of a list, expired ones included, and its previous rules as far as they are stored (SPEC D9.7). `id` is the
   * start of each rule (ms), `expires` its end. One read per sink; none for a list of another workspace.
   */
  listHistory(workspaceId: string, listId: string, sinks: { readonly stored: RuleSink; readonly lost: RuleSink }): Promise<void>;
  /**
   * Reads what changed since `known` up to `now` (ms) in one transaction: all rules of the feed's lists that are not cached, and the
   * changes in all cached lists of the workspace; if these are too many, all rules. `too_far`: the changes are no longer stored; `sink` got
   * nothing.
   */
  follow(
    workspaceId: string,
    feedId: string | null,
    now: number,
    known: KnownRules,
    sink: ListSink,
  ): Promise<SnapshotHead | 'too_far' | undefined>;
  /** Addresses of landed blocks by this sender (key or person) in the last `RECENT` (SPEC D64.3); 0 unless signals can be large. */
  recentAddresses(workspaceId: string, sender: string, now: number): Promise<number>;
  ruleStates(workspaceId: string, ids: readonly number[]): Promise<RuleState[]>;
  /**
   * The access rules of a list with one of these `rule_ref`s or canonical targets, expired ones too, each once, in one read. None for a
   * list of another workspace.
   */
  namedRules(workspaceId: string, listId: string, refs: readonly string[], targets: readonly string[]): Promise<NamedRule[]>;
  rulesById(workspaceId: string, kind: Kind, ids: readonly number[]): Promise<StoredRule[]>;
  /** Active rules whose `rule_ref` has this prefix, sorted by it; uses an index. */
  rulesByRef(workspaceId: string, kind: Kind, prefix: string, which: ActiveRules): Promise<StoredRule[]>;
  /** undefined: none stored. */
  position(streamId: string, partition: number): Promise<number | undefined>;
  positionStreams(): Promise<string[]>;
  /** Stored rules of all kinds, including expired ones and unswept ones of deleted lists. Constant cost. */
  ruleCount(workspaceId: string): Promise<number>;
  /** Rules of all kinds active at `now` (ms); 0: including unswept expired ones. Reads every rule. */
  countRules(workspaceId: string, now: number): Promise<number>;
  countListRules(workspaceId: string, listId: string, most: number): Promise<number>;
  /** Active rules in primary-key order (by list), streamed. A match uses indexes, except `covered`, which reads every rule of the lists. */
  rules(workspaceId: string, filter: RuleFilter): AsyncIterable<StoredRule>;
  /**
   * One step of constant cost: it may return none although more follow. Access rules in the order of `rules`; others in the order of
   * enforcement: by `order` (those without one last), then `rule_ref`.
   */
  ruleStep(workspaceId: string, filter: StepFilter): Promise<RuleStep>;
  /** Active access rules of a list after the rule `after`, by id. */
  comparedRules(workspaceId: string, listId: string, page: ComparedPage): Promise<ComparedRule[]>;
  /** One step of counting a feed's rules by list and last key, newest rules of each list first. */
  senderStep(workspaceId: string, feed: string | null | ProposedFeed, step: SenderStepRequest): Promise<SenderStep>;
  batches(workspaceId: string, page: { before?: string; limit: number }): Promise<BatchInfo[]>;
  /** undefined: no such batch, or no longer stored. */
  batch(workspaceId: string, batchId: string): Promise<BatchInfo | undefined>;
  /** The effect of an undo now, computed in small chunks, each run by `step` if given. */
  undoPreview(workspaceId: string, batchId: string, step?: Step): Promise<UndoPreview>;
  /** Previous versions of rules (of a list) before the item `seq`, as far as stored; without rules that it created. */
  rulesBefore(
    workspaceId: string,
    of: { readonly kind: Kind; readonly listId: string | null },
    rules: readonly Pick<StoredRule, 'id' | 'seq'>[],
  ): Promise<StoredRule[]>;
  /**
   * Known versions of the access rules with exactly these targets (see `formatTarget`) in all lists, the newest `limit`. Versions of rules
   * with a `rule_ref` are found only while a rule has the target.
   */
  ruleVersions(workspaceId: string, targets: readonly string[], limit: number): Promise<RuleVersion[]>;
  /** Targets of lists with `repeat` that were blocked more than once; `sent`: duration of the last block as sent, ms. */
  repeats(
    workspaceId: string,
    of: readonly { readonly listId: string; readonly target: string }[],
  ): Promise<
    { readonly listId: string; readonly target: string; readonly blocks: number; readonly sent: number; readonly repeat: string }[]
  >;
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
  /** Retained dead letters; 100,000 by default. */
  readonly deadLetters?: number;
  /** Audit log limit per workspace, bytes; from half of it the retention is seven days. 0 or absent: none. */
  readonly auditBytes?: number;
}

/** Each call is one transaction. */
export interface RuleWrites {
  /**
   * Writes position and rules in one fenced transaction. `fenced`: the stored position is not `from` (another owner), nothing was written.
   * Items of unknown workspaces become dead letters.
   */
  apply(batch: LandingBatch): Promise<'landed' | 'fenced'>;
  /**
   * Stores when a representation's content first appeared, and returns the stored row. A newer snapshot with another hash sets since =
   * max(second, stored since + 1). An older one changes nothing, unless the stored one lies after the store's clock, which then had been
   * ahead (SPEC D35.2). `lastModified`: a later one that was sent with the same hash; becomes since (SPEC D37.3). snapshotAt in ms,
   * others in whole seconds.
   */
  recordDocument(
    workspaceId: string,
    key: DocumentRecordKey,
    seen: { hash: string; snapshotAt: number; second: number; lastModified?: number },
  ): Promise<{ hash: string; snapshotAt: number; since: number }>;
  /**
   * Deletes rows beyond their retention, and replaced versions of the oldest batches where a workspace stores more than `mostPrevious` (SPEC
   * D9.10) or all together more than `mostPreviousInAll`; up to `limit` rows per table. Returns the number deleted. Called by the consumer role
   * only.
   */
  sweep(limits: SweepLimits): Promise<number>;
  /** Returns one slice of free pages to the disk, if there are many; whether there may be more. */
  shrink(): Promise<boolean>;
  dropDeadLetter(id: number, of?: { readonly workspaceId?: string; readonly by: Author }): Promise<boolean>;
  /** Writes an audit row for a change of rules, with the id of its batch. */
  noteChange(workspaceId: string, event: string, batchId: string, change: AuditedChange['after'], by: Author): Promise<void>;
  /** Forgets every position: landing starts at the beginning of this stream, or at `ends` per partition. */
  adoptStream(streamId: string, ends?: ReadonlyMap<number, number>, by?: Author): Promise<void>;
}
