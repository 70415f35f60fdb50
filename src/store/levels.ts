import { LEVELS, type Level } from '../rule.ts';

/** The two levels behind `levelCode` of feed/levels.ts. */
export function levelsOf(code: number): { confidence: Level | null; severity: Level | null } {
  return { confidence: LEVELS[Math.floor(code / 5) - 1] ?? null, severity: LEVELS[(code % 5) - 1] ?? null };
}
