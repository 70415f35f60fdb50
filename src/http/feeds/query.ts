import { FORMAT_NAMES, formatOf } from '../../feed/formats/table.ts';
import { FAMILIES, type Variant } from '../../feed/variant.ts';
import { ACCESS_ACTIONS } from '../../rule.ts';
import type { HttpFault } from '../errors.ts';
import { isNearMiss } from './near-miss.ts';

/** What a feed request says in its query; what it does not say the list's stored defaults supply (spec 4.3, 4.4.3). */
export interface FeedOptions {
  readonly variant: Partial<Variant>;
  /** The MD5 digest is asked for instead of the feed. */
  readonly checksum: boolean;
}

const CHECKSUMS = ['md5'] as const;

const oneOf =
  <T extends string>(allowed: readonly T[]) =>
  (value: string): T | undefined =>
    allowed.find((each) => each === value);

/** The parameters in the order in which they are judged, with the values that errors name. Values are case-sensitive. */
const PARAMETERS = {
  format: { read: formatOf, allowed: FORMAT_NAMES, details: { supported: FORMAT_NAMES } },
  family: { read: oneOf(FAMILIES), allowed: FAMILIES, details: {} },
  action: { read: oneOf(ACCESS_ACTIONS), allowed: ACCESS_ACTIONS, details: {} },
  checksum: { read: oneOf(CHECKSUMS), allowed: CHECKSUMS, details: {} },
};
type Name = keyof typeof PARAMETERS;
const NAMES = Object.keys(PARAMETERS) as Name[];

const NOTHING: FeedOptions = { variant: {}, checksum: false };

/**
 * Reads the raw query of a feed request (without its question mark). Faults are: a parameter that is repeated or empty, an unsupported
 * value, and an unknown name that is probably meant to be a known one, which would give another feed than asked for. Other unknown
 * parameters are ignored.
 */
export function readFeedQuery(query: string): FeedOptions | HttpFault {
  if (query === '') return NOTHING;
  const given = new URLSearchParams(query);
  const values: Partial<Record<Name, string>> = {};
  for (const name of NAMES) {
    const { read, allowed, details } = PARAMETERS[name];
    const [text, ...more] = given.getAll(name);
    if (text === undefined) continue;
    if (more.length > 0) return fault(`${name} is given more than once`);
    if (text === '') return fault(`${name} is empty`);
    const value = read(text);
    if (value === undefined) return fault(`Unsupported ${name}: must be one of ${allowed.join(', ')}`, details);
    values[name] = value;
  }
  for (const name of given.keys()) {
    const meant = Object.hasOwn(PARAMETERS, name) ? undefined : NAMES.find((known) => isNearMiss(name, known));
    if (meant !== undefined) return fault(`There is no parameter "${name}"; did you mean ${meant}?`);
  }
  const { checksum, ...variant } = values;
  return { variant: variant as Partial<Variant>, checksum: checksum !== undefined };
}

const fault = (message: string, details: object = {}): HttpFault => ({ status: 400, message, details });
