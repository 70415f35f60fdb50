/** SPEC D40.7. In signals they are integer seconds. */
import { readInstant } from '../../clock.ts';
import { LIMITS } from '../../signal/limits.ts';
import { readDuration } from '../../text/duration.ts';

/** Seconds from sending, or an instant, ms since 1970. Either may be past. */
export type Expiry = { readonly seconds: number } | { readonly at: number };

const FOR_GOOD: Expiry = { seconds: LIMITS.expirySeconds };
const NEVER = /^(never|permanent(ly)?|forever|infinite|indefinite(ly)?|unlimited|3155760000)$/i;
const NOT_GIVEN = /^(|0|-1|-+|n\/a|na|null|nil|nan|none|unknown|\(empty\))$/i;
/** Plain numbers from here are instants in seconds or milliseconds, up to the year 9999. */
const FIRST_INSTANT = 1e9;
const END = Date.UTC(10_000, 0, 1);
const DAY_NUMBER = /^((?:19|20)\d\d)(\d\d)(\d\d)(\d{6})?$/;

const UNITS: Readonly<Record<string, number>> = { w: 604_800, d: 86_400, h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9 };
const SPAN = /(\d+(?:\.\d+)?)(ms|us|µs|ns|[wdhms])/g;
const ISO_SPAN = /^P(?=.)(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/i;

export type ExpiryRole = 'instant' | 'lifetime' | 'expiry';

/** undefined: empty; a text: the fault. */
export function readExpiry(value: unknown, role: ExpiryRole): Expiry | string | undefined {
  const text = String(value).trim();
  if (NOT_GIVEN.test(text)) return undefined;
  if (NEVER.test(text)) return FOR_GOOD;
  const found = /^\d+(\.\d+)?$/.test(text) ? ofNumber(text, role) : (ofSpan(text) ?? ofInstant(text));
  return found ?? 'is neither an instant in ISO 8601, nor a duration, such as 3600 or 7d';
}

function ofNumber(text: string, role: ExpiryRole): Expiry | undefined {
  const [, year, month, day, time] = DAY_NUMBER.exec(text) ?? [];
  if (year !== undefined) return time !== undefined || role === 'lifetime' ? undefined : ofInstant(`${year}-${month}-${day}`);
  const number = Number(text);
  if (number * 1000 < END && number >= FIRST_INSTANT) return { at: number * 1000 };
  if (number >= FIRST_INSTANT) return number >= 1e12 && number < END ? { at: number } : undefined;
  return role === 'instant' ? undefined : seconds(readDuration(text));
}

function ofInstant(text: string): Expiry | undefined {
  const at = readInstant(text.replace(/ ?(\+0000)? (UTC|GMT)$/, 'Z').replace(/^([\d-]{10})Z$/, '$1'));
  return at === undefined ? undefined : { at };
}

/** `7d`, `1h30m`, `P7D`, and Go durations: `-167h59m12.5s`. */
function ofSpan(text: string): Expiry | undefined {
  const [, weeks, days, hours, minutes, rest] = ISO_SPAN.exec(text) ?? [];
  if (/^P/i.test(text))
    return ISO_SPAN.test(text) ? seconds(sum([weeks, 604_800], [days, 86_400], [hours, 3600], [minutes, 60], [rest, 1])) : undefined;
  const [sign, digits] = text.startsWith('-') ? [-1, text.slice(1)] : [1, text];
  if (digits === '' || digits.replace(SPAN, '') !== '') return undefined;
  return seconds(sign * sum(...Array.from(digits.matchAll(SPAN), ([, count, unit]) => [count, UNITS[unit]] as const)));
}
const sum = (...parts: readonly (readonly [count: string | undefined, unit: number])[]): number =>
  parts.reduce((all, [count = '0', unit]) => all + Number(count) * unit, 0);

/** Beyond the longest expiry: permanent. */
const seconds = (count: number | undefined): Expiry | undefined =>
  count === undefined ? undefined : { seconds: Math.min(Math.ceil(count), LIMITS.expirySeconds) };

export const instantOf = (expiry: Expiry, now: number): number => ('at' in expiry ? expiry.at : now + expiry.seconds * 1000);
