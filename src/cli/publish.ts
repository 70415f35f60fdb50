/** Putting messages onto the stream beside a server that does the same. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WeirError } from '../errors.ts';
import type { Message, Stream } from '../ports/stream.ts';
import type { Context } from './context.ts';

/** Pauses before a batch is published again, ms; each try of the embedded stream waits 5 s for its lock. */
const PAUSES = [500, 2000, 8000];

/**
 * Appends a batch, which does no harm when it is there already; says so when it has to try again. Rejects with USAGE when the stream
 * takes nothing for about 30 s; `advice` is what to do then.
 */
export async function publish({ stderr }: Context, stream: Stream, batch: readonly Message[], advice: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await stream.publish(batch);
    } catch (error) {
      const { message } = error as Error;
      if (attempt === PAUSES.length) throw new WeirError('USAGE', `${message}; ${advice}`);
      stderr.write(`weir: ${message}; next try in ${PAUSES[attempt] / 1000} s\n`);
      await sleep(PAUSES[attempt]);
    }
  }
}
