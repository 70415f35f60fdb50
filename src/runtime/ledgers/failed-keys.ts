import type { Failures } from '../../ports/http-counts.ts';
import type { Log } from '../../ports/log.ts';
import { everyMinute } from '../../schedule/interval.ts';

/** Lines of one report, one for each source; a last one sums up the others. */
const LINES = 20;

/** Logs once a minute who sent wrong keys, and how many; never a key. Returns the function that ends this with a last report. */
export const startFailureLog = (takeFailed: () => readonly Failures[], log: Log): (() => void) =>
  everyMinute(() => {
    for (const line of failureLines(takeFailed())) log('warn', line);
  });

/** What is said of the failures of a minute, given most first. */
export function failureLines(failures: readonly Failures[]): string[] {
  const [shown, others] = [failures.slice(0, LINES), failures.slice(LINES)];
  const lines = shown.map(({ source, count }) => `${count} wrong API keys within a minute from ${source}`);
  if (others.length === 0) return lines;
  const sum = others.reduce((total, { count }) => total + count, 0);
  return [...lines, `${sum} wrong API keys within a minute from ${others.length} other addresses`];
}
