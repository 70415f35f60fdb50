/** Contents of feeds that are told in changes from version to version instead of as a body: others make them, builds keep them up to date. */
import type { AddressSet } from '@weir/network/address-set.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { BuildSource } from '../builder.ts';
import type { Snapshot } from '../index/snapshot.ts';

/** What came of a build: `version` names the content, undefined when it exceeds the cap; `nextExpiry` in whole seconds. */
export interface TakenContent extends TakenCounts {
  readonly version: string | undefined;
}

export type TakenCounts = Pick<BuildSource, 'entryCount' | 'entryLimit' | 'nextExpiry' | 'fitted'>;

export interface VersionedContent {
  /** Makes the snapshot's content the one that is told. `asOf` in whole seconds, `now` in ms. */
  take(
    snapshot: Snapshot,
    parts: { readonly asOf: number; readonly geo: GeoDatabase; readonly guarded: AddressSet | undefined },
    now: number,
  ): Promise<TakenContent>;
}

/** The contents of all feeds. */
export interface VersionedContents {
  /** What helps where one exceeds its cap. */
  readonly hint: string;
  of(workspaceId: string, feedId: string | null): VersionedContent;
  /** Nobody asks for it any more. */
  forget(workspaceId: string, feedId: string | null): void;
  /** Forgets what there is no room for beside what was just taken for this workspace. Returns whose that was. */
  trim(workspaceId: string): Iterable<{ readonly workspaceId: string; readonly feedId: string | null }>;
}
