/**
 * The seams of the house: what the domain asks of a store, a stream and a geo database.
 * Types only. Each port has one conformance suite that every driver runs.
 */
import type {
  AccessAction,
  AccessList,
  AccessRule,
  Caller,
  ExpressionRule,
  Kind,
  ListSettings,
  Permission,
  RuleChange,
  Subscription,
  Target,
} from './rule.ts';

// ---------------------------------------------------------------- stream

/** One message to append: `key` is the workspace id, the order per key is kept (spec 6). */
export interface Message {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: string;
}

/** One message as read back. `offset` counts per partition; `timestamp` is ms since 1970. */
export interface StreamRecord extends Message {
  readonly offset: number;
  readonly timestamp: number;
}

/** A durable, partitioned log of messages. */
export interface Stream {
  /** Names this very log: another id under the same settings means that the log was replaced. Rejects when unreachable. */
  id(): Promise<string>;
  /** Appends in order; resolves only when every message is durable. Rejects when not, and the caller may append again. */
  publish(messages: readonly Message[]): Promise<void>;
  /** Offsets of one partition: `start` is the oldest kept, `end` the one the next message gets. */
  bounds(partition: number): Promise<{ start: number; end: number }>;
  /** Number of partitions. */
  partitions(): Promise<number>;
  /** Joins the group of consumers. */
  join(): Promise<StreamReader>;
  /** Deletes messages older than `before` (ms), never at or above `landed`; at most `limit`. Returns how many. A no-op where the engine expires by itself. */
  trim(partition: number, before: number, landed: number, limit: number): Promise<number>;
  /** Rejects with a readable reason when the stream cannot take messages now. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** One member of the group of consumers. */
export interface StreamReader {
  /** The partitions that this member owns now; empty while a rebalance runs. Two members may believe they own the same one for a while: the store's fence decides. Throws when the membership is lost for good: close this reader and join again. */
  owned(): readonly number[];
  /** Up to `max` records from `offset` on; waits up to `waitMs` for the first one, then answers []. */
  read(partition: number, offset: number, max: number, waitMs: number): Promise<StreamRecord[]>;
  close(): Promise<void>;
}

// ---------------------------------------------------------------- store: landing

/** A record that was understood, and whose workspace and list are still to be resolved by the store. */
export interface LandingItem {
  readonly record: StreamRecord;
  readonly workspaceId: string;
  /** null, or a list that is gone: the workspace's default list. */
  readonly listId: string | null;
  readonly receivedAt: number;
  readonly change: RuleChange;
}

/** A record that cannot be landed, kept with its reason (poison). */
export interface PoisonRecord {
  readonly record: StreamRecord;
  readonly reason: string;
}

/** What one step of the consumer writes: position and rules in one transaction. */
export interface LandingBatch {
  readonly streamId: string;
  readonly partition: number;
  /** The position this consumer started from; null = no position is stored yet. */
  readonly from: number | null;
  /** The position after this batch: offset of the next record. */
  readonly to: number;
  readonly items: readonly LandingItem[];
  readonly poison: readonly PoisonRecord[];
  readonly now: number;
}

export interface DeadLetter {
  readonly id: number;
  readonly at: number;
  readonly reason: string;
  readonly streamId: string;
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: string;
}

// ---------------------------------------------------------------- store: feeds

/** A workspace with its lists as they are now: name resolution, settings and revisions in one read. */
export interface WorkspaceDirectory {
  readonly id: string;
  readonly name: string;
  /** Moves with any of the workspace's lists and rules. */
  readonly revision: number;
  /** The store's clock at the read, ms: a snapshot whose revision has not moved since counts as taken now. */
  readonly takenAt: number;
  readonly lists: readonly AccessList[];
}

/**
 * Receives the active access rules of a snapshot, one call a rule, without an object a row.
 * `id` is the store's own primary key of the rule, `expires` the expiry in whole seconds (0 = none),
 * `levels` is `levelCode(confidence, severity)` of feed/levels.ts: confidence × 5 + severity, each 0 = unset, 1 = low … 4 = critical.
 */
export interface RuleSink {
  v4(id: number, action: AccessAction, address: number, prefix: number, expires: number, levels: number): void;
  /** `bytes` holds 16 bytes from `at` on; they are only valid during the call. */
  v6(id: number, action: AccessAction, bytes: Uint8Array, at: number, prefix: number, expires: number, levels: number): void;
  geo(
    id: number,
    action: AccessAction,
    target: { kind: 'asn'; asn: number } | { kind: 'country'; country: string },
    expires: number,
    levels: number,
  ): void;
}

/** What a snapshot read found besides the rules; all from the same read transaction. */
export interface SnapshotHead {
  readonly workspaceName: string;
  /** null for the workspace feed. */
  readonly list: AccessList | null;
  /** Of the list, or of the workspace for its feed. */
  readonly revision: number;
  /** The store's clock at the read, ms. */
  readonly takenAt: number;
}

/** The present state of one rule that was asked for by id. */
export interface RuleState {
  readonly id: number;
  readonly action: AccessAction;
  readonly target: Target;
  /** Whole seconds, 0 = none. */
  readonly expires: number;
}

/** Names one representation whose first appearance is remembered (Last-Modified). */
export interface FeedRecordKey {
  readonly listId: string | null;
  readonly format: string;
  readonly family: string;
  readonly action: string;
}

// ---------------------------------------------------------------- store: management

export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly subscription: Subscription;
  readonly createdAt: number;
}
export interface Workspace {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly createdAt: number;
}
export interface KeyInfo {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string | null;
  /** The first characters of the key text, to recognise it by. */
  readonly prefix: string;
  readonly permissions: readonly Permission[];
  readonly listId: string | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}
export interface NewKey {
  readonly name: string | null;
  readonly hash: Uint8Array;
  readonly prefix: string;
  readonly permissions: readonly Permission[];
  readonly listId: string | null;
  readonly expiresAt: number | null;
}

/** A list and a key as a store holds them, for `weir export` and `weir import`. */
export type SavedList = Omit<AccessList, 'workspaceId' | 'revision'>;
export interface SavedKey extends Omit<KeyInfo, 'workspaceId'> {
  /** SHA-256 of the key text. */
  readonly hash: Uint8Array;
}

export interface Bootstrap {
  /** SHA-256 of the key that must exist; a key that was revoked stays revoked. */
  readonly hash: Uint8Array;
  readonly prefix: string;
  /** Only make the key when the store holds no workspace at all. */
  readonly onlyWhenEmpty: boolean;
}

/** One rule as `weir rule ls` shows it and `weir export` writes it. */
export interface StoredRule {
  readonly id: number;
  readonly kind: Kind;
  /** null for the kinds that have no list. */
  readonly listId: string | null;
  readonly rule: AccessRule | ExpressionRule;
  readonly createdAt: number;
  readonly updatedAt: number;
}

// ---------------------------------------------------------------- store

/** Reads. None of them takes a lock that a writer waits for. */
export interface StoreReads {
  /** Rejects with a readable reason when the store does not answer. Resolves with the store's clock (ms). */
  ping(): Promise<number>;
  /** One counter that every change of a key, permission or subscription moves. */
  keyRevision(): Promise<number>;
  /** The caller behind a key's SHA-256; undefined for an unknown or revoked one. Expiry is the caller's to check. */
  findCaller(hash: Uint8Array): Promise<Caller | undefined>;
  /** undefined for an unknown workspace. */
  directory(workspaceId: string): Promise<WorkspaceDirectory | undefined>;
  /** Reads rules that are active at `now` (ms), both actions, and the head, in one read transaction. undefined when workspace or list is gone. */
  snapshot(workspaceId: string, listId: string | null, now: number, sink: RuleSink): Promise<SnapshotHead | undefined>;
  /** The present state of these rules, by primary key, in one read; rules that are gone are left out. */
  ruleStates(workspaceId: string, ids: readonly number[]): Promise<RuleState[]>;
  /** The position of a consumer; undefined = none is stored. */
  position(streamId: string, partition: number): Promise<number | undefined>;
  /** The ids of the streams that have positions here. */
  positionStreams(): Promise<string[]>;
  organizations(): Promise<Organization[]>;
  workspaces(): Promise<Workspace[]>;
  keys(workspaceId: string): Promise<KeyInfo[]>;
  /** The same with their hashes; only `weir export` asks for them. */
  savedKeys(workspaceId: string): Promise<SavedKey[]>;
  /** How many rules of all kinds are active at `now` (ms); at 0 also those that have lapsed and are not swept yet. Reads every rule. */
  countRules(workspaceId: string, now: number): Promise<number>;
  /** Active rules in primary-key order, streamed. */
  rules(workspaceId: string, filter: { listId?: string; kind: Kind; now: number }): AsyncIterable<StoredRule>;
  /** Oldest first, the newest `limit`. */
  deadLetters(limit: number): Promise<DeadLetter[]>;
  deadLetter(id: number): Promise<DeadLetter | undefined>;
}

/** Writes. Each call is one transaction. */
export interface StoreWrites {
  /** Creates or upgrades the schema; safe when several processes start at once. */
  migrate(): Promise<{ applied: string[] }>;
  /**
   * Position and rules in one fenced transaction: `fenced` means that the stored position is not `from` any more
   * (another owner landed) and nothing was written. Items of unknown workspaces become dead letters in the same transaction.
   */
  land(batch: LandingBatch): Promise<'landed' | 'fenced'>;
  /**
   * Remembers when a representation's content first appeared. A newer snapshot with another hash sets
   * since = max(second, stored since + 1); an older one changes nothing. Returns the stored row after the call.
   * Times: snapshotAt in ms, second and since in whole seconds.
   */
  recordFeed(
    workspaceId: string,
    key: FeedRecordKey,
    seen: { hash: string; snapshotAt: number; second: number },
  ): Promise<{ hash: string; snapshotAt: number; since: number }>;
  /** Deletes at most `limit` of what is past its keeping time; returns how many of each. Only the consumer role calls it. */
  sweep(limits: { now: number; rulesExpiredBefore: number; auditBefore: number; limit: number }): Promise<number>;
  bootstrap(b: Bootstrap): Promise<{ workspaceId: string; created: boolean }>;
  createOrganization(name: string, subscription: Subscription): Promise<Organization>;
  setSubscription(organizationId: string, subscription: Subscription): Promise<void>;
  createWorkspace(organizationId: string, name: string): Promise<Workspace>;
  createKey(workspaceId: string, key: NewKey): Promise<KeyInfo>;
  /** false when there is no such key. */
  revokeKey(id: string): Promise<boolean>;
  /** Last-used instants gathered in memory, written in one go. */
  touchKeys(used: readonly { id: string; at: number }[]): Promise<void>;
  createList(workspaceId: string, name: string, description: string | null, settings: ListSettings): Promise<AccessList>;
  updateList(workspaceId: string, listId: string, patch: Partial<ListSettings> & { description?: string | null }): Promise<AccessList>;
  /** Deletes the list, its rules and revokes the keys bound to it. The default list cannot be deleted: rejects. */
  deleteList(workspaceId: string, listId: string): Promise<void>;
  /**
   * Makes these lists in a workspace, each with its id unless another list has it; one that the workspace has already is set as given.
   * The default one stands for the workspace's own. Returns the id that each has now, by the given one.
   */
  restoreLists(workspaceId: string, lists: readonly SavedList[]): Promise<ReadonlyMap<string, string>>;
  /** Makes these keys as they were. A key whose hash is known stays as it is: returns the given ids of those. */
  restoreKeys(workspaceId: string, keys: readonly SavedKey[]): Promise<string[]>;
  dropDeadLetter(id: number): Promise<boolean>;
  /** Forgets the positions of every other stream, so that landing begins with this one at its beginning. */
  adoptStream(streamId: string): Promise<void>;
}

export interface Store extends StoreReads, StoreWrites {
  close(): Promise<void>;
}

// ---------------------------------------------------------------- geo

/**
 * Ranges behind countries and ASNs. Immutable once loaded; a reload makes a new one with another version.
 * Backed by SharedArrayBuffers, so that any thread can use it without a copy.
 */
export interface GeoDatabase {
  /** Changes with the data: part of every feed's revision. */
  readonly version: string;
  hasAsn(asn: number): boolean;
  /** Inclusive ranges, sorted, without overlap; empty for a country or ASN without any. Views, not copies. */
  ranges(target: { kind: 'asn'; asn: number } | { kind: 'country'; country: string }): GeoRanges;
}

export interface GeoRanges {
  /** start, end, start, end, … */
  readonly v4: Uint32Array;
  /** Eight words a range: four of the start, four of the end, most significant first. */
  readonly v6: Uint32Array;
}
