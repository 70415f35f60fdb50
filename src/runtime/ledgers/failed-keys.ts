import type { Failures } from '../../ports/http-counts.ts';
import type { Log } from '../../ports/log.ts';
import { everyMinute } from '../../schedule/debounce.ts';

/** One more line sums up the rest. */
const LINES = 20;

/** By source, once a minute, never a key. Returns a stop function with a last report. */
export const startFailureLog = (takeFailed: () => readonly Failures[], log: Log): (() => void) =>
  everyMinute(() => {
    for (const line of failureLines(takeFailed())) log('warn', line);
  });

export function failureLines(failures: readonly Failures[]): string[] {
  const [listed, others] = [failures.slice(0, LINES), failures.slice(LINES)];
  const lines = listed.map(({ source, count }) => `${count} wrong API keys or enrolment codes within a minute from ${source}`);
  if (others.length === 0) return lines;
  const sum = others.reduce((total, { count }) => total + count, 0);
  return [...lines, `${sum} wrong API keys or enrolment codes within a minute from ${others.length} other addresses`];
}
