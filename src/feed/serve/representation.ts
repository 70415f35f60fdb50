import type { BuiltDocument } from '../builder.ts';
import type { DocumentVariant } from '../document.ts';
import type { FeedShares } from '../shares.ts';
import type { Trimmed } from '../trim.ts';
import type { Body } from './body-cache.ts';
import { entityTag } from './etag.ts';
import { gzipCoding } from './gzip.ts';

/** What can be sent of a feed or another document: its body in one of two codings, or the MD5 digest of its identity body. */
export interface Representation {
  readonly kind: 'document';
  /** The UUID of a list or a composed feed; null: the workspace's. */
  readonly feedId: string | null;
  readonly variant: DocumentVariant;
  readonly body: Body;
  /** Names the content, whenever it appeared. */
  readonly hash: string;
  readonly etags: { readonly identity: string; readonly gzip: string; readonly md5: string };
  /** Whole seconds: when the content first appeared. */
  readonly lastModified: number;
  /** Other content was shown with this instant too: only the tags tell them apart. */
  readonly sharesInstant: boolean;
  /** Whether clients are told `lastModified`. */
  readonly isPublished: boolean;
  readonly entryCount: number;
  readonly entryLimit: number;
  /** What a feed leaves out to keep within its cap. */
  readonly leftOut?: Trimmed | undefined;
  /** Whole seconds: until when the feed was known to be current, when the store does not answer; else undefined. */
  readonly staleSince: number | undefined;
}

/** A feed that exceeds its cap (spec 4.6). */
export interface TooLarge {
  readonly kind: 'too_large';
  readonly entryCount: number;
  readonly entryLimit: number;
  readonly hint: string;
  /** Where the entries come from; undefined where that was not counted. */
  readonly shares?: FeedShares | undefined;
  readonly staleSince: number | undefined;
}

/** The Last-Modified that clients are told, whole seconds: before every other one where the content's own is not for them (SPEC D35.1). */
export const toldDate = ({ lastModified, isPublished }: Pick<Representation, 'lastModified' | 'isPublished'>): number =>
  isPublished ? lastModified : 0;

/** `zlib` names the compressor: its version and machine. */
export function representationOf(
  { hash, stampsAt, entryCount, entryLimit, fitted }: BuiltDocument,
  { lastModified, sharesInstant, isPublished }: Pick<Representation, 'lastModified' | 'sharesInstant' | 'isPublished'>,
  { feedId, variant }: Pick<Representation, 'feedId' | 'variant'>,
  body: Body,
  zlib: string,
): Representation {
  // Bytes that show the instant are others when it moves.
  const content = stampsAt.length > 0 ? `${hash} ${lastModified}` : hash;
  const etags = {
    identity: entityTag(content, variant, 'identity'),
    gzip: entityTag(content, variant, gzipCoding(zlib)),
    md5: entityTag(content, variant, 'md5'),
  };
  return {
    kind: 'document',
    feedId,
    variant,
    body,
    hash,
    etags,
    lastModified,
    sharesInstant,
    isPublished,
    entryCount,
    entryLimit,
    leftOut: fitted?.leftOut,
    staleSince: undefined,
  };
}
