import { SingleBar } from 'cli-progress';
import type { Context } from './context.ts';

/** A bar on standard error, now and then a line of it where that is no terminal. */
export interface Progress {
  update(done: number, counts?: Record<string, number>): void;
  stop(): void;
}

/** `counts` are shown behind the bar, such as `1200 rules`. */
export function startProgress({ stderr }: Context, what: string, total: number, counts: Record<string, number> = {}): Progress {
  const shown = Object.keys(counts).map((name) => ` | {${name}} ${name}`);
  const format = `${what} {bar} {percentage}%${shown.join('')}`;
  const bar = new SingleBar({ stream: stderr, noTTYOutput: true, notTTYSchedule: 5000, format, hideCursor: true });
  const most = Math.max(total, 1);
  bar.start(most, 0, counts);
  return {
    update: (done, now) => bar.update(total === 0 ? most : Math.min(done, most), now),
    stop: () => bar.stop(),
  };
}
