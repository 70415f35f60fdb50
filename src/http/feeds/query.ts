import { FORMAT_NAMES, formatOf, LIST_FORMATS } from '../../feed/formats/table.ts';
import { FAMILIES, type Variant } from '../../feed/variant.ts';
import { ACCESS_ACTIONS } from '../../rule.ts';
import type { HttpFault } from '../errors.ts';
import { oneOf, readParameters } from './parameters.ts';

/** The list's settings are the defaults (spec 4.3, 4.4.3). */
export interface FeedOptions {
  readonly variant: Partial<Variant>;
  readonly instead: Instead | undefined;
}

/** Its MD5 digest, or a signed statement. */
export type Instead = 'md5' | 'ssh';

const CHECKSUMS = ['md5'] as const;
const SIGNATURES = ['ssh'] as const;

export const FEED_PARAMETERS = {
  format: { ...oneOf(FORMAT_NAMES), read: formatOf, details: { supported: LIST_FORMATS } },
  family: oneOf(FAMILIES),
  action: oneOf(ACCESS_ACTIONS),
  checksum: oneOf(CHECKSUMS),
  signature: oneOf(SIGNATURES),
};

const NOTHING: FeedOptions = { variant: {}, instead: undefined };

export function readFeedQuery(query: string): FeedOptions | HttpFault {
  if (query === '') return NOTHING;
  const values = readParameters(FEED_PARAMETERS, query);
  if ('status' in values) return values as HttpFault;
  const { checksum, signature, ...variant } = values;
  if (checksum !== undefined && signature !== undefined) return { status: 400, message: 'checksum and signature exclude each other' };
  return { variant: variant as Partial<Variant>, instead: checksum ?? signature };
}
