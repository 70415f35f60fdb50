/** The renderer of each document: feeds, rules, the configuration of agents. What bouncers get is made in `decisions/build/`. */
import type { AddressSet } from '@weir/network/address-set.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { DecisionsVariant, DocumentVariant } from '../document.ts';
import type { Snapshot } from '../index/snapshot.ts';
import { renderConfig } from './render-config.ts';
import { type OverCap, type RenderedDocument, renderFeed } from './render-feed.ts';
import { type PhaseOf, renderRules } from './render-rules.ts';

/** What documents are rendered with. */
export interface RenderParts {
  readonly workspaceId: string;
  /** Whole seconds: rules that expire at this second or before are left out. */
  readonly asOf: number;
  readonly geo: GeoDatabase;
  /** Addresses that no block feed contains. */
  readonly guarded: AddressSet | undefined;
  readonly phaseOf: PhaseOf;
}

/** The text of a document as its variant says, or why there is none. */
export function render(
  snapshot: Snapshot,
  variant: Exclude<DocumentVariant, DecisionsVariant>,
  parts: RenderParts,
): RenderedDocument | OverCap {
  switch (variant.document) {
    case 'feed':
      return renderFeed(snapshot, variant, parts.asOf, parts.geo, parts.guarded);
    case 'config':
      return renderConfig(snapshot, variant, parts);
    default:
      return renderRules(snapshot, variant, parts);
  }
}
