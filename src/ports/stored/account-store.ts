/** The store of accounts: organizations, workspaces, lists and keys. Types, and one constant; `storeConformance` is run by every driver. */
import type { Author, Caller } from '../../account/caller.ts';
import type { ComposedFeed, FeedPatch, NewFeed, SavedFeed } from '../../account/feed.ts';
import type { KeyInfo, KeyPatch, NewKey, SavedKey } from '../../account/key.ts';
import type { AccessList, ListPatch, ListSettings, SavedList } from '../../account/list.ts';
import type { Organization, Subscription } from '../../account/organization.ts';
import type { Workspace, WorkspacePatch } from '../../account/workspace.ts';
import { DAY } from '../../clock.ts';
import type { TrimState } from '../snapshot.ts';

interface Bootstrap {
  /** SHA-256 of the key that must exist; a key that was revoked stays revoked. */
  readonly hash: Uint8Array;
  readonly prefix: string;
  /** Only make the key when the store holds no workspace at all. */
  readonly onlyWhenEmpty: boolean;
}

/** How long expired rules, what changes replaced, and batches are stored, ms. */
export const RULES_KEPT = 7 * DAY;
/** How long rows of the audit log, dead letters, devices and people are stored, ms. */
export const AUDIT_KEPT = 90 * DAY;
/** How long a list or feed that was deleted can be brought back, ms, and how many of a workspace. */
export const DELETED_KEPT = 7 * DAY;
export const MOST_DELETED = 100;

/** A list, or a feed made of lists, that was deleted and can be brought back. */
export interface DeletedFeed {
  readonly kind: 'list' | 'composed';
  readonly id: string;
  readonly name: string;
  /** ms */
  readonly deletedAt: number;
  /** Until when it can be brought back, ms. */
  readonly until: number;
  /** How many keys were revoked with it. */
  readonly keys: number;
}

/** What was brought back; `keys` counts those that are valid again. */
export interface RestoredFeed extends Pick<DeletedFeed, 'kind' | 'id' | 'name' | 'keys'> {
  /** The feeds made of lists that have the list again, those of all lists included; of a feed none. */
  readonly feeds: readonly { readonly id: string; readonly name: string }[];
}

/** How long it is known that a request was done that is to be done once, ms. */
export const ANSWER_KEPT = DAY;

/** A request that is to be done once (SPEC D15.11), by the key that sends it and the token that it chose. */
export interface OnceOnly {
  readonly keyId: string;
  readonly token: string;
  /** Tells another request with the same token apart. */
  readonly fingerprint: string;
}

/** How a change is made. Without it: by a command, whatever the state, as often as it is asked for. */
export interface ChangeOptions {
  /** For the audit log. */
  readonly by?: Author;
  /** Entity tags of the states that are expected; rejects with CHANGED in any other. undefined: any state. */
  readonly ifMatch?: readonly string[] | undefined;
  /** Remembers what was made, in the same transaction; rejects with ANSWERED_BEFORE when it has been. */
  readonly once?: OnceOnly | undefined;
  /** How many of what is made the workspace may have; rejects with REFUSED beyond. 0 or absent: any number. */
  readonly most?: number | undefined;
  /** The id of what is made; made up where it is absent. */
  readonly id?: string | undefined;
}

/** What a workspace takes of what is bounded in bytes (SPEC D22.2). */
export interface UsedBytes {
  readonly audit: number;
  readonly answers: number;
}

/** How something is deleted. */
export interface DeleteOptions extends ChangeOptions {
  /** It cannot be brought back: its rules are swept away at once. */
  readonly forGood?: boolean;
}

/** What a request made that was to be done once. */
export interface EarlierAnswer {
  readonly fingerprint: string;
  /** JSON. */
  readonly answer: string;
}

/** One row of the audit log. */
export interface AuditRow {
  readonly id: number;
  readonly at: number;
  readonly event: string;
  /** The id of what was changed. */
  readonly object: string;
  readonly by: Author;
  /** What was changed of it, before and after; null where that says nothing or is large. */
  readonly change: AuditedChange | null;
}

/** The fields that a change concerns, by name; null: it was not there, or is not any more. */
export interface AuditedChange {
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** Asks for a page of at most `limit`, behind the place that the page before ended with. */
export interface PageRequest {
  readonly after: string | null;
  readonly limit: number;
}

/** A page; `next` is the place where it ends, null for the last one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** What has a name and an id in a workspace. */
export type NamedKind = 'lists' | 'feeds' | 'keys';

/** One of them; a key without a name is called by its first characters. */
export interface NamedThing {
  readonly id: string;
  readonly name: string;
  /** Of a list: the source that keeps it; null: none does. */
  readonly sourceId: string | null;
}

/** Reads. None of them takes a lock that a writer waits for. */
export interface AccountReads {
  /** One counter that every change of a key, permission or subscription moves. */
  keyRevision(): Promise<number>;
  /** The caller behind a key's SHA-256; undefined for an unknown or revoked one. Expiry is the caller's to check. */
  findCaller(hash: Uint8Array): Promise<Caller | undefined>;
  organizations(): Promise<Organization[]>;
  workspaces(): Promise<Workspace[]>;
  /** What the lists, feeds or keys of a workspace are called. */
  names(workspaceId: string, kind: NamedKind): Promise<NamedThing[]>;
  keys(workspaceId: string): Promise<KeyInfo[]>;
  /** The same with their hashes; only `weir export` asks for them. */
  savedKeys(workspaceId: string): Promise<SavedKey[]>;
  /** The composed feeds of a workspace. */
  feeds(workspaceId: string): Promise<ComposedFeed[]>;
  /** One composed feed of a workspace; undefined for an unknown one. */
  feed(workspaceId: string, id: string): Promise<ComposedFeed | undefined>;
  /** One workspace; undefined for an unknown one. */
  workspace(workspaceId: string): Promise<Workspace | undefined>;
  /** One key of a workspace; undefined for an unknown one. */
  key(workspaceId: string, id: string): Promise<KeyInfo | undefined>;
  /** Oldest first. Costs the same however many there are; so do the next three. */
  listPage(workspaceId: string, page: PageRequest): Promise<Page<AccessList>>;
  /** Oldest first. */
  feedPage(workspaceId: string, page: PageRequest): Promise<Page<ComposedFeed>>;
  /** Oldest first. */
  keyPage(workspaceId: string, page: PageRequest): Promise<Page<KeyInfo>>;
  /** What was deleted and can be brought back at `now` (ms), newest first; MOST_DELETED at most. */
  deletedFeeds(workspaceId: string, now: number): Promise<DeletedFeed[]>;
  /** The keys that were revoked with a deleted list or feed, and come back with it. */
  keysDeletedWith(workspaceId: string, id: string): Promise<KeyInfo[]>;
  /** How many keys of all workspaces are valid and in use, and end soon after `now` (ms). */
  endingKeys(now: number): Promise<number>;
  /** Newest first, of one workspace; null: what belongs to none. Kept for 90 days. */
  auditPage(workspaceId: string | null, page: PageRequest): Promise<Page<AuditRow>>;
  /** What a request made after `since` (ms) that was to be done once. */
  usedBytesOf(workspaceId: string): Promise<UsedBytes>;
  earlierAnswer(workspaceId: string, request: Omit<OnceOnly, 'fingerprint'>, since: number): Promise<EarlierAnswer | undefined>;
}

/** Writes. Each call is one transaction with its row in the audit log. */
export interface AccountWrites {
  bootstrap(b: Bootstrap): Promise<{ workspaceId: string; created: boolean }>;
  createOrganization(name: string, subscription: Subscription, by?: Author): Promise<Organization>;
  setSubscription(organizationId: string, subscription: Subscription, by?: Author): Promise<void>;
  createWorkspace(organizationId: string, name: string, by?: Author): Promise<Workspace>;
  /** Moves the revisions of the workspace and of all its lists, and the key revision: callers carry the guard rails. */
  updateWorkspace(workspaceId: string, patch: WorkspacePatch, change?: ChangeOptions): Promise<Workspace>;
  createKey(workspaceId: string, key: NewKey, change?: ChangeOptions): Promise<KeyInfo>;
  /** Rejects with NOT_FOUND when the workspace has no such key. */
  updateKey(workspaceId: string, id: string, patch: KeyPatch, change?: ChangeOptions): Promise<KeyInfo>;
  /** false when there is no such key. */
  revokeKey(id: string, change?: ChangeOptions): Promise<boolean>;
  /** Last-used instants gathered in memory, written in one go. */
  touchKeys(used: readonly { id: string; at: number }[]): Promise<void>;
  /** Rejects with REFUSED when the workspace has `maxLists` lists already (0 = no limit), or a composed feed of that name. */
  createList(workspaceId: string, name: string, settings: ListSettings, maxLists?: number, change?: ChangeOptions): Promise<AccessList>;
  updateList(workspaceId: string, listId: string, patch: ListPatch, change?: ChangeOptions): Promise<AccessList>;
  /** Deletes the list with its rules and revokes the keys bound to it; its feeds go on without it. The default list cannot be deleted: rejects. */
  deleteList(workspaceId: string, listId: string, change?: DeleteOptions): Promise<void>;
  /** Rejects with REFUSED when a list or a feed has that name, with NOT_FOUND when a list of it is not the workspace's. */
  createFeed(workspaceId: string, feed: NewFeed, change?: ChangeOptions): Promise<ComposedFeed>;
  updateFeed(workspaceId: string, feedId: string, patch: FeedPatch, change?: ChangeOptions): Promise<ComposedFeed>;
  /** Deletes the feed, not its lists, and revokes the keys bound to it. */
  deleteFeed(workspaceId: string, feedId: string, change?: DeleteOptions): Promise<void>;
  /**
   * Brings back a list or feed that was deleted, with its rules, settings and memberships and the keys that were revoked with it, under
   * this name where one is given. Rejects with NOT_FOUND when there is none to bring back, with REFUSED when its name or id is taken, or
   * the workspace has `maxLists` lists, or `maxSources` sources, already (0 = no limit). The source of a list comes back with it, paused.
   */
  restoreDeleted(
    workspaceId: string,
    id: string,
    as: { readonly name?: string | undefined; readonly maxLists?: number; readonly maxSources?: number },
    change?: ChangeOptions,
  ): Promise<RestoredFeed>;
  /**
   * Makes these lists and composed feeds in a workspace, each with its id unless another has it; one that the workspace has already is
   * set as given, a feed also where only the name is the same. The default list stands for the workspace's own. Returns the id that
   * each has now, by the given one. Rejects with REFUSED when a list and a feed would have one name.
   */
  restoreLists(
    workspaceId: string,
    lists: readonly SavedList[],
    feeds?: readonly SavedFeed[],
    by?: Author,
  ): Promise<ReadonlyMap<string, string>>;
  /** Makes these keys as they were. A key whose hash is known stays as it is: returns the given ids of those. */
  restoreKeys(workspaceId: string, keys: readonly SavedKey[], by?: Author): Promise<string[]>;
  /** Notes what a feed made of lists leaves out from now on in the variants of this name (null: nothing); it is a change of the feed. */
  recordTrim(workspaceId: string, feedId: string, variant: string, state: TrimState | null): Promise<void>;
  /** Remembers the answer to a request that was done, unless the transaction that did it has. */
  rememberAnswer(workspaceId: string, once: OnceOnly, answer: string): Promise<void>;
}
