import type { FeedKind, FeedProfile } from '../account/feed.ts';
import type { GuardRails } from '../account/guard-rails.ts';
import type { AccessList } from '../account/list.ts';
import type { GeoTarget, Kind, RuleRole } from '../rule.ts';
import type { StoredRule } from './stored/stored-rule.ts';

/** A workspace with its lists as they are now: name resolution, settings and revisions in one read. */
export interface WorkspaceDirectory {
  readonly id: string;
  readonly name: string;
  /** Moves with any of the workspace's lists and rules. */
  readonly revision: number;
  /** The store's clock at the read, ms: a snapshot whose revision has not moved since counts as taken now. */
  readonly readAt: number;
  readonly lists: readonly AccessList[];
}

/** The directory with those lists and composed feeds only that a UUID or name stands for. */
export interface NamedDirectory extends WorkspaceDirectory {
  /** Moves with the workspace's expression rules. */
  readonly expressionRevision: number;
  readonly feeds: readonly FoundFeed[];
}

/** A composed feed as a request for it needs it; `revision` moves with its settings and with its lists. */
export interface FoundFeed extends FeedProfile {
  readonly id: string;
  readonly revision: number;
}

/**
 * Receives the active access rules of a snapshot, one call a rule, without an object a row.
 * `id` is the store's own primary key of the rule, `expires` the expiry in whole seconds (0 = none),
 * `levels` is `levelCode(confidence, severity)` of feed/levels.ts: confidence × 5 + severity, each 0 = unset, 1 = low … 4 = critical.
 */
export interface RuleSink {
  v4(id: number, role: RuleRole, address: number, prefix: number, expires: number, levels: number): void;
  /** `bytes` holds 16 bytes from `at` on; they are only valid during the call. */
  v6(id: number, role: RuleRole, bytes: Uint8Array, at: number, prefix: number, expires: number, levels: number): void;
  geo(id: number, role: RuleRole, target: GeoTarget, expires: number, levels: number): void;
}

/** Receives the active rules of these kinds as they are stored. Access rules are those of the feed that is read. */
export interface WholeRules {
  readonly kinds: readonly Kind[];
  take(rule: StoredRule): void;
}

/** Rules of a workspace that are known already. */
export interface KnownRules {
  /** `SnapshotHead.change` of the read that all of them are of. */
  readonly change: number;
  /** The lists that they are of, by their keys. */
  readonly lists: Pick<ReadonlySet<string>, 'has' | 'size'>;
  /** Whether the feed has not been read before: it may well be empty, and that may be the cheaper question. */
  readonly isNewFeed?: boolean;
}

/**
 * Receives the active access rules of lists that were not known, and what has changed in those that were. Levels are the rule's own;
 * what a list stores is `SnapshotList.levels`.
 */
export interface ListSink extends RuleSink {
  /** What follows is of this list: all of its rules, or what has changed in it. May be told several times of a list. */
  list(key: string, isComplete: boolean): void;
  /** A rule of the list was changed or deleted. All of these come before those of them that are active. */
  gone(id: number): void;
}

/** The key under which `follow` hands over the never-block rules of a whole workspace, always all of them. */
export const EXCEPTIONS_KEY = 'exceptions';

/** A list whose rules a feed has. */
export interface SnapshotList {
  readonly id: string;
  readonly name: string;
  /** Names the list for `follow`: one that is made anew under the same UUID has another. */
  readonly key: string;
  /** `levelCode` of what its rules have in this feed where they say nothing; 0 = what the feed says. */
  readonly levels: number;
}

/** Receives the rules of a snapshot; those of a feed whose lists have to agree come list by list. */
export interface SnapshotSink extends RuleSink {
  /** What follows is of the list with this `SnapshotList.key`, or of EXCEPTIONS_KEY. */
  list?(key: string): void;
}

/** What a feed has left out to keep within its cap: the UUID of the first list of them, or how many lists have to agree. */
export type TrimState = string | number;

/** How the lists of a feed have to agree, and may be left out (SPEC D29); by their places in `SnapshotHead.lists`. */
export interface QuorumSettings {
  /** How many independent lists have to have what is blocked. */
  readonly minSources: number;
  /** What is left out where the feed would pass its cap; null: nothing. */
  readonly fit: 'lists' | 'sources' | null;
  /** What was left out last, by the variants that have the same entries; builds write what they leave out. */
  readonly fits: Map<string, TrimState>;
  /** Whether a list is enough by itself. */
  readonly always: readonly boolean[];
  /**
   * For each list those that it copies, directly or by another list that does: where one of them has an address too, it is no witness.
   * Of lists that copy each other the first copies none.
   */
  readonly copies: readonly (readonly number[])[];
}

/** What a snapshot read found besides the rules; all from the same read transaction. */
export interface SnapshotHead {
  readonly kind: FeedKind;
  readonly profile: FeedProfile;
  /** Of the workspace; the service's come on top. */
  readonly guardRails: GuardRails;
  /** The lists whose rules it has, in their order. */
  readonly lists: readonly SnapshotList[];
  /** undefined: each of its lists is enough by itself and none is left out, as in most feeds. */
  readonly quorum: QuorumSettings | undefined;
  /** Moves with everything that the feed shows. */
  readonly revision: number;
  /** Moves with the workspace's expression rules. */
  readonly expressionRevision: number;
  /** The workspace's creation, ms. */
  readonly workspaceCreatedAt: number;
  /** The number of the last change in the workspace (D9), 0 = none is known. */
  readonly change: number;
  /** The store's clock at the read, ms. */
  readonly readAt: number;
}
