/**
 * The store of rules: landing writes it, feeds read it. Types only; `storeConformance` is run by every driver.
 * Every call that concerns rules names the workspace.
 */

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
  WholeRules,
  WorkspaceDirectory,
} from '../snapshot.ts';
import type { AuditedChange, Page, PageRequest } from './account-store.ts';
import type { ActiveRules, RuleMatch, RulePosition, SenderStep, SenderStepRequest, StepPlace } from './rule-queries.ts';
import type { ComparedPage, ComparedRule, RuleState, StoredRule } from './stored-rule.ts';

/** What a signal finds an access rule by. `target` in its canonical form. */
export interface NamedRule {
  readonly id: number;
  readonly ruleRef: string | null;
  readonly action: AccessAction;
  readonly target: string;
}

/** Names one representation whose first appearance is remembered (Last-Modified). */
export type DocumentRecordKey = Pick<DeviceDocument, 'feedId' | 'format' | 'family' | 'action'>;

/** What `ruleStep` reads. */
export interface StepFilter extends Omit<RuleFilter, 'after'> {
  /** undefined: from the beginning. */
  readonly after?: StepPlace | undefined;
  /** How many rules are wanted, 1,000 at most. */
  readonly limit: number;
}

/** A few rules with the place of each; `next` is where the rest begins, null where there is none. */
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
  /** Nothing comes behind a rule whose list is gone. */
  readonly after?: RulePosition;
}

/** Where a rule came from (D9); null where it is not known, or where no key sent it. */
export interface RuleOrigin {
  readonly batchId: string | null;
  readonly keyId: string | null;
  /** The person, as far as he is known: his name, and who a provider says that he is. */
  readonly actor?: string;
  readonly personId?: string;
}

/** The same of one change: when it landed, ms, and the batch that it undid. */
export interface ChangeOrigin extends RuleOrigin {
  readonly landedAt: number;
  readonly undoes: string | null;
}

/** An access rule as it was written once. */
export interface RuleVersion {
  readonly stored: StoredRule;
  /** null: not known. */
  readonly written: ChangeOrigin | null;
  /** The change that replaced or removed it; null: it is stored like this, whether it has expired or not. */
  readonly ended: { readonly seq: number; readonly by: ChangeOrigin | null } | null;
}

/** A batch that has landed, in whole or in part (D9). Times in ms. */
export interface BatchInfo extends Omit<RuleOrigin, 'batchId'> {
  readonly id: string;
  /** The id of the first rule that it may have made. */
  readonly firstSeq: number;
  /** Where its access rules landed, of several lists the first; null: a list that is gone, or it concerns none. */
  readonly listId: string | null;
  /** How many lists it concerns, those that are gone included. */
  readonly lists: number;
  /** Whether it concerns access rules, which are in lists; null: not known (D38.1). */
  readonly hasTargets: boolean | null;
  readonly receivedAt: number;
  readonly landedAt: number;
  /** Entries that have landed. */
  readonly entries: number;
  /** The batch that it undid, and the newest undo of it that stands. */
  readonly undoes: string | null;
  readonly undoneBy: string | null;
  /** Whether what it replaced is still known (SPEC D9.10), and somewhere that it could come back to. */
  readonly undoable: boolean;
  /** Whether all lists that it touched are deleted, so that undoing it would bring nothing. */
  readonly isGone: boolean;
}

/** What undoing a batch would do now, in rules. */
export interface UndoPreview {
  /** Rules that it made. */
  readonly removes: number;
  /** Rules that it replaced or deleted. */
  readonly restores: number;
  /** Rules that another batch has changed since: they stay as they are. */
  readonly keeps: number;
  /** A few lines for people. */
  readonly sample: readonly string[];
}

/** Does a piece of work when its turn comes. */
export type Step = <T>(work: () => Promise<T>) => Promise<T>;

/** Reads. None of them takes a lock that a writer waits for. */
export interface RuleReads {
  /** undefined for an unknown workspace. */
  directory(workspaceId: string): Promise<WorkspaceDirectory | undefined>;
  /**
   * What `ref` stands for: the list or composed feed with that UUID (any letter case), else every list with exactly that name, oldest
   * first, else the composed feed with that name. Costs the same however many there are. undefined for an unknown workspace.
   */
  findNamed(workspaceId: string, ref: string): Promise<NamedDirectory | undefined>;
  /** The UUID of the workspace's default list, found through an index; undefined for an unknown workspace. */
  defaultList(workspaceId: string): Promise<string | undefined>;
  /** How many lists a workspace has; 0 for an unknown one. */
  listCount(workspaceId: string): Promise<number>;
  /**
   * Reads the rules of a feed (the UUID of a list or a composed feed; null: the workspace's) that are active at `now` (ms), both actions,
   * and the head, in one read transaction. Rules of a composed feed have the levels of their list where they have none of their own.
   * undefined when workspace, list or feed is gone. With `sink` undefined nobody wants the access rules as numbers; `whole` gets rules as
   * they are stored, from the same transaction. A composed feed that is not stored is read as one that is.
   */
  snapshot(
    workspaceId: string,
    feed: string | null | ProposedFeed,
    now: number,
    sink: SnapshotSink | undefined,
    whole?: WholeRules,
  ): Promise<SnapshotHead | undefined>;
  /**
   * The access rules of a list that are stored, those that have expired and are not swept yet included, and what it had before and lost, as
   * far as that is kept (SPEC D9.7); in the place of `id` the instant (ms) since which each is there, `expires`: since when it is not. Each
   * from a read of its own; none for a list that is not the workspace's.
   */
  listHistory(workspaceId: string, listId: string, sinks: { readonly stored: RuleSink; readonly lost: RuleSink }): Promise<void>;
  /**
   * What a feed's rules are at `now` (ms), beyond those that are known, in one read transaction: all rules of those of its lists that are
   * not known, and what has changed in every known list of the workspace, the feed's or not; where that is too much, all of its rules.
   * `too_far` when the changes since then are not known any more: then the sink was given nothing.
   */
  follow(
    workspaceId: string,
    feedId: string | null,
    now: number,
    known: KnownRules,
    sink: ListSink,
  ): Promise<SnapshotHead | 'too_far' | undefined>;
  /** The present state of these rules, by primary key, in one read; rules that are gone are left out. */
  ruleStates(workspaceId: string, ids: readonly number[]): Promise<RuleState[]>;
  /**
   * The access rules of a list that have one of these `rule_ref`s or canonical targets, each once, in one read; also expired ones. None for
   * a list that is not the workspace's.
   */
  namedRules(workspaceId: string, listId: string, refs: readonly string[], targets: readonly string[]): Promise<NamedRule[]>;
  /** These rules of a kind, by primary key, as they are stored now; rules that are gone are left out. */
  rulesById(workspaceId: string, kind: Kind, ids: readonly number[]): Promise<StoredRule[]>;
  /** The active rules of a kind whose `rule_ref` begins so, in its order, found through an index. */
  rulesByRef(workspaceId: string, kind: Kind, prefix: string, which: ActiveRules): Promise<StoredRule[]>;
  /** The position of a consumer; undefined = none is stored. */
  position(streamId: string, partition: number): Promise<number | undefined>;
  /** The ids of the streams that have positions here. */
  positionStreams(): Promise<string[]>;
  /**
   * How many rules of all kinds are stored, also those that have expired or whose list is deleted and that are not swept yet. Costs the
   * same however many there are.
   */
  ruleCount(workspaceId: string): Promise<number>;
  /** How many rules of all kinds are active at `now` (ms); at 0 also those that have expired and are not swept yet. Reads every rule. */
  countRules(workspaceId: string, now: number): Promise<number>;
  /** How many access rules of a list are active, counted up to `most`. */
  countListRules(workspaceId: string, listId: string, most: number): Promise<number>;
  /**
   * Active rules in primary-key order (list by list), streamed. A match is found through indexes, list by list, but for `covered`, which
   * looks at every rule of the lists.
   */
  rules(workspaceId: string, filter: RuleFilter): AsyncIterable<StoredRule>;
  /**
   * One step of reading rules, which costs the same however many there are: there may be none in it although others follow. Access rules
   * come as from `rules`, the others in the order of enforcement: by `order`, those without one behind those with, then by `rule_ref`.
   */
  ruleStep(workspaceId: string, filter: StepFilter): Promise<RuleStep>;
  /** The active access rules of a list behind the rule `after`, in the order of their ids, at most `limit` of them. */
  comparedRules(workspaceId: string, listId: string, page: ComparedPage): Promise<ComparedRule[]>;
  /** One step of counting a feed's rules by list and by the key that wrote them last, the newest rules of each list first. */
  senderStep(workspaceId: string, feed: string | null | ProposedFeed, step: SenderStepRequest): Promise<SenderStep>;
  /** The batches of a workspace, newest first, at most `limit`; those behind the batch `before`. Kept as long as expired rules. */
  batches(workspaceId: string, page: { before?: string; limit: number }): Promise<BatchInfo[]>;
  /** One batch; undefined when the workspace has had none of that id lately. */
  batch(workspaceId: string, batchId: string): Promise<BatchInfo | undefined>;
  /** What undoing a batch would do now, found out in pieces of few rules; `step` does each of them, at once where it is absent. */
  undoPreview(workspaceId: string, batchId: string, step?: Step): Promise<UndoPreview>;
  /** The rules of a kind (of a list) as they were before the item with their `seq` replaced them, as far as that is kept; those that it made are none. */
  rulesBefore(
    workspaceId: string,
    of: { readonly kind: Kind; readonly listId: string | null },
    rules: readonly Pick<StoredRule, 'id' | 'seq'>[],
  ): Promise<StoredRule[]>;
  /**
   * What is known of the access rules on exactly these targets (as `formatTarget` writes them), in all lists, the newest `limit`: those that
   * are stored, expired ones too, and those that were replaced or removed. Of rules with a `rule_ref` that is known while one is on it.
   */
  ruleVersions(workspaceId: string, targets: readonly string[], limit: number): Promise<RuleVersion[]>;
  /** Where the items of these numbers came from; those that are not known any more are left out. */
  origins(workspaceId: string, seqs: readonly number[]): Promise<Map<number, ChangeOrigin>>;
  /** Oldest first, the newest `limit`. */
  deadLetters(limit: number): Promise<DeadLetter[]>;
  /** Those that the stream carried under the key of a workspace, newest first. */
  deadLetterPage(workspaceId: string, page: PageRequest): Promise<Page<DeadLetter>>;
  /** How many of those there are; it counts up to `most`. */
  deadLettersOf(workspaceId: string, most: number): Promise<number>;
  /** How many there are; it counts up to `most`. */
  deadLetterCount(most: number): Promise<number>;
  deadLetter(id: number): Promise<DeadLetter | undefined>;
}

/** What a sweep may delete; instants are ms since 1970. */
export interface SweepLimits {
  readonly now: number;
  readonly rulesExpiredBefore: number;
  readonly auditBefore: number;
  readonly limit: number;
  readonly keptRules?: number;
  readonly keptInAll?: number;
  /** Dead letters that are kept, the newest; 100,000 when absent. */
  readonly deadLetters?: number;
  /** Bytes that the audit log of a workspace may take; from half of them on it keeps seven days. 0 or absent: no limit. */
  readonly auditBytes?: number;
}

/** Writes. Each call is one transaction. */
export interface RuleWrites {
  /**
   * Position and rules in one fenced transaction: `fenced` means that the stored position is not `from` any more
   * (another owner landed) and nothing was written. Items of unknown workspaces become dead letters in the same transaction.
   */
  apply(batch: LandingBatch): Promise<'landed' | 'fenced'>;
  /**
   * Remembers when a representation's content first appeared. A newer snapshot with another hash sets
   * since = max(second, stored since + 1); an older one changes nothing, unless the stored one is of later than the store's clock: then that
   * was ahead (SPEC D35.2). `told`, of the same hash: a later instant that it was told with, which becomes since (SPEC D37.3). Returns the stored row after the call.
   * Times: snapshotAt in ms, second and since in whole seconds.
   */
  recordDocument(
    workspaceId: string,
    key: DocumentRecordKey,
    seen: { hash: string; snapshotAt: number; second: number; told?: number },
  ): Promise<{ hash: string; snapshotAt: number; since: number }>;
  /**
   * Deletes what is past its keeping time, and what the oldest batches have replaced in workspaces that keep more than `keptRules` of that
   * (SPEC D9.10), or most where all keep more than `keptInAll`, at most `limit` rows of each table; returns how many in all. Only the consumer role calls it.
   */
  sweep(limits: SweepLimits): Promise<number>;
  /** Gives a slice of what deleted rows have left free back to the disk, where that is much; whether there may be more. */
  shrink(): Promise<boolean>;
  dropDeadLetter(id: number, of?: { readonly workspaceId?: string; readonly by: Author }): Promise<boolean>;
  /** A row in the audit log for a change of rules, which the stream carries: what was asked for, and the id of the batch. */
  noteChange(workspaceId: string, event: string, batchId: string, change: AuditedChange['after'], by: Author): Promise<void>;
  /** Forgets every position, so that landing begins with this stream at its beginning, or behind what its partitions hold (`ends`). */
  adoptStream(streamId: string, ends?: ReadonlyMap<number, number>, by?: Author): Promise<void>;
}
