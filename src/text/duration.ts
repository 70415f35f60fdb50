import { readInstant } from '../clock.ts';

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

/** The seconds of a duration such as `3600`, `90s`, `15m`, `12h`, `7d` or `2w`; undefined when the text is none. */
export function readDuration(text: string): number | undefined {
  const [, digits, unit = 's'] = /^(\d{1,10})([smhdw])?$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * UNITS[unit as keyof typeof UNITS];
}

/** An instant (ms), or how long before `now` (ms) it was, such as `2h`; undefined when the text is neither. */
export function readSince(text: string, now: number): number | undefined {
  const seconds = readDuration(text);
  return seconds === undefined ? readInstant(text) : now - seconds * 1000;
}
