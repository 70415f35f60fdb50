const UNITS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

/** The seconds of a duration such as `3600`, `90s`, `15m`, `12h`, `7d` or `2w`; undefined when the text is none. */
export function readDuration(text: string): number | undefined {
  const [, digits, unit = 's'] = /^(\d{1,10})([smhdw])?$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * UNITS[unit as keyof typeof UNITS];
}
