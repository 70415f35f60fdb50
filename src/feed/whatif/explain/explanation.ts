import type { FeedKind, FeedProfile } from '../../../account/feed.ts';
import type { BlockGuard } from '../../../account/guard-rails.ts';
import type { SubtractAllow } from '../../../account/list.ts';
import type { GeoDatabase } from '../../../ports/geo.ts';
import type { QuorumSettings, SnapshotList } from '../../../ports/snapshot.ts';
import type { StoredRule } from '../../../ports/stored/stored-rule.ts';
import type { AccessAction, AccessRule, Target } from '../../../rule.ts';
import type { ListCut } from '../../build/content.ts';
import type { Family } from '../../variant.ts';
import type { HostPrefixes } from '../../widening.ts';

export interface Agreeing {
  readonly quorum: QuorumSettings;
  readonly lists: readonly Pick<SnapshotList, 'id' | 'name'>[];
  readonly cut: ListCut;
}

export interface FeedSource {
  readonly kind: FeedKind;
  readonly id: string | null;
  readonly profile: FeedProfile;
  readonly lists: ReadonlySet<string> | null;
  /** undefined: no quorum. */
  readonly agreeing?: Agreeing | undefined;
  /** Prefix lengths at which the feed serves blocked hosts, by list; missing: as sent. */
  readonly hosts?: ReadonlyMap<string, HostPrefixes>;
  /** Lists managed by sources: unblock does not remove their rules. */
  readonly managed?: ReadonlySet<string>;
}

export interface StoredAccessRule extends StoredRule {
  readonly rule: AccessRule;
}

export interface Question {
  readonly target: Target;
  readonly action: AccessAction;
  /** Whole seconds: rules expiring by then are ignored. */
  readonly asOf: number;
  readonly geo: GeoDatabase;
  readonly guard: BlockGuard;
}

export type Verdict = 'in' | 'partly' | 'out';

/** Relation of a rule's target to the requested one. `overlapping`: a network overlapping the requested country or ASN. */
export type Relation = 'exact' | 'covering' | 'covered' | 'country' | 'asn' | 'overlapping';

/**
 * Reason for having no effect: never-block rules are not subtracted, the target has no ranges in the geo data, the family differs, the
 * quorum is not met, the list is trimmed, or the geo data of that time is not known (SPEC D61.5).
 */
export type Idle = 'not_cut_out' | 'no_ranges' | 'other_family' | 'too_few_lists' | 'left_out' | 'not_known';

/** The lists of a feed with quorum containing requested addresses (SPEC D29). */
export interface FoundQuorum {
  /** Independent lists. */
  readonly minSources: number;
  /** Maximum over the requested addresses. */
  readonly found: number;
  readonly lists: readonly {
    readonly name: string;
    /** Sufficient alone. */
    readonly always: boolean;
    readonly copies: readonly string[];
  }[];
}

export interface ExplainedRule {
  readonly stored: StoredAccessRule;
  /** Puts requested addresses into the feed, excludes them, or neither. */
  readonly effect: 'in' | 'out' | 'none';
  /** Null unless the effect is `none`. */
  readonly idle: Idle | null;
  readonly relation: Relation;
  /** The network served for the host that the rule blocks; null: the rule is served as sent. */
  readonly servedAs: Target | null;
  /** Why the host is not widened: `wider than /24`, protected networks. */
  readonly notWidened: readonly string[];
}

export interface Subtraction {
  readonly value: Exclude<SubtractAllow, 'off'>;
  readonly verdict: Verdict;
}

export interface FeedExplanation {
  readonly verdict: Verdict;
  /** Others are not explained. */
  readonly family: Family;
  readonly rules: readonly ExplainedRule[];
  readonly protectedBy: readonly string[];
  /** null: no quorum, or no list with a requested address. */
  readonly quorum: FoundQuorum | null;
  /** The place of the best requested address that the feed leaves out, of how many; null: none is left out by its rank. */
  readonly rank: { readonly rank: number; readonly limit: number } | null;
  /** Effect of unblocking exactly this target in all lists of the feed. */
  readonly unblock: { readonly removes: readonly StoredAccessRule[]; readonly verdict: Verdict };
  /** For block feeds with a relevant never-block rule; else null. */
  readonly subtract: Subtraction | null;
}
