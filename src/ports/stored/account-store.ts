import type { Author, Caller } from '../../account/caller.ts';
import type { ComposedFeed, FeedPatch, NewFeed, SavedFeed } from '../../account/feed.ts';
import type { KeyInfo, KeyPatch, NewKey, SavedKey } from '../../account/key.ts';
import type { AccessList, ListPatch, ListSettings, SavedList } from '../../account/list.ts';
import type { SavedRepeat } from '../../account/repeat.ts';
import type { Organization, Subscription, Workspace, WorkspacePatch } from '../../account/workspace.ts';
import { DAY } from '../../clock.ts';
import type { TrimState } from '../snapshot.ts';

interface Bootstrap {
  /** SHA-256 of the key. A revoked key stays revoked. */
  readonly hash: Uint8Array;
  readonly prefix: string;
  readonly onlyWhenEmpty: boolean;
}

/** Retention of expired rules, replaced versions and batches, ms. */
export const RULE_RETENTION = 7 * DAY;
/** Retention, also of devices and people, ms. */
export const AUDIT_RETENTION = 90 * DAY;
/** ms; and the limit per workspace. */
export const RESTORE_PERIOD = 7 * DAY;
export const MOST_DELETED = 100;

export interface DeletedFeed {
  readonly kind: 'list' | 'composed';
  readonly id: string;
  readonly name: string;
  /** ms */
  readonly deletedAt: number;
  /** End of the restore period, ms. */
  readonly until: number;
  readonly keys: number;
}

/** `keys` counts those that are valid again. */
export interface RestoredFeed extends Pick<DeletedFeed, 'kind' | 'id' | 'name' | 'keys'> {
  /** That contain the restored list again, including feeds of all lists; empty for a feed. */
  readonly feeds: readonly { readonly id: string; readonly name: string }[];
}

/** Retention of answers to idempotent requests, ms. */
export const ANSWER_RETENTION = DAY;

/** An idempotent request (SPEC D15.11): its key and the token chosen by the client. */
export interface OnceOnly {
  readonly keyId: string;
  readonly token: string;
  readonly fingerprint: string;
}

/** By default: a change by a command, in any state, without idempotency. */
export interface ChangeOptions {
  readonly by?: Author;
  /** Entity tags; else rejects with CHANGED. undefined: any state. */
  readonly ifMatch?: readonly string[] | undefined;
  /** In the same transaction; rejects with ANSWERED_BEFORE if there is one. */
  readonly once?: OnceOnly | undefined;
  /** Per workspace; beyond it rejects with REFUSED. 0 or absent: no limit. */
  readonly most?: number | undefined;
  /** Generated if absent. */
  readonly id?: string | undefined;
}

/** Storage usage of a workspace, bytes (SPEC D22.2). */
export interface UsedBytes {
  readonly audit: number;
  readonly answers: number;
}

export interface DeleteOptions extends ChangeOptions {
  readonly forGood?: boolean;
}

export interface EarlierAnswer {
  readonly fingerprint: string;
  readonly answer: string;
}

export interface AuditRow {
  readonly id: number;
  readonly at: number;
  readonly event: string;
  readonly object: string;
  readonly by: Author;
  /** null: not meaningful, or large. */
  readonly change: AuditedChange | null;
}

/** By name; null: did not exist, or no longer exists. */
export interface AuditedChange {
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** `after`: `next` of the previous page. */
export interface PageRequest {
  readonly after: string | null;
  readonly limit: number;
}

/** `next` null: the last page. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

export type NamedKind = 'lists' | 'feeds' | 'keys';

/** A key without a name has its first characters. */
export interface NamedThing {
  readonly id: string;
  readonly name: string;
  readonly sourceId: string | null;
}

export interface AccountReads {
  /** Incremented by every change of a key, permission or subscription. */
  keyRevision(): Promise<number>;
  /** `WorkspaceDirectory.revision` of the workspaces that exist, by id. */
  revisions(workspaceIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** undefined: unknown or revoked. Does not check the expiry. */
  findCaller(hash: Uint8Array): Promise<Caller | undefined>;
  organizations(): Promise<Organization[]>;
  workspaces(): Promise<Workspace[]>;
  names(workspaceId: string, kind: NamedKind): Promise<NamedThing[]>;
  keys(workspaceId: string): Promise<KeyInfo[]>;
  /** Keys with their hashes, for `weir export` only. */
  savedKeys(workspaceId: string): Promise<SavedKey[]>;
  feeds(workspaceId: string): Promise<ComposedFeed[]>;
  feed(workspaceId: string, id: string): Promise<ComposedFeed | undefined>;
  workspace(workspaceId: string): Promise<Workspace | undefined>;
  key(workspaceId: string, id: string): Promise<KeyInfo | undefined>;
  /** Oldest first, at constant cost; likewise the next three. */
  listPage(workspaceId: string, page: PageRequest): Promise<Page<AccessList>>;
  feedPage(workspaceId: string, page: PageRequest): Promise<Page<ComposedFeed>>;
  keyPage(workspaceId: string, page: PageRequest): Promise<Page<KeyInfo>>;
  /** Restorable at `now` (ms), newest first; up to MOST_DELETED. */
  deletedFeeds(workspaceId: string, now: number): Promise<DeletedFeed[]>;
  /** They return with it. */
  keysDeletedWith(workspaceId: string, id: string): Promise<KeyInfo[]>;
  /** Valid, used keys of all workspaces that end soon after `now` (ms). */
  endingKeys(now: number): Promise<number>;
  /** Newest first; null: rows without a workspace. */
  auditPage(workspaceId: string | null, page: PageRequest): Promise<Page<AuditRow>>;
  usedBytesOf(workspaceId: string): Promise<UsedBytes>;
  earlierAnswer(workspaceId: string, request: Omit<OnceOnly, 'fingerprint'>, since: number): Promise<EarlierAnswer | undefined>;
}

/** Each call is one transaction including its audit row. */
export interface AccountWrites {
  bootstrap(b: Bootstrap): Promise<{ workspaceId: string; created: boolean }>;
  createOrganization(name: string, subscription: Subscription, by?: Author): Promise<Organization>;
  setSubscription(organizationId: string, subscription: Subscription, by?: Author): Promise<void>;
  createWorkspace(organizationId: string, name: string, by?: Author): Promise<Workspace>;
  /** Increments the revisions of the workspace and its lists, and the key revision: callers contain the guard rails. */
  updateWorkspace(workspaceId: string, patch: WorkspacePatch, change?: ChangeOptions): Promise<Workspace>;
  createKey(workspaceId: string, key: NewKey, change?: ChangeOptions): Promise<KeyInfo>;
  /** Rejects with NOT_FOUND. */
  updateKey(workspaceId: string, id: string, patch: KeyPatch, change?: ChangeOptions): Promise<KeyInfo>;
  /** false: no such key. */
  revokeKey(id: string, change?: ChangeOptions): Promise<boolean>;
  touchKeys(used: readonly { id: string; at: number }[]): Promise<void>;
  /** REFUSED: the workspace has `maxLists` lists (0 = no limit) or a composed feed of that name. */
  createList(workspaceId: string, name: string, settings: ListSettings, maxLists?: number, change?: ChangeOptions): Promise<AccessList>;
  updateList(workspaceId: string, listId: string, patch: ListPatch, change?: ChangeOptions): Promise<AccessList>;
  /** With its rules and memberships; revokes its keys. Rejects for the default list. */
  deleteList(workspaceId: string, listId: string, change?: DeleteOptions): Promise<void>;
  /** REFUSED: the name is used; NOT_FOUND: a list of another workspace. */
  createFeed(workspaceId: string, feed: NewFeed, change?: ChangeOptions): Promise<ComposedFeed>;
  updateFeed(workspaceId: string, feedId: string, patch: FeedPatch, change?: ChangeOptions): Promise<ComposedFeed>;
  /** Not its lists; revokes its keys. */
  deleteFeed(workspaceId: string, feedId: string, change?: DeleteOptions): Promise<void>;
  /**
   * With its rules, settings, memberships and keys; optionally under another name. The source of a list returns paused. Rejects with
   * NOT_FOUND, or with REFUSED if the name or id is used or a limit (`maxLists`, `maxSources`; 0 = none) is reached.
   */
  restoreDeleted(
    workspaceId: string,
    id: string,
    as: { readonly name?: string | undefined; readonly maxLists?: number; readonly maxSources?: number },
    change?: ChangeOptions,
  ): Promise<RestoredFeed>;
  /**
   * Creates or updates by id (unless another workspace uses it), feeds also by name. The default list maps to the workspace's own. Returns
   * the new ids by given id. Rejects with REFUSED if a list and a feed would have the same name.
   */
  restoreLists(
    workspaceId: string,
    lists: readonly SavedList[],
    feeds?: readonly SavedFeed[],
    by?: Author,
  ): Promise<ReadonlyMap<string, string>>;
  /** Keys with a known hash stay unchanged; returns their given ids. */
  restoreKeys(workspaceId: string, keys: readonly SavedKey[], by?: Author): Promise<string[]>;
  /** In lists with `repeat`; others are skipped. Replaces the states of the targets. */
  restoreRepeats(workspaceId: string, states: readonly SavedRepeat[]): Promise<void>;
  /** null: not trimmed. Counts as a change of the feed. */
  recordTrim(workspaceId: string, feedId: string, variant: string, state: TrimState | null): Promise<void>;
  /** Unless its transaction has done so. */
  rememberAnswer(workspaceId: string, once: OnceOnly, answer: string): Promise<void>;
}
