import { parseNetwork } from '@weir/network/parse.ts';
import { PROTECT_RULE, protectedWord } from '../account/guard-rails.ts';
import { NAT64_LENGTHS } from '../fetch/reach.ts';
import { DURATIONS, type DurationUnit, readDuration } from '../text/duration.ts';

export const ROLES = ['signals', 'consumer', 'feeds', 'manage', 'sources'] as const;
export type Role = (typeof ROLES)[number];

export const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

/** Throws an error that names the allowed values. */
export type Parse<T> = (text: string) => T;

/** The default variable is the name in capitals with underscores. */
export interface Setting<T> {
  readonly variable?: string;
  readonly parse: Parse<T>;
  /** As text. Without one, `unset` or undefined. */
  readonly fallback?: string;
  readonly unset?: T;
}

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

export const text: Parse<string> = (value) => value;

export const integer =
  (least: number, most: number): Parse<number> =>
  (value) => {
    const number = Number(value);
    if (!/^\d{1,10}$/.test(value) || number < least || number > most) throw new Error(`must be a whole number from ${least} to ${most}`);
    return number;
  };

/** 0 = unlimited. */
export const quota = integer(0, 1_000_000_000);

const CALLED: Readonly<Record<DurationUnit, string>> = { s: 'seconds', m: 'minutes', h: 'hours', d: 'days', w: 'weeks' };

/** In `unit`, or a duration such as `7d`. */
export const duration =
  (unit: DurationUnit, least: number, most: number): Parse<number> =>
  (value) => {
    const number = readDuration(value, unit) ?? Number.NaN;
    if (!Number.isInteger(number) || number < least || number > most)
      throw new Error(`must be a whole number of ${CALLED[unit]} from ${least} to ${most}, or ${DURATIONS}`);
    return number;
  };

export const oneOf =
  <T extends string>(allowed: readonly T[]): Parse<T> =>
  (value) => {
    const found = allowed.find((one) => one === value);
    if (found === undefined) throw new Error(`must be one of: ${allowed.join(', ')}`);
    return found;
  };

export const onOff: Parse<boolean> = (value) => oneOf(['on', 'off'])(value) === 'on';

export const commaList =
  <T>(item: Parse<T>): Parse<readonly T[]> =>
  (value) =>
    value.split(',').map((part) => item(part.trim()));

export const url =
  (protocols: readonly string[]): Parse<string> =>
  (value) => {
    if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
      throw new Error(`must be an address that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    }
    return value;
  };

export const folderUrl: Parse<string> = (value) => {
  const { username, search, hash } = new URL(url(['http:', 'https:'])(value));
  if (username + search + hash !== '') throw new Error('must be an address without user, query and fragment');
  return value.replace(/\/+$/, '');
};

export const broker: Parse<string> = (value) => {
  const port = Number(value.slice(value.lastIndexOf(':') + 1));
  if (!/^(\[[0-9a-fA-F:]+\]|[^\s:,[\]]+):\d{1,5}$/.test(value) || port < 1 || port > 65535) {
    throw new Error('must be a list of host:port, separated by commas');
  }
  return value;
};

export const cidr: Parse<string> = (value) => {
  const network = parseNetwork(value);
  if (typeof network === 'string')
    throw new Error(`must be a list of addresses or networks such as 10.0.0.0/8, separated by commas (${network})`);
  return value;
};

export const nat64Prefix: Parse<string> = (value) => {
  const prefix = parseNetwork(value);
  if (typeof prefix === 'string' || prefix.family === 4 || !NAT64_LENGTHS.includes(prefix.prefix))
    throw new Error(`must be a list of IPv6 prefixes such as 64:ff9b:1::/96, of ${NAT64_LENGTHS.join(', ')} bits, separated by commas`);
  return value;
};

export const protectedNetwork: Parse<string> = (value) => {
  const word = protectedWord(value);
  if (word === undefined) throw new Error(`must be ${PROTECT_RULE}`);
  return word;
};

export const secret =
  (least: number): Parse<string> =>
  (value) => {
    if (!/^[\x21-\x7e]{1,64}$/.test(value) || value.length < least) {
      throw new Error(`must be ${least} to 64 visible ASCII characters without blanks`);
    }
    return value;
  };

export const roles: Parse<readonly Role[]> = (value) => {
  const given = value.split(',').map((part) => part.trim());
  if (given.some((role) => !ROLES.includes(role as Role))) throw new Error(`must be a list of: ${ROLES.join(', ')}`);
  return ROLES.filter((role) => given.includes(role));
};

const KEY_FORMS = [/^[\da-f]{64}$/i, /^[\w+/-]{43}=?$/] as const;

/** 32 bytes each, at most two. */
export const secretKeys: Parse<readonly Uint8Array[]> = (value) => {
  const keys = value.split(',').map((each) => each.trim());
  if (keys.length > 2) throw new Error('must be one key, or the new and the old one, separated by a comma');
  return keys.map((key) => {
    const form = KEY_FORMS.findIndex((each) => each.test(key));
    if (form < 0) throw new Error('must be 32 bytes, as base64 (openssl rand -base64 32) or as 64 hexadecimal digits');
    return Buffer.from(key, form === 0 ? 'hex' : 'base64');
  });
};
