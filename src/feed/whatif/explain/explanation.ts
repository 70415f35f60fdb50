/** What is asked of explain, and what it answers. Types only. */
import type { FeedKind, FeedProfile } from '../../../account/feed.ts';
import type { BlockGuard } from '../../../account/guard-rails.ts';
import type { SubtractAllow } from '../../../account/list.ts';
import type { GeoDatabase } from '../../../ports/geo.ts';
import type { QuorumSettings, SnapshotList } from '../../../ports/snapshot.ts';
import type { StoredRule } from '../../../ports/stored/stored-rule.ts';
import type { AccessAction, AccessRule, Target } from '../../../rule.ts';
import type { ListCut } from '../../build/content.ts';
import type { Family } from '../../variant.ts';

/** How the lists of a feed have to agree, in their order, and what of them it leaves out now. */
export interface Agreeing {
  readonly quorum: QuorumSettings;
  readonly lists: readonly Pick<SnapshotList, 'id' | 'name'>[];
  readonly cut: ListCut;
}

/** A feed with its stored settings, and the lists whose rules it holds (null: all of the workspace). */
export interface FeedSource {
  readonly kind: FeedKind;
  /** null: the workspace's. */
  readonly id: string | null;
  readonly profile: FeedProfile;
  readonly lists: ReadonlySet<string> | null;
  /** How its lists, in their order, have to agree; undefined: each is enough. */
  readonly agreeing?: Agreeing | undefined;
  /** Lists of the workspace that sources keep: no unblock removes their rules. */
  readonly kept?: ReadonlySet<string>;
}

/** An access rule as the store has it. */
export interface StoredAccessRule extends StoredRule {
  readonly rule: AccessRule;
}

/** What is asked about which feeds, and with what they are made. */
export interface Question {
  readonly target: Target;
  readonly action: AccessAction;
  /** Whole seconds: rules that expire at this second or before count no more. */
  readonly asOf: number;
  readonly geo: GeoDatabase;
  /** Of the feeds' workspace. */
  readonly guard: BlockGuard;
}

/** Whether all addresses asked for are in a feed, some, or none. */
export type Verdict = 'in' | 'partly' | 'out';

/**
 * How a rule's target lies to the one that is asked for: the same, a network around it, one inside it, a country or an ASN with
 * addresses of it; `overlapping`: a network with addresses of the country or ASN that is asked for.
 */
export type Relation = 'exact' | 'covering' | 'covered' | 'country' | 'asn' | 'overlapping';

/**
 * Why a rule on what is asked for changes nothing of a feed: never-block rules are not cut out of it, the geo data have no ranges for the
 * rule's target, the feed has no address of its family, too few lists have what it blocks, or its list is left out, so that the feed keeps
 * within its cap.
 */
export type Idle = 'not_cut_out' | 'no_ranges' | 'other_family' | 'too_few_lists' | 'left_out';

/** What of the lists of a feed that have to agree have addresses that are asked for (SPEC D29). */
export interface FoundQuorum {
  /** How many independent lists an address needs. */
  readonly minSources: number;
  /** How many have the address that most of them have. */
  readonly found: number;
  /** Those that have any, in the feed's order. */
  readonly lists: readonly {
    readonly name: string;
    /** Whether it is enough by itself. */
    readonly always: boolean;
    /** Which of the others it copies. */
    readonly copies: readonly string[];
  }[];
}

export interface ExplainedRule {
  readonly stored: StoredAccessRule;
  /** Whether it puts addresses that are asked for into the feed, keeps them out, or does neither. */
  readonly effect: 'in' | 'out' | 'none';
  /** Why it does neither; null where it does. */
  readonly idle: Idle | null;
  readonly relation: Relation;
}

/** A value of `subtract_allow` that a feed does not have, and whether the addresses would be in it with that. */
export interface Subtraction {
  readonly value: Exclude<SubtractAllow, 'off'>;
  readonly verdict: Verdict;
}

export interface FeedExplanation {
  readonly verdict: Verdict;
  /** The families that the feed publishes where a request says nothing; others are not explained. */
  readonly family: Family;
  readonly rules: readonly ExplainedRule[];
  /** Protected networks that keep addresses out. */
  readonly protectedBy: readonly string[];
  /** null: no lists have to agree, or none has it. */
  readonly quorum: FoundQuorum | null;
  /** What removing the rules on exactly this target, from all lists of the feed, would do: how many there are, and the verdict then. */
  readonly unblock: { readonly removes: readonly StoredAccessRule[]; readonly verdict: Verdict };
  /** What cutting never-block rules out would do, of a block feed that has addresses which such a rule names; else null. */
  readonly subtract: Subtraction | null;
}
