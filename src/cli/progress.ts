import { SingleBar } from 'cli-progress';
import type { Context } from './context.ts';

/** A progress bar on standard error, a line now and then without a terminal. `counts` follow the bar; without `total` they stand alone. */
export function startProgress({ stderr }: Context, what: string, total: number | undefined, counts: Record<string, number> = {}) {
  const shown = Object.keys(counts).map((name) => `{${name}} ${name}`);
  const format = `${what} ${[...(total === undefined ? [] : ['{bar} {percentage}%']), ...shown].join(' | ')}`;
  const bar = new SingleBar({ stream: stderr, noTTYOutput: true, notTTYSchedule: 5000, format, hideCursor: true });
  const most = Math.max(total ?? 0, 1);
  bar.start(most, 0, counts);
  return {
    update: (done: number, now?: Record<string, number>): void => bar.update(total === 0 ? most : Math.min(done, most), now),
    /** Clears the line for other output. */
    clear: () => void (stderr.isTTY && stderr.write('\r\x1b[K')),
    stop: () => bar.stop(),
  };
}
