/** What bouncers are given: the networks of a block feed as decisions (SPEC D14). All that crosses between the two threads is here. */
import type { Network } from '@weir/network/network.ts';

/** What decisions say of where they come from, and of a network that comes of several lists. */
export const ORIGIN = 'weir';
/** What they say where bouncers are told of which list each is (SPEC D31.1): clients count by list then. */
export const LISTS_ORIGIN = 'lists';

/** The kinds of target that decisions have: a single address, or a wider network. */
export const SCOPES = ['Ip', 'Range'] as const;
export type Scope = (typeof SCOPES)[number];

/** Which decisions a bouncer wants (SPEC D14.9). */
export interface DecisionFilter {
  readonly scopes: readonly Scope[];
  /** Where they come from, one of these; null: from anywhere. */
  readonly origins: readonly string[] | null;
  /** Of the scenario, parts of which it has to have one; null: any scenario. */
  readonly containing: readonly string[] | null;
  /** Parts of which it must have none. */
  readonly without: readonly string[];
}

/** A version of what a feed's bouncers are told. Versions of different builders, such as before and after a restart, do not compare. */
export interface DecisionMark {
  readonly builder: string;
  readonly version: number;
}

/** A feed (null: the workspace's) whose bouncers' state had to go for that of others, and where it was kept (SPEC D14.16). */
export interface DroppedDecisions {
  readonly workspaceId: string;
  readonly feedId: string | null;
  readonly where: 'memory' | 'store';
}

export interface DecisionRequest {
  readonly workspaceId: string;
  /** The UUID of a list or a composed feed; null for the workspace's feed. */
  readonly feedId: string | null;
  readonly filter: DecisionFilter;
  /** What has changed since a version (null: everything), or the decisions in force, here for all of a network. */
  readonly ask: { readonly since: DecisionMark | null } | { readonly network: Network | null };
}

/** A body for bouncers: JSON. */
export interface DecisionAnswer {
  readonly bytes: Uint8Array;
  /** The version that the body ends with. */
  readonly mark: DecisionMark;
  /** Decisions of the feed. */
  readonly count: number;
  /** Of these, networks of more than one address. */
  readonly networks: number;
  /** What a feed that gives single addresses leaves out because it is too wide: networks, and addresses in them. */
  readonly leftOut: { readonly networks: number; readonly addresses: number };
}
