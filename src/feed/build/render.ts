import type { GeoDatabase } from '../../ports/geo.ts';
import { contentHash, type FeedText, renderFeed } from '../formats/table.ts';
import { classTable, DEFAULT_LEVEL } from '../levels.ts';
import { DEFAULT_ENTRY_LIMIT, type Variant } from '../variant.ts';
import { tooLargeHint } from './cap-hint.ts';
import { feedContent } from './content.ts';
import type { Snapshot } from './snapshot.ts';

interface Counted {
  readonly entryCount: number;
  readonly entryLimit: number;
  /** The next second at which a rule of the content lapses, as far as it is not settled yet; Infinity when none does. */
  readonly until: number;
}

/** A rendered content whose first appearance is not known yet. */
interface Draft extends Counted {
  readonly kind: 'draft';
  readonly text: FeedText;
  readonly hash: string;
}

/** More entries than the cap allows: nothing was rendered (spec 4.6). */
interface Oversize extends Counted {
  readonly kind: 'too_large';
  readonly hint: string;
}

/** The text of a feed without the rules that lapse at the second `asOf` or before, or why there is none. */
export function draftFeed(snapshot: Snapshot, variant: Variant, asOf: number, geo: GeoDatabase): Draft | Oversize {
  const { list, workspaceName } = snapshot.head;
  const { confidence, severity, maxEntries } = list ?? { confidence: null, severity: null, maxEntries: null };
  const levels = { confidence: confidence ?? DEFAULT_LEVEL, severity: severity ?? DEFAULT_LEVEL };
  const classes = variant.format === 'csv_indicator' ? classTable(levels) : undefined;
  const content = feedContent(snapshot, { family: variant.family, action: variant.action, asOf, classes }, geo);
  const counted = { entryCount: content.count, entryLimit: maxEntries ?? DEFAULT_ENTRY_LIMIT, until: content.until };
  if (counted.entryCount > counted.entryLimit) return { kind: 'too_large', ...counted, hint: tooLargeHint(snapshot, variant, asOf, geo) };
  const text = renderFeed(content, variant, list ?? { name: workspaceName, description: null });
  return { kind: 'draft', ...counted, text, hash: contentHash(text) };
}
