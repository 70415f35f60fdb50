/** The only reader of durations, for commands, parameters, files and settings (SPEC D42.10). */
import { readInstant } from '../clock.ts';

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;
export type DurationUnit = keyof typeof UNITS;

/** For help and errors. */
export const DURATIONS = 'a duration such as 90s, 12h, 7d';

export const DURATION = '^(\\d{1,10})([smhdw])?$';
const PARTS = new RegExp(DURATION);

/** Such as `3600`, `90s`, `15m`, `12h`, `7d` or `2w`; a number alone is in `unit`. undefined: invalid. */
export function readDuration(text: string, unit: DurationUnit = 's'): number | undefined {
  const [, digits, given = unit] = PARTS.exec(text) ?? [];
  return digits === undefined ? undefined : (Number(digits) * UNITS[given as DurationUnit]) / UNITS[unit];
}

/** An instant (ms), or a duration before `now` (ms) such as `2h`; undefined: invalid. */
export const readSince = (text: string, now: number): number | undefined => readMoment(text, now, -1000);

/** An instant (ms), or a duration after `now` (ms) such as `7d`; undefined: invalid. */
export const readUntil = (text: string, now: number): number | undefined => readMoment(text, now, 1000);

function readMoment(text: string, now: number, second: number): number | undefined {
  const seconds = readDuration(text);
  return seconds === undefined ? readInstant(text) : now + seconds * second;
}

/** In the largest unit without a fraction. */
export function durationText(seconds: number): string {
  const unit = (['d', 'h', 'm'] as const).find((each) => seconds % UNITS[each] === 0) ?? 's';
  return `${seconds / UNITS[unit]}${unit}`;
}

const WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const NAMES = { s: 'second', m: 'minute', h: 'hour', d: 'day', w: 'week' } as const;

/** For a sentence: `seven days`, `90 days`. */
export function inWords(ms: number): string {
  const unit = (['d', 'h', 'm'] as const).find((each) => ms % (UNITS[each] * 1000) === 0) ?? 's';
  const count = ms / 1000 / UNITS[unit];
  return `${WORDS[count] ?? count} ${NAMES[unit]}${count === 1 ? '' : 's'}`;
}

type Described = Readonly<Record<string, { readonly 'x-unit'?: DurationUnit }>>;

/** Converts texts of fields with an `x-unit` to numbers of it; leaves invalid ones. */
export const withDurations = (fields: Readonly<Record<string, unknown>>, properties: Described): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const unit = typeof value === 'string' && Object.hasOwn(properties, name) ? properties[name]!['x-unit'] : undefined;
      return [name, unit === undefined ? value : (readDuration(value as string, unit) ?? value)];
    }),
  );
