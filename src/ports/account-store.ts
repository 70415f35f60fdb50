/** The store of accounts: organizations, workspaces, lists and keys. Types only; `storeConformance` is run by every driver. */
import type { Caller } from '../account/caller.ts';
import type { ComposedFeed, FeedPatch, SavedFeed } from '../account/feed.ts';
import type { KeyInfo, NewKey, SavedKey } from '../account/key.ts';
import type { AccessList, ListPatch, ListSettings, SavedList } from '../account/list.ts';
import type { Organization, Subscription } from '../account/organization.ts';
import type { Workspace, WorkspacePatch } from '../account/workspace.ts';

interface Bootstrap {
  /** SHA-256 of the key that must exist; a key that was revoked stays revoked. */
  readonly hash: Uint8Array;
  readonly prefix: string;
  /** Only make the key when the store holds no workspace at all. */
  readonly onlyWhenEmpty: boolean;
}

/** Reads. None of them takes a lock that a writer waits for. */
export interface AccountReads {
  /** One counter that every change of a key, permission or subscription moves. */
  keyRevision(): Promise<number>;
  /** The caller behind a key's SHA-256; undefined for an unknown or revoked one. Expiry is the caller's to check. */
  findCaller(hash: Uint8Array): Promise<Caller | undefined>;
  organizations(): Promise<Organization[]>;
  workspaces(): Promise<Workspace[]>;
  keys(workspaceId: string): Promise<KeyInfo[]>;
  /** The same with their hashes; only `weir export` asks for them. */
  savedKeys(workspaceId: string): Promise<SavedKey[]>;
  /** The composed feeds of a workspace. */
  feeds(workspaceId: string): Promise<ComposedFeed[]>;
}

/** Writes. Each call is one transaction with its row in the audit log. */
export interface AccountWrites {
  bootstrap(b: Bootstrap): Promise<{ workspaceId: string; created: boolean }>;
  createOrganization(name: string, subscription: Subscription): Promise<Organization>;
  setSubscription(organizationId: string, subscription: Subscription): Promise<void>;
  createWorkspace(organizationId: string, name: string): Promise<Workspace>;
  /** Moves the revisions of the workspace and of all its lists, and the key revision: callers carry the guard rails. */
  updateWorkspace(workspaceId: string, patch: WorkspacePatch): Promise<Workspace>;
  createKey(workspaceId: string, key: NewKey): Promise<KeyInfo>;
  /** false when there is no such key. */
  revokeKey(id: string): Promise<boolean>;
  /** Last-used instants gathered in memory, written in one go. */
  touchKeys(used: readonly { id: string; at: number }[]): Promise<void>;
  /** Rejects with REFUSED when the workspace has `maxLists` lists already (0 = no limit), or a composed feed of that name. */
  createList(workspaceId: string, name: string, description: string | null, settings: ListSettings, maxLists?: number): Promise<AccessList>;
  updateList(workspaceId: string, listId: string, patch: ListPatch): Promise<AccessList>;
  /** Deletes the list, its rules and revokes the keys bound to it; its feeds go on without it. The default list cannot be deleted: rejects. */
  deleteList(workspaceId: string, listId: string): Promise<void>;
  /** Rejects with REFUSED when a list or a feed has that name, with NOT_FOUND when a list of it is not the workspace's. */
  createFeed(workspaceId: string, feed: Omit<SavedFeed, 'id'>): Promise<ComposedFeed>;
  updateFeed(workspaceId: string, feedId: string, patch: FeedPatch): Promise<ComposedFeed>;
  /** Deletes the feed, not its lists, and revokes the keys bound to it. */
  deleteFeed(workspaceId: string, feedId: string): Promise<void>;
  /**
   * Makes these lists and composed feeds in a workspace, each with its id unless another has it; one that the workspace has already is
   * set as given, a feed also where only the name is the same. The default list stands for the workspace's own. Returns the id that
   * each has now, by the given one. Rejects with REFUSED when a list and a feed would have one name.
   */
  restoreLists(workspaceId: string, lists: readonly SavedList[], feeds?: readonly SavedFeed[]): Promise<ReadonlyMap<string, string>>;
  /** Makes these keys as they were. A key whose hash is known stays as it is: returns the given ids of those. */
  restoreKeys(workspaceId: string, keys: readonly SavedKey[]): Promise<string[]>;
}
