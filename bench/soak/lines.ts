/** Whether a line of a soak rises: a straight line through its second half, beyond what the points scatter. */
import type { Sample } from './sample.ts';

export interface Line {
  readonly name: string;
  /** The mean of the second half. */
  readonly mean: number;
  /** Rise an hour, as a part of the mean. */
  readonly slope: number;
  /** `fills`: it rises, as it may, because what it holds is kept for longer than half of the run. */
  readonly verdict: 'flat' | 'fills' | 'rises';
}

/** A line that rises more than this part of its mean an hour … */
const SLOPE = 0.05;
/** … and more than this part within the half, by so many standard errors, and by more than is worth a look. */
const [RISE, ERRORS] = [0.02, 3];
/** MiB, rows, ms, descriptors, of a core. */
const WORTH: Readonly<Record<string, number>> = { rows: 100, rules: 100, p50: 1, p99: 5, descriptors: 2, cpu: 0.01 };
const WORTH_MIB = 1;
/** Points that a half needs. */
const POINTS = 6;

/** For how many days rows of a table are kept (docs/operating.md, "What grows"): until then it fills. */
const KEPT: Readonly<Record<string, number>> = {
  ...{
    access_rules: 8,
    waf_rules: 8,
    smart_firewall_rules: 8,
    access_rules_before: 8,
    waf_rules_before: 8,
    smart_firewall_rules_before: 8,
  },
  ...{ batches: 7, rule_changes: 7, 'stream.batches': 7, replacements: 7, replacement_pieces: 7, rule_counts: 8, kept_counts: 8 },
  ...{ audit: 90, devices: 90, people: 90, feed_days: 365, activity: 31, bouncers: 30, told_networks: 21, taken_bytes: 21 },
};
/** Of files: that of most of what is in them; what is kept longer is little. */
const KEPT_FILES = 8;

/**
 * Times that are the machine's as much as weir's: they are shown, and what weir adds to those of a bare server is judged. What is free in a
 * file is judged with it.
 */
const SHARED = /^(?:p\d+: (?!poll beyond bare)|free pages)/;

/** All lines of the samples that are judged. A line that is not in each of them is none. */
export function linesOf(samples: readonly Sample[]): Line[] {
  const half = samples.slice(Math.floor(samples.length / 2));
  const names = Object.keys(half[0]?.figures ?? {}).filter(
    (name) => !SHARED.test(name) && half.every(({ figures }) => Number.isFinite(figures[name])),
  );
  return names.map((name) => lineOf(name, half));
}

function lineOf(name: string, half: readonly Sample[]): Line {
  const points = half.map(({ hours, figures }) => [hours, figures[name]] as const);
  const { mean, slope, error } = fit(points);
  const span = half[half.length - 1].hours - half[0].hours;
  const [kind, of] = name.split(': ');
  const rises =
    points.length >= POINTS &&
    slope > SLOPE * mean &&
    slope * span > Math.max(RISE * mean, WORTH[kind] ?? WORTH_MIB) &&
    slope > ERRORS * error;
  const kept = kind === 'table' || kind === 'rows' ? (KEPT[of] ?? 0) : kind.startsWith('file') ? KEPT_FILES : 0;
  return { name, mean, slope: mean === 0 ? 0 : slope / mean, verdict: !rises ? 'flat' : half[0].days < kept ? 'fills' : 'rises' };
}

/** The straight line of least squares: its rise for one of `x`, and the standard error of that. */
export function fit(points: readonly (readonly [x: number, y: number])[]): { mean: number; slope: number; error: number } {
  const n = points.length;
  const [meanX, mean] = [0, 1].map((at) => points.reduce((sum, point) => sum + point[at], 0) / n);
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - mean), 0) / spread;
  const left = points.reduce((sum, [x, y]) => sum + (y - mean - slope * (x - meanX)) ** 2, 0);
  return { mean, slope, error: Math.sqrt(left / Math.max(1, n - 2) / spread) };
}
