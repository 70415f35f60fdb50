import { LEVELS, type Level } from '../rule.ts';

/** What rules and lists that say nothing mean in a csv_indicator feed (spec 4.5). */
export const DEFAULT_LEVEL: Level = 'high';

/** One more than the number of levels: 0 stands for unset. */
const RADIX = LEVELS.length + 1;

const code = (level: Level | null) => (level === null ? 0 : LEVELS.indexOf(level) + 1);

/** Confidence and severity in one small integer, as `RuleSink` takes it: confidence × 5 + severity, 0 = unset. */
export const levelCode = (confidence: Level | null, severity: Level | null): number => code(confidence) * RADIX + code(severity);

/** The levels behind a code of `levelCode`; null = unset. */
export function levelsOf(code: number): { confidence: Level | null; severity: Level | null } {
  return { confidence: LEVELS[Math.floor(code / RADIX) - 1] ?? null, severity: LEVELS[(code % RADIX) - 1] ?? null };
}

/** For each level code the one whose unset levels are taken from the code `defaults`. */
export function filledLevels(defaults: number): Uint8Array {
  const [confidence, severity] = [Math.floor(defaults / RADIX), defaults % RADIX];
  return Uint8Array.from(
    { length: RADIX * RADIX },
    (_, own) => (Math.floor(own / RADIX) || confidence) * RADIX + (own % RADIX || severity),
  );
}

/** Confidence and severity as a feed shows them, none unset. Networks of different classes are never merged. */
interface LevelClass {
  readonly confidence: Level;
  readonly severity: Level;
}

/** All classes in rank order: by confidence, then by severity. */
export const LEVEL_CLASSES: readonly LevelClass[] = LEVELS.flatMap((confidence) => LEVELS.map((severity) => ({ confidence, severity })));

/** For each level code the index of its class, unset levels taken from `defaults`. */
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
