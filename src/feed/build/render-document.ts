import type { BlockGuard } from '../../account/guard-rails.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { DecisionsVariant, DocumentVariant } from '../document.ts';
import type { Snapshot } from '../index/snapshot.ts';
import { renderConfig } from './render-config.ts';
import { type OverCap, type RenderedDocument, renderFeed } from './render-feed.ts';
import { type PhaseOf, renderRules } from './render-rules.ts';

export interface RenderParts {
  readonly workspaceId: string;
  /** Whole seconds: rules expiring by then are excluded. */
  readonly asOf: number;
  readonly geo: GeoDatabase;
  readonly guard: BlockGuard;
  readonly phaseOf: PhaseOf;
}

export function render(
  snapshot: Snapshot,
  variant: Exclude<DocumentVariant, DecisionsVariant>,
  parts: RenderParts,
): RenderedDocument | OverCap {
  switch (variant.document) {
    case 'feed':
      return renderFeed(snapshot, variant, parts.asOf, parts.geo, parts.guard);
    case 'config':
      return renderConfig(snapshot, variant, { ...parts, guarded: parts.guard.protected });
    default:
      return renderRules(snapshot, variant, parts);
  }
}
