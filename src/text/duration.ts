/** Durations as people write them: the one place that reads them for commands, parameters, files and settings (SPEC D42.10). */
import { readInstant } from '../clock.ts';

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;
export type DurationUnit = keyof typeof UNITS;

/** What may stand where a duration does, for help and errors. */
export const DURATIONS = 'a duration such as 90s, 12h, 7d';

/** The pattern of a text that is one. */
export const DURATION = '^(\\d{1,10})([smhdw])?$';
const PARTS = new RegExp(DURATION);

/** A duration such as `3600`, `90s`, `15m`, `12h`, `7d` or `2w`, in `unit`, which a number alone has; undefined when the text is none. */
export function readDuration(text: string, unit: DurationUnit = 's'): number | undefined {
  const [, digits, given = unit] = PARTS.exec(text) ?? [];
  return digits === undefined ? undefined : (Number(digits) * UNITS[given as DurationUnit]) / UNITS[unit];
}

/** An instant (ms), or how long before `now` (ms) it was, such as `2h`; undefined when the text is neither. */
export const readSince = (text: string, now: number): number | undefined => readMoment(text, now, -1000);

/** An instant (ms), or how long after `now` (ms) it is, such as `7d`; undefined when the text is neither. */
export const readUntil = (text: string, now: number): number | undefined => readMoment(text, now, 1000);

function readMoment(text: string, now: number, second: number): number | undefined {
  const seconds = readDuration(text);
  return seconds === undefined ? readInstant(text) : now + seconds * second;
}

/** Seconds in the largest unit that has them whole. */
export function durationText(seconds: number): string {
  const unit = (['d', 'h', 'm'] as const).find((each) => seconds % UNITS[each] === 0) ?? 's';
  return `${seconds / UNITS[unit]}${unit}`;
}

const WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const NAMES = { s: 'second', m: 'minute', h: 'hour', d: 'day', w: 'week' } as const;

/** ms in the largest unit that has them whole, for a sentence: `seven days`, `90 days`. */
export function inWords(ms: number): string {
  const unit = (['d', 'h', 'm'] as const).find((each) => ms % (UNITS[each] * 1000) === 0) ?? 's';
  const count = ms / 1000 / UNITS[unit];
  return `${WORDS[count] ?? count} ${NAMES[unit]}${count === 1 ? '' : 's'}`;
}

/** What a schema says of a field. */
type Described = Readonly<Record<string, { readonly 'x-unit'?: DurationUnit }>>;

/** The fields with each text that is a duration as the number of its field's unit, where the schema names one (`x-unit`). */
export const withDurations = (fields: Readonly<Record<string, unknown>>, properties: Described): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const unit = typeof value === 'string' && Object.hasOwn(properties, name) ? properties[name]!['x-unit'] : undefined;
      return [name, unit === undefined ? value : (readDuration(value as string, unit) ?? value)];
    }),
  );
