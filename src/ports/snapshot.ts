import type { FeedKind, FeedProfile, Fit } from '../account/feed.ts';
import type { GuardRails } from '../account/guard-rails.ts';
import type { AccessList } from '../account/list.ts';
import type { HostPrefixes } from '../feed/widening.ts';
import type { GeoTarget, Kind, RuleRole } from '../rule.ts';
import type { StoredRule } from './stored/stored-rule.ts';

export interface WorkspaceDirectory {
  readonly id: string;
  readonly name: string;
  /** Changes with every change of the workspace's lists and rules. */
  readonly revision: number;
  /** Store clock of the read, ms. A snapshot with an unchanged revision is as recent as this. */
  readonly readAt: number;
  readonly lists: readonly AccessList[];
}

/** The directory, limited to the lists and composed feeds with a UUID or name. */
export interface NamedDirectory extends WorkspaceDirectory {
  /** Changes with the workspace's expression rules. */
  readonly expressionRevision: number;
  readonly feeds: readonly FoundFeed[];
  /** Of the key that signs, encrypted; null: none. */
  readonly signingSecret: Uint8Array | null;
  /** All frozen feeds of the workspace. */
  readonly freezes?: readonly FrozenFeed[];
}

/** A freeze that a large change began (SPEC D65). */
export interface Canary {
  /** Ids of the keys that receive the change first. */
  readonly keys: readonly string[];
  /** Promoted then, ms; null: stopped, a person decides. */
  readonly until: number | null;
}

/** A frozen feed: what requests need (SPEC D60). `feedId` null: the workspace's feed. */
export interface FrozenFeed {
  readonly feedId: string | null;
  readonly revision: number;
  readonly profile: FeedProfile;
  readonly canary: Canary | null;
}

/** A composed feed for a request; `revision` changes with its settings and its lists. */
export interface FoundFeed extends FeedProfile {
  readonly id: string;
  readonly revision: number;
}

/**
 * Receives the active access rules of a snapshot, one call per rule, to avoid an object per row. `id` is the primary key, `expires` is in
 * whole seconds (0 = none), `levels` is `levelCode(confidence, severity)`: confidence × 5 + severity, each 0 = unset, 1 = low … 4 =
 * critical.
 */
export interface RuleSink {
  v4(id: number, role: RuleRole, address: number, prefix: number, expires: number, levels: number): void;
  /** 16 bytes at offset `at`; valid only during the call. */
  v6(id: number, role: RuleRole, bytes: Uint8Array, at: number, prefix: number, expires: number, levels: number): void;
  geo(id: number, role: RuleRole, target: GeoTarget, expires: number, levels: number): void;
}

/** Receives the active rules of these kinds as stored, access rules only of the feed. */
export interface StoredRulesSink {
  readonly kinds: readonly Kind[];
  take(rule: StoredRule): void;
}

export interface KnownRules {
  /** `SnapshotHead.change` of the read of these rules. */
  readonly change: number;
  readonly lists: Pick<ReadonlySet<string>, 'has' | 'size'>;
  /** Whether the feed was never read before: it may be empty, which is cheaper to check first. */
  readonly isNewFeed?: boolean;
}

/**
 * Receives all rules of new lists, and the changes of cached lists. Levels are those of the rule; the list's are in `SnapshotList.levels`.
 */
export interface ListSink extends RuleSink {
  /** The next rules belong to this list: all of them, or the changed ones. May be called several times per list. */
  list(key: string, isComplete: boolean): void;
  /** A rule was changed or deleted. All of these calls come before the changed rules that are active. */
  removed(id: number): void;
}

/** The key under which `follow` passes the never-block rules of a workspace, always all of them. */
export const EXCEPTIONS_KEY = 'exceptions';

export interface SnapshotList {
  readonly id: string;
  readonly name: string;
  /** Identifies the list for `follow`; a list created again under the same UUID has another key. */
  readonly key: string;
  /** `levelCode` for rules without levels; 0 = use the feed's. */
  readonly levels: number;
  /** Prefix lengths at which block feeds serve hosts of the list; undefined: as sent. */
  readonly hosts?: HostPrefixes | undefined;
}

/** Receives the rules of a snapshot; list by list if they are needed separately (`needsLists`). */
export interface SnapshotSink extends RuleSink {
  /** The next rules belong to the list with this `SnapshotList.key`, or to EXCEPTIONS_KEY. */
  list?(key: string): void;
}

/** How a feed was trimmed to its cap: the UUIDs of the lists left out, separated by blanks, or the required number of agreeing lists. */
export type TrimState = string | number;

/** Quorum and trimming of a feed (SPEC D29); arrays are indexed like `SnapshotHead.lists`. */
export interface QuorumSettings {
  readonly minSources: number;
  /** What to drop when the feed exceeds its cap; null: nothing. */
  readonly fit: Exclude<Fit, 'none'> | null;
  /** The last trim, by variants with the same entries; updated by builds. */
  readonly fits: Map<string, TrimState>;
  readonly always: readonly boolean[];
  /** Lists of own detections: those without a source, and the `always` lists. */
  readonly own: readonly boolean[];
  /**
   * For each list, the lists it copies, directly or through others. If one of those contains an address too, the list is no witness. Of
   * lists that copy each other, the first copies none.
   */
  readonly copies: readonly (readonly number[])[];
}

export interface SnapshotHead {
  readonly kind: FeedKind;
  readonly profile: FeedProfile;
  /** Of the workspace; the service has its own. */
  readonly guardRails: GuardRails;
  readonly lists: readonly SnapshotList[];
  /** undefined: no quorum and no trimming, as for most feeds. */
  readonly quorum: QuorumSettings | undefined;
  /** Changes with everything that the feed contains. */
  readonly revision: number;
  /** ms; undefined: the feed is not frozen. */
  readonly frozenSince?: number;
  /** Of X-Feed-Canary; undefined: no canary. */
  readonly canary?: string;
  /** Changes with the workspace's expression rules. */
  readonly expressionRevision: number;
  /** ms */
  readonly workspaceCreatedAt: number;
  /** The number of the last change in the workspace (D9); 0 = unknown. */
  readonly change: number;
  /** Store clock, ms. */
  readonly readAt: number;
}
