/** Networks, period and description (SPEC D23.32, D23.33). */
import { isObject } from '../../signal/normalize.ts';
import { levelOf } from '../readers/describe.ts';
import { networksOfPattern } from './pattern.ts';

export interface KnownObject {
  readonly id: string;
  /** `modified`, else `created`, as text with microseconds. */
  readonly modified: string;
  /** Canonical; empty if revoked or skipped. */
  readonly networks: readonly string[];
  /** Reasons for skipping it, or parts of it. */
  readonly passed: readonly string[];
  readonly from?: string;
  readonly until?: string;
  readonly name?: string;
  readonly confidence?: 'low' | 'medium' | 'high';
}

const MOST_NETWORKS = 10_000;
const MOST_NAME = 200;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

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

/** Compares instants as text of equal length: a Date would lose microseconds. */
export const isLater = (one: string, other: string): boolean => padded(one) > padded(other);
const padded = (instant: string): string => {
  const [seconds = '', fraction = ''] = instant.replace(/Z$/, '').split('.');
  return `${seconds}.${fraction.padEnd(9, '0')}`;
};

/** At `now` (ms); undefined if it is active. */
export function passedNow({ from, until }: KnownObject, now: number): string | undefined {
  if (from !== undefined && Date.parse(from) > now) return 'valid_from lies ahead';
  if (until !== undefined && Date.parse(until) <= now) return 'valid_until has passed';
  return undefined;
}
