/**
 * The interface between the main thread, serving documents (`serve/`), and the feed thread, building them from rules (`index/`, `build/`).
 * Statements about feeds apply to all documents.
 */

import type { FeedKind, ProposedFeed } from '../account/feed.ts';
import type { Message } from '../ports/stream.ts';
import type { AccessAction } from '../rule.ts';
import type { DocumentKind, DocumentVariant } from './document.ts';
import type { FeedFacts } from './facts.ts';
import type { BodyPart } from './formats/stamp.ts';
import type { GeoCost } from './geo-cost.ts';
import type { ReadStamp } from './read-stamp.ts';
import type { FeedShares } from './shares.ts';
import type { Trimmed } from './trim.ts';
import type { Family } from './variant.ts';

export interface BuildRequest {
  readonly workspaceId: string;
  readonly feedId: string | null;
  readonly variant: DocumentVariant;
  /** Older snapshots are read again. */
  readonly sequence: number;
  /** The store is unavailable: build from the last snapshot without store calls. */
  readonly offline: boolean;
  /** The new content must not contain rules expired by `until`. */
  readonly before: { readonly hash: string; readonly until: number } | undefined;
}

export interface BuildSource {
  readonly revision: number;
  readonly name: string;
  /** When the snapshot was read; `sequence` is the highest requested one. */
  readonly at: ReadStamp;
  readonly readAt: number;
  readonly target?: string | null | undefined;
  readonly geoVersion: string;
  readonly facts: FeedFacts;
  /** Whole seconds: rules expired by then are excluded. */
  readonly asOf: number;
  readonly completeSince: number;
}

export interface BuiltDocument extends BuildSource {
  readonly kind: 'document';
  /** The identity body, in a buffer of its own (transferable). */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Byte offsets for the Last-Modified, filled in by the main thread. */
  readonly stampsAt: readonly number[];
  readonly parts: readonly BodyPart[] | undefined;
  /** SHA-256 of `bytes` without the Last-Modified. */
  readonly hash: string;
}

export interface TooLargeBuild extends BuildSource {
  readonly kind: 'too_large';
  readonly hint: string;
}

export type BuildResult = BuiltDocument | TooLargeBuild | { readonly kind: 'deleted' } | { readonly kind: 'no_snapshot' };

export interface DocumentBuilder {
  build(request: BuildRequest): Promise<BuildResult>;
  forget(workspaceId: string, document: DocumentKind, feedId: string | null): Promise<void>;
}

/** Per preview: ms, and feeds. */
export const PREVIEW_LIMIT = 5_000;
export const MOST_PREVIEWED = 20;

export interface PreviewRequest {
  readonly workspaceId: string;
  readonly listId: string;
  readonly messages: readonly Message[];
  /** Restricts the result to the list's own feed, for keys bound to the list. */
  readonly listOnly: boolean;
}

export interface FeedPreview {
  readonly kind: FeedKind;
  readonly feedId: string | null;
  readonly name: string;
  readonly action: AccessAction;
  readonly entriesBefore: number;
  readonly entriesAfter: number;
  readonly entryLimit: number;
  readonly leftOutBefore?: Trimmed | undefined;
  readonly leftOutAfter?: Trimmed | undefined;
  /** Blocked hosts of the signals: served as networks, and as sent because their network has protected addresses. */
  readonly widened?: Widened | undefined;
  /** ms; undefined: not frozen. */
  readonly frozenSince?: number | undefined;
}

export interface Widened {
  readonly hosts: number;
  readonly asSent: number;
}

export interface Preview {
  readonly feeds: readonly FeedPreview[];
  readonly leftOut: number;
  /** The blocked country or ASN with the most networks. */
  readonly costliest: GeoCost | undefined;
}

export interface FeedPreviewer {
  /** Rejects if the store does not answer, with TIMEOUT, or with NOT_FOUND if the list was deleted. */
  preview(request: PreviewRequest): Promise<Preview>;
}

/** An IPv4 network of 8, 16 or 24 host bits more than its children; `prefix` 0, 8 or 16. */
export interface MapNetwork {
  readonly address: number;
  readonly prefix: number;
}

export interface AddressSpaceRequest {
  readonly workspaceId: string;
  readonly feedId: string | null;
  readonly within: MapNetwork;
  readonly offline: boolean;
}

export interface Block {
  readonly network: string;
  readonly addresses: number;
  readonly networks: number;
  readonly rules: number;
  /** At most five. `prefix` -1: a country or an ASN. `list` null: unknown. */
  readonly widest: readonly { readonly id: number; readonly target: string; readonly prefix: number; readonly list: string | null }[];
}

/** Counts are for the 256 children of a network. */
export interface AddressSpace {
  readonly name: string;
  readonly action: AccessAction;
  readonly family: Family;
  readonly addresses: readonly number[];
  readonly rules: readonly number[];
  readonly protected: readonly number[];
  readonly neverBlock: readonly number[];
  /** At most ten. */
  readonly widest: readonly Block[];
  /** Networks of at most 32 bits, or the /32s, with the most addresses; at most ten. */
  readonly v6: readonly Block[];
}

export interface AddressMapper {
  /** undefined: no such feed. Rejects if the store does not answer and no snapshot is known; LIMITED if the queue is full. */
  addressSpace(request: AddressSpaceRequest): Promise<AddressSpace | undefined>;
}

export interface MeasureRequest {
  readonly workspaceId: string;
  /** UUID of a list or composed feed; null: the workspace's; or a proposed one. */
  readonly feed: string | null | ProposedFeed;
}

export interface FeedMeasure {
  readonly name: string;
  readonly format: string;
  readonly family: string;
  readonly action: AccessAction;
  readonly entries: number;
  readonly v4: number;
  readonly v6: number;
  readonly entryLimit: number;
  readonly leftOut: Trimmed | undefined;
  readonly addressRules: number;
  /** Of the action, in both families. */
  readonly rules: number;
  /** The largest. A network may count in several. */
  readonly costs: readonly GeoCost[];
  /** undefined: the workspace's budget for counting is used up. */
  readonly shares: FeedShares | undefined;
  /** Lists that copy other lists of a feed with quorum, with the names of these. */
  readonly copies: readonly { readonly id: string; readonly name: string; readonly of: readonly string[] }[];
}

export interface FeedMeasurer {
  /** undefined: no such feed. Rejects if the store does not answer, and with TIMEOUT if the queue is full. */
  measure(request: MeasureRequest): Promise<FeedMeasure | undefined>;
}

export interface SharesRequest extends MeasureRequest {
  readonly action: AccessAction;
  readonly family: Family;
  readonly revision?: number;
}

export interface FeedCounter {
  /** Over budget, or with a full queue: the last count, if any. Rejects if the store does not answer. */
  shares(request: SharesRequest): Promise<FeedShares | undefined>;
}
