import type { BuiltDocument } from '../builder.ts';
import { plainId } from '../canary.ts';
import type { DocumentVariant } from '../document.ts';
import type { FeedFacts } from '../facts.ts';
import type { FeedShares } from '../shares.ts';
import type { Body } from './body-cache.ts';
import { entityTag } from './etag.ts';
import { gzipCoding } from './gzip.ts';

/** Its body in either coding, or the MD5 of the identity body. */
export interface Representation {
  readonly kind: 'document';
  readonly feedId: string | null;
  /** `canaryId` for canaries, else `feedId`. */
  readonly contentId: string | null;
  readonly variant: DocumentVariant;
  readonly body: Body;
  /** Content name, independent of Last-Modified. */
  readonly hash: string;
  readonly etags: { readonly identity: string; readonly gzip: string; readonly md5: string };
  readonly lastModified: number;
  /** Other content was published with the same date: only the tags differ. */
  readonly sharesInstant: boolean;
  readonly isPublished: boolean;
  readonly facts: FeedFacts;
  /** Whole seconds: last confirmation, if the store does not answer; else undefined. */
  readonly staleSince: number | undefined;
}

export interface TooLarge {
  readonly kind: 'too_large';
  readonly of?: Pick<Representation, 'feedId' | 'variant'>;
  readonly facts: FeedFacts;
  readonly hint: string;
  readonly shares?: FeedShares | undefined;
  readonly staleSince: number | undefined;
}

/** The Last-Modified for clients, whole seconds: before all others if the content's own is not published (SPEC D35.1). */
export const lastModifiedOf = ({ lastModified, isPublished }: Pick<Representation, 'lastModified' | 'isPublished'>): number =>
  isPublished ? lastModified : 0;

/** `zlib`: compressor version and machine. */
export function representationOf(
  { hash, stampsAt, facts }: BuiltDocument,
  { lastModified, sharesInstant, isPublished }: Pick<Representation, 'lastModified' | 'sharesInstant' | 'isPublished'>,
  { contentId, variant }: Pick<Representation, 'contentId' | 'variant'>,
  body: Body,
  zlib: string,
): Representation {
  // Bodies containing the date change with it.
  const content = stampsAt.length > 0 ? `${hash} ${lastModified}` : hash;
  const etags = {
    identity: entityTag(content, variant, 'identity'),
    gzip: entityTag(content, variant, gzipCoding(zlib)),
    md5: entityTag(content, variant, 'md5'),
  };
  return {
    kind: 'document',
    feedId: plainId(contentId),
    contentId,
    variant,
    body,
    hash,
    etags,
    lastModified,
    sharesInstant,
    isPublished,
    facts,
    staleSince: undefined,
  };
}
