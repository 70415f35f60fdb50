import type { CidrsV4, CidrsV6 } from '@weir/network/coalesce.ts';
import type { AccessAction } from '../../rule.ts';
import type { Trimmed } from '../trim.ts';
import type { DocumentText } from './stamp.ts';
import type { TextBlocks } from './text-blocks.ts';

export interface FeedFormat {
  readonly aliases: readonly string[];
  /** Content type without charset (always UTF-8). */
  readonly mediaType: string;
  /** Entries have a confidence and a severity: networks of different classes are never merged. */
  readonly rated: boolean;
  /** Can render addresses without a prefix length (SPEC D25.3). */
  readonly mayBeBare?: true;
  readonly isScript?: true;
  readonly description: string;
  readonly render: Render;
}

/**
 * Renders a feed: UTF-8, lines end in LF. The bytes are a new, transferable buffer. Reuses unchanged blocks of `cached`, which belongs to the
 * same feed and format.
 */
export type Render = (networks: FeedNetworks, heading: FeedHeading, cached?: TextBlocks) => DocumentText;

export interface FeedNetworks {
  /** Non-empty classes by index; at most one unless the format is rated. */
  readonly classes: readonly NetworkClass[];
  readonly count: number;
}

/** Networks coalesced and sorted; an excluded family is empty. */
export interface NetworkClass {
  /** Index into LEVEL_CLASSES; 0 if the format is not rated. */
  readonly index: number;
  readonly v4: CidrsV4;
  readonly v6: CidrsV6;
}

export interface FeedHeading {
  readonly name: string;
  readonly description: string | null;
  readonly action: AccessAction;
  readonly family: string;
  readonly leftOut?: Trimmed | undefined;
}
