import { FORMAT_NAMES, formatOf } from '../../feed/formats/table.ts';
import { FAMILIES, type Variant } from '../../feed/variant.ts';
import { ACCESS_ACTIONS } from '../../rule.ts';
import type { HttpFault } from '../errors.ts';
import { oneOf, readParameters } from './parameters.ts';

/** Options of a feed request; the list's settings are the defaults (spec 4.3, 4.4.3). */
export interface FeedOptions {
  readonly variant: Partial<Variant>;
  /** Return the MD5 digest instead. */
  readonly checksum: boolean;
}

const CHECKSUMS = ['md5'] as const;

export const FEED_PARAMETERS = {
  format: { ...oneOf(FORMAT_NAMES), read: formatOf, details: { supported: FORMAT_NAMES } },
  family: oneOf(FAMILIES),
  action: oneOf(ACCESS_ACTIONS),
  checksum: oneOf(CHECKSUMS),
};

const NOTHING: FeedOptions = { variant: {}, checksum: false };

export function readFeedQuery(query: string): FeedOptions | HttpFault {
  if (query === '') return NOTHING;
  const values = readParameters(FEED_PARAMETERS, query);
  if ('status' in values) return values as HttpFault;
  const { checksum, ...variant } = values;
  return { variant: variant as Partial<Variant>, checksum: checksum !== undefined };
}
