import type { FeedKind, FeedProfile, Fit } from '../account/feed.ts';
import type { GuardRails } from '../account/guard-rails.ts';
import type { AccessList } from '../account/list.ts';
import type { HostPrefixes } from '../feed/widening.ts';
import type { GeoTarget, Kind, RuleRole } from '../rule.ts';
import type { StoredRule } from './stored/stored-rule.ts';

export interface WorkspaceDirectory {
  readonly id: string;
  readonly name: string;
  /** Changes with the workspace's lists and rules. */
  readonly revision: number;
  /** Store clock, ms. A snapshot with an unchanged revision is as recent. */
  readonly readAt: number;
  readonly lists: readonly AccessList[];
}

/** Limited to the lists and composed feeds with a UUID or name. */
export interface NamedDirectory extends WorkspaceDirectory {
  readonly expressionRevision: number;
  readonly feeds: readonly FoundFeed[];
  /** Of the key that signs; null: none. */
  readonly signingSecret: Uint8Array | null;
  readonly freezes?: readonly FrozenFeed[];
}

/** A freeze that a large change began (SPEC D65). */
export interface Canary {
  /** Ids of the keys that receive the change first. */
  readonly keys: readonly string[];
  /** Promoted then, ms; null: stopped, a person decides. */
  readonly until: number | null;
}

/** What requests need of it (SPEC D60). `feedId` null: the workspace's feed. */
export interface FrozenFeed {
  readonly feedId: string | null;
  readonly revision: number;
  readonly profile: FeedProfile;
  readonly canary: Canary | null;
}

/** `revision` changes with its settings and lists. */
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

/** Access rules only of the feed. */
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

/** All rules of new lists, and the changes of cached ones. Levels are those of the rule; the list's are in `SnapshotList.levels`. */
export interface ListSink extends RuleSink {
  /** The next rules are all, or the changed ones, of this list. May be called several times per list. */
  list(key: string, isComplete: boolean): void;
  /** Changed or deleted. Comes before the changed rules that are active. */
  removed(id: number): void;
}

/** Of the never-block rules of a workspace in `follow`, always all of them. */
export const EXCEPTIONS_KEY = 'exceptions';

export interface SnapshotList {
  readonly id: string;
  readonly name: string;
  /** A list created again under the same UUID has another key. */
  readonly key: string;
  /** `levelCode` for rules without levels; 0 = use the feed's. */
  readonly levels: number;
  /** Prefix lengths at which block feeds serve hosts of the list; undefined: as sent. */
  readonly hosts?: HostPrefixes | undefined;
}

/** List by list if needed separately (`needsLists`). */
export interface SnapshotSink extends RuleSink {
  /** Of the next rules: a `SnapshotList.key`, or EXCEPTIONS_KEY. */
  list?(key: string): void;
}

/** How a feed was trimmed to its cap: the UUIDs of the lists left out, separated by blanks, or the required number of agreeing lists. */
export type TrimState = string | number;

/** Arrays are indexed like `SnapshotHead.lists` (SPEC D29). */
export interface QuorumSettings {
  readonly minSources: number;
  /** What to drop when the feed exceeds its cap; null: nothing. */
  readonly fit: Exclude<Fit, 'none'> | null;
  /** By variants with the same entries; updated by builds. */
  readonly fits: Map<string, TrimState>;
  readonly always: readonly boolean[];
  /** Without a source, or `always`. */
  readonly own: readonly boolean[];
  /**
   * For each list, the lists it copies, directly or through others: it is no witness for their addresses. Of lists that copy each other,
   * the first copies none.
   */
  readonly copies: readonly (readonly number[])[];
}

export interface SnapshotHead {
  readonly kind: FeedKind;
  readonly profile: FeedProfile;
  /** Of the workspace; the service has its own. */
  readonly guardRails: GuardRails;
  readonly lists: readonly SnapshotList[];
  /** undefined: neither, as for most feeds. */
  readonly quorum: QuorumSettings | undefined;
  /** Changes with everything that the feed contains. */
  readonly revision: number;
  /** ms; undefined: the feed is not frozen. */
  readonly frozenSince?: number;
  /** Of X-Feed-Canary; undefined: no canary. */
  readonly canary?: string;
  readonly expressionRevision: number;
  /** ms */
  readonly workspaceCreatedAt: number;
  /** In the workspace (D9); 0 = unknown. */
  readonly change: number;
  /** Store clock, ms. */
  readonly readAt: number;
}
