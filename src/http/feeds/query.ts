import { FORMAT_NAMES, formatOf } from '../../feed/formats/table.ts';
import { FAMILIES, type Variant } from '../../feed/variant.ts';
import { ACCESS_ACTIONS } from '../../rule.ts';
import type { HttpFault } from '../errors.ts';
import { oneOf, readParameters } from './parameters.ts';

/** What a feed request says in its query; what it does not say the list's stored defaults supply (spec 4.3, 4.4.3). */
export interface FeedOptions {
  readonly variant: Partial<Variant>;
  /** The MD5 digest is asked for instead of the feed. */
  readonly checksum: boolean;
}

const CHECKSUMS = ['md5'] as const;

/** The parameters in the order in which they are judged, with the values that errors name. */
export const FEED_PARAMETERS = {
  format: { ...oneOf(FORMAT_NAMES), read: formatOf, details: { supported: FORMAT_NAMES } },
  family: oneOf(FAMILIES),
  action: oneOf(ACCESS_ACTIONS),
  checksum: oneOf(CHECKSUMS),
};

const NOTHING: FeedOptions = { variant: {}, checksum: false };

/** Reads the raw query of a feed request (without its question mark), or tells what is wrong with it. */
export function readFeedQuery(query: string): FeedOptions | HttpFault {
  if (query === '') return NOTHING;
  const values = readParameters(FEED_PARAMETERS, query);
  if ('status' in values) return values as HttpFault;
  const { checksum, ...variant } = values;
  return { variant: variant as Partial<Variant>, checksum: checksum !== undefined };
}
