import { LEVELS, type Level } from '../rule.ts';

/** Default of rules and lists in csv_indicator feeds (spec 4.5). */
export const DEFAULT_LEVEL: Level = 'high';

const RADIX = LEVELS.length + 1;

const code = (level: Level | null) => (level === null ? 0 : LEVELS.indexOf(level) + 1);

/** Code for `RuleSink`: confidence × 5 + severity, 0 = unset. */
export const levelCode = (confidence: Level | null, severity: Level | null): number => code(confidence) * RADIX + code(severity);

/** null = unset. */
export function levelsOf(code: number): { confidence: Level | null; severity: Level | null } {
  return { confidence: LEVELS[confidenceOf(code) - 1] ?? null, severity: LEVELS[(code % RADIX) - 1] ?? null };
}

/** 0 = unset, 1 = low … 4 = critical. */
export const confidenceOf = (code: number): number => Math.floor(code / RADIX);

/** Maps each level code to one with unset levels filled from the code `defaults`. */
export function filledLevels(defaults: number): Uint8Array {
  const [confidence, severity] = [confidenceOf(defaults), defaults % RADIX];
  return Uint8Array.from({ length: RADIX * RADIX }, (_, own) => (confidenceOf(own) || confidence) * RADIX + (own % RADIX || severity));
}

interface LevelClass {
  readonly confidence: Level;
  readonly severity: Level;
}

export const LEVEL_CLASSES: readonly LevelClass[] = LEVELS.flatMap((confidence) => LEVELS.map((severity) => ({ confidence, severity })));

/** Maps codes to class indexes; unset levels default to `defaults`. */
export function classTable(defaults: LevelClass): Uint8Array {
  const table = new Uint8Array(RADIX * RADIX);
  for (let confidence = 0; confidence < RADIX; confidence++) {
    for (let severity = 0; severity < RADIX; severity++) {
      const row = (confidence || code(defaults.confidence)) - 1;
      table[confidence * RADIX + severity] = row * LEVELS.length + (severity || code(defaults.severity)) - 1;
    }
  }
  return table;
}
