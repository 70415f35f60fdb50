/** What a STIX 2.1 indicator asks for: networks, for how long, and what is said of them (SPEC D23.32, D23.33). */
import { isObject } from '../../signal/normalize.ts';
import { levelOf } from '../readers/describe.ts';
import { networksOfPattern } from './pattern.ts';

/** One version of an object of a collection, as it is kept between pulls. */
export interface KnownObject {
  readonly id: string;
  /** The text of `modified`, else `created`: microseconds count. */
  readonly modified: string;
  /** Networks in canonical text; none for what is revoked or passed over. */
  readonly networks: readonly string[];
  /** Why all or parts of it were passed over. */
  readonly passed: readonly string[];
  /** Instants as the object has them; from when and until when it counts. */
  readonly from?: string;
  readonly until?: string;
  /** The indicator's name, and how sure its author is, in our words. */
  readonly name?: string;
  readonly confidence?: 'low' | 'medium' | 'high';
}

/** Networks of one indicator at most. */
const MOST_NETWORKS = 10_000;
const MOST_NAME = 200;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Reads an object of an envelope; undefined for what is none. */
export function readObject(object: unknown): KnownObject | undefined {
  if (!isObject(object)) return undefined;
  const { id, type, modified, created, revoked, pattern, pattern_type: language, valid_from: from, valid_until: until } = object;
  if (typeof id !== 'string' || typeof type !== 'string' || id.length > 300) return undefined;
  const version = { id, modified: text(modified) ?? text(created) ?? '' };
  const without = (reason: string): KnownObject => ({ ...version, networks: [], passed: [reason] });
  if (type !== 'indicator') return without(`no indicator: ${type.slice(0, 40)}`);
  if (revoked === true) return without('revoked');
  if (language !== undefined && language !== 'stix') return without(`a pattern in another language: ${String(language).slice(0, 40)}`);
  if (typeof pattern !== 'string') return without('an indicator without a pattern');
  if ([object.indicator_types, object.labels].flat().includes('benign')) return without('benign');
  for (const instant of [from, until])
    if (instant !== undefined && !(typeof instant === 'string' && INSTANT.test(instant) && !Number.isNaN(Date.parse(instant))))
      return without('an instant that cannot be read');
  const { networks, passed } = networksOfPattern(pattern);
  if (networks.length > MOST_NETWORKS) return without('an indicator with too many networks');
  const name = text(object.name)?.slice(0, MOST_NAME);
  const confidence = levelOf(object.confidence);
  return {
    ...version,
    networks,
    passed,
    ...(from !== undefined && { from: from as string }),
    ...(until !== undefined && { until: until as string }),
    ...(name !== undefined && { name }),
    ...(confidence !== undefined && { confidence }),
  };
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Whether a version comes after another of the same object: instants are compared as text of one length, since a Date loses microseconds. */
export const isLater = (one: string, other: string): boolean => padded(one) > padded(other);
const padded = (instant: string): string => {
  const [whole = '', fraction = ''] = instant.replace(/Z$/, '').split('.');
  return `${whole}.${fraction.padEnd(9, '0')}`;
};

/** Why an object does not count at `now` (ms); undefined when it does. */
export function passedNow({ from, until }: KnownObject, now: number): string | undefined {
  if (from !== undefined && Date.parse(from) > now) return 'valid_from lies ahead';
  if (until !== undefined && Date.parse(until) <= now) return 'valid_until has passed';
  return undefined;
}
