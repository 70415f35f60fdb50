/**
 * The seam between two threads: the main thread serves feeds and other documents (`serve/`) and asks for builds, the feed thread holds
 * the rules (`held/`) and makes them (`make/`). All that crosses is in this file. What is said of a feed is true of every document.
 */

import type { FeedKind, ProposedFeed } from '../account/feed.ts';
import type { Message } from '../ports/stream.ts';
import type { AccessAction } from '../rule.ts';
import type { DocumentKind, DocumentVariant } from './document.ts';
import type { BodyPart } from './formats/stamp.ts';
import type { GeoCost } from './geo-cost.ts';
import type { ReadStamp } from './read-stamp.ts';
import type { FeedShares } from './shares.ts';
import type { Trimmed, TrimResult } from './trim.ts';
import type { Family } from './variant.ts';

/** Asks for one variant of one feed, or of another document. */
export interface BuildRequest {
  readonly workspaceId: string;
  /** The UUID of a list or a composed feed; null for the workspace's feed. */
  readonly feedId: string | null;
  readonly variant: DocumentVariant;
  /** The `sequence` of the read of the workspace that asks: a snapshot of an earlier one is read anew, and then is of this one. */
  readonly sequence: number;
  /** The store does not answer: build from the last snapshot, and ask the store nothing. */
  readonly offline: boolean;
  /** The content that is served until another one may begin, where that second lies ahead: what begins then must not have expired. */
  readonly before: { readonly hash: string; readonly until: number } | undefined;
}

/** The snapshot that a build was made from, and how much is in it. */
export interface BuildSource {
  readonly revision: number;
  /** What the feed is called: the list's name, the composed feed's or the workspace's. */
  readonly name: string;
  /** When the snapshot was read; its `sequence` is the highest that was asked for. */
  readonly at: ReadStamp;
  /** The store's clock then, ms. */
  readonly readAt: number;
  /** The kind of device that it is made for. */
  readonly target?: string | null | undefined;
  readonly geoVersion: string;
  readonly entryCount: number;
  /** How many of the entries are IPv4; undefined for what is no feed. */
  readonly v4Count: number | undefined;
  readonly entryLimit: number;
  /** What it leaves out to keep within its cap; undefined for what may leave nothing out. */
  readonly fitted?: TrimResult | undefined;
  /** Whole seconds: when the build was made, without the rules that had expired by then. */
  readonly asOf: number;
  /** Whole seconds: the latest as of which its rules were read. Before it, after the clock was set back, the build may lack some. */
  readonly completeSince: number;
  /** Whole seconds: from then on this build must not be served, because a rule in it expires. Infinity when none does. */
  readonly nextExpiry: number;
}

/** A whole representation but for its Last-Modified. */
export interface BuiltDocument extends BuildSource {
  readonly kind: 'document';
  /** The identity body. Its buffer is its own, so that it can be handed from thread to thread. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where `bytes` show the Last-Modified, which whoever decides it writes there. */
  readonly stampsAt: readonly number[];
  /** What `bytes` consist of; undefined for one part. */
  readonly parts: readonly BodyPart[] | undefined;
  /** Names the content: SHA-256 of `bytes` without the Last-Modified. */
  readonly hash: string;
}

/** More entries than the feed's cap: nothing was rendered (spec 4.6). */
export interface TooLargeBuild extends BuildSource {
  readonly kind: 'too_large';
  /** What costs most, and what helps. */
  readonly hint: string;
}

/** What comes of a build. */
export type BuildResult =
  | BuiltDocument
  | TooLargeBuild
  /** Workspace, list or composed feed is gone. */
  | { readonly kind: 'gone' }
  /** Offline, and no snapshot is in memory. */
  | { readonly kind: 'no_snapshot' };

/** Builds feeds on the feed thread. */
export interface DocumentBuilder {
  /** Rejects when the store does not answer. */
  build(request: BuildRequest): Promise<BuildResult>;
  /** Drops the snapshot of a document that nobody asks for any more. */
  forget(workspaceId: string, document: DocumentKind, feedId: string | null): Promise<void>;
}

/** How long a preview may take, ms, and how many feeds it counts. */
export const PREVIEW_LIMIT = 5_000;
export const MOST_PREVIEWED = 20;

/** Asks what signals would change (SPEC D10.14). */
export interface PreviewRequest {
  readonly workspaceId: string;
  /** The list where those land that name none. */
  readonly listId: string;
  /** As the stream would hold them. */
  readonly messages: readonly Message[];
  /** Whether only the list's own feed counts: all that a key which is bound to it may know of. */
  readonly listOnly: boolean;
}

/** What signals would change of one feed, in the format and family that are stored for it. */
export interface FeedPreview {
  readonly kind: FeedKind;
  readonly feedId: string | null;
  readonly name: string;
  readonly action: AccessAction;
  readonly entriesBefore: number;
  readonly entriesAfter: number;
  readonly entryLimit: number;
  /** What it leaves out now, and would then; undefined: nothing. */
  readonly leftOutBefore?: Trimmed | undefined;
  readonly leftOutAfter?: Trimmed | undefined;
}

/** What signals would change of the feeds of their workspace. */
export interface Preview {
  readonly feeds: readonly FeedPreview[];
  /** How many more feeds they concern. */
  readonly leftOut: number;
  /** Of the countries and ASNs that the signals block, the one with most networks. */
  readonly costliest: GeoCost | undefined;
}

/** Tells on the feed thread what signals would change. */
export interface FeedPreviewer {
  /** Rejects when the store does not answer, with TIMEOUT when it takes too long, and with NOT_FOUND when the list is gone. */
  preview(request: PreviewRequest): Promise<Preview>;
}

/** Asks how large a feed is, or would be. */
export interface MeasureRequest {
  readonly workspaceId: string;
  /** The UUID of a list or a composed feed; null: the workspace's; or one that is not stored. */
  readonly feed: string | null | ProposedFeed;
}

/** How large a feed is in its stored format and family. */
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
  /** Rules for addresses and networks. */
  readonly addressRules: number;
  /** All active rules of its action, whichever family they are of. */
  readonly rules: number;
  /** The countries and ASNs that have most networks; one network may count in several. */
  readonly costs: readonly GeoCost[];
  /** undefined where the workspace has had as much counted as it may for now. */
  readonly shares: FeedShares | undefined;
  /** Where lists have to agree: those that copy other lists of the feed, with the names of these. */
  readonly copies: readonly { readonly id: string; readonly name: string; readonly of: readonly string[] }[];
}

/** Measures feeds on the feed thread, as the store has their rules now. */
export interface FeedMeasurer {
  /** undefined when there is no such feed. Rejects when the store does not answer, and with TIMEOUT when too many wait. */
  measure(request: MeasureRequest): Promise<FeedMeasure | undefined>;
}

/** Asks which lists and keys the entries of a feed come from, or would (SPEC D10.21). */
export interface SharesRequest extends MeasureRequest {
  readonly action: AccessAction;
  readonly family: Family;
  /** `BuildSource.revision`: what was counted of it is not counted again. */
  readonly revision?: number;
}

/** Counts on the feed thread, as the store has the rules now. */
export interface FeedCounter {
  /**
   * Where a workspace has had as much counted as it may for now, or too many wait: what was counted last, undefined when nothing was.
   * Rejects when the store does not answer.
   */
  shares(request: SharesRequest): Promise<FeedShares | undefined>;
}
