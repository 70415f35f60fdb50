import { setTimeout as sleep } from 'node:timers/promises';
import { WeirError } from '../errors.ts';
import type { Message, Stream } from '../ports/stream.ts';
import type { Context } from './context.ts';

/** Pauses between attempts, ms; each attempt waits 5 s for the lock of the embedded stream. */
const PAUSES = [500, 2000, 8000];

/**
 * Appends a batch while a server runs; a duplicate does no harm. Rejects with USAGE after about 30 s, with `advice`.
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
