import type { CidrsV4, CidrsV6 } from '@weir/network/coalesce.ts';
import type { AccessAction } from '../../rule.ts';
import type { Trimmed } from '../trim.ts';
import type { DocumentText } from './stamp.ts';
import type { TextBlocks } from './text-blocks.ts';

/** All that there is to say of a feed format: one row of `FORMATS`. */
export interface FeedFormat {
  /** Other names by which it can be asked for: what vendors' devices are configured with. */
  readonly aliases: readonly string[];
  /** Content type without the charset, which is always UTF-8. */
  readonly mediaType: string;
  /** Whether each entry shows a confidence and a severity: networks of different ones are then never merged. */
  readonly rated: boolean;
  /** Whether it can have addresses without a prefix length (SPEC D25.3). */
  readonly mayBeBare?: true;
  /** What the body looks like, for the API documents; Markdown. */
  readonly description: string;
  readonly render: Render;
}

/**
 * Writes a feed in a format: UTF-8, lines that end in LF. The bytes are a new buffer, which the caller may hand to another thread. What
 * is in `kept`, of the same feed in the same format, is not written again.
 */
export type Render = (networks: FeedNetworks, heading: FeedHeading, kept?: TextBlocks) => DocumentText;

/** The networks that a feed publishes. */
export interface FeedNetworks {
  /** Only classes that have networks, by index. One at most unless the format is rated. */
  readonly classes: readonly NetworkClass[];
  /** Entries: networks over all classes. */
  readonly count: number;
}

/** The networks of one class in their smallest form, sorted; both families, empty when not asked for. */
export interface NetworkClass {
  /** Index into LEVEL_CLASSES; 0 when the format is not rated. */
  readonly index: number;
  readonly v4: CidrsV4;
  readonly v6: CidrsV6;
}

/** What a header can tell of a feed: name and description of its list, or of its workspace. */
export interface FeedHeading {
  readonly name: string;
  readonly description: string | null;
  readonly action: AccessAction;
  readonly family: string;
  /** What it leaves out to keep within its cap; undefined: nothing. */
  readonly leftOut?: Trimmed | undefined;
}
