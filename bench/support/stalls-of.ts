/** How long a server's main thread works before the event loop gets on; the server is started with `STALLS` (stalls.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Weir } from '../../test/support/weir.ts';

/** Settings of a server whose turns are measured. */
export const STALLS = { NODE_OPTIONS: `--import=${new URL('./stalls.ts', import.meta.url)}` };

/** How long each turn of the main thread has worked since the last call, ms of CPU in order, and how many times longer they lasted. */
export async function stallsOf(weir: Weir): Promise<{ turns: number[]; stretch: number }> {
  const known = weir.output().stderr.length;
  weir.child.kill('SIGUSR2');
  for (;;) {
    const line = /^stalls (.*)\n/m.exec(weir.output().stderr.slice(known));
    if (line !== null) return JSON.parse(line[1]);
    await sleep(20);
  }
}
