/** Between the main thread and the feed thread: the networks of a block feed as decisions (SPEC D14). */
import type { Network } from '@weir/network/network.ts';

/** Also the name of a network that several lists cover. */
export const ORIGIN = 'weir';
/** Origin if the feed announces lists (SPEC D31.1): clients then count by list. */
export const LISTS_ORIGIN = 'lists';

export const SCOPES = ['Ip', 'Range'] as const;
export type Scope = (typeof SCOPES)[number];

export interface DecisionFilter {
  readonly scopes: readonly Scope[];
  /** null: all. */
  readonly origins: readonly string[] | null;
  /** The scenario contains one of these; null: any. */
  readonly containing: readonly string[] | null;
  /** The scenario contains none of these. */
  readonly without: readonly string[];
}

/** Versions of different builders (before and after a restart) are not comparable. */
export interface DecisionMark {
  readonly builder: string;
  readonly version: number;
}

/** A log evicted from memory or from the store (SPEC D14.16). */
export interface DroppedDecisions {
  readonly workspaceId: string;
  readonly feedId: string | null;
  readonly where: 'memory' | 'store';
}

export interface DecisionRequest {
  readonly workspaceId: string;
  /** UUID of a list or composed feed; null for the workspace's feed; `canaryId` for its content for canaries. */
  readonly feedId: string | null;
  readonly filter: DecisionFilter;
  /** The changes since a version (null: everything), or the decisions that contain a network (null: all). */
  readonly ask: { readonly since: DecisionMark | null } | { readonly network: Network | null };
  /** Whether the client checks its networks. */
  readonly checks?: boolean;
}

/** A client compares its own (SPEC D50.5). */
export interface FeedCheck {
  readonly version: string;
  readonly count: number;
  /** SHA-256, in hex. */
  readonly digest: string;
}

/** A version as clients name it. */
export const versionText = ({ builder, version }: DecisionMark): string => `${builder}.${version}`;

/** `hash`: `Representation.hash` of the document `decisions`. */
export function markOf(hash: string): DecisionMark {
  const [builder, version] = hash.split(' ') as [string, string];
  return { builder, version: Number(version) };
}

/** null: none of weir. */
export function readVersion(text: string): DecisionMark | null {
  const [, builder, version] = /^([\da-f-]{36})\.(\d{1,15})$/.exec(text) ?? [];
  return builder === undefined ? null : { builder, version: Number(version) };
}

/** A JSON body. */
export interface DecisionAnswer {
  readonly bytes: Uint8Array;
  /** The version after this body. */
  readonly mark: DecisionMark;
  /** null: the body has everything. */
  readonly since: DecisionMark | null;
  readonly check?: FeedCheck | undefined;
  readonly count: number;
  /** Networks of more than one address. */
  readonly networks: number;
  /** Networks too wide for single addresses. */
  readonly leftOut: { readonly networks: number; readonly addresses: number };
}
