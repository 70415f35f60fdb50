/** Feeds served as deltas between versions. Builds update them; another folder provides them. */
import type { AddressSet } from '@weir/network/address-set.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { FeedFacts } from '../facts.ts';
import type { Snapshot } from '../index/snapshot.ts';

export interface PublishedContent {
  /** Names the content; undefined over the cap. */
  readonly version: string | undefined;
  readonly facts: FeedFacts;
}

export interface VersionedContent {
  /** Publishes the snapshot's content. `asOf` in whole seconds, `now` in ms. */
  publish(
    snapshot: Snapshot,
    parts: { readonly asOf: number; readonly geo: GeoDatabase; readonly guarded: AddressSet | undefined },
    now: number,
  ): Promise<PublishedContent>;
}

export interface VersionedContents {
  readonly hint: string;
  of(workspaceId: string, feedId: string | null): VersionedContent;
  forget(workspaceId: string, feedId: string | null): void;
  /** Evicts contents to make room for a new one of this workspace; yields them. */
  trim(workspaceId: string): Iterable<{ readonly workspaceId: string; readonly feedId: string | null }>;
}
