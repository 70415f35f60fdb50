/** The consumer role: lands the stream in the store and deletes what is past its keeping time. */

import { systemClock } from '../clock.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import type { TracedLanding } from '../ports/trace.ts';
import { startConsumer } from '../stream/consumer.ts';
import { type Keeping, startHousekeeping, sweepSlice } from '../stream/housekeeping.ts';
import type { LandingStatus } from '../stream/landing-status.ts';

export interface ConsumerRoleParts {
  readonly stream: Stream;
  readonly store: Store;
  /** What is kept how long. */
  readonly keeping: Keeping;
  readonly log: Log;
  /** Whether each landing is logged. */
  readonly debug: boolean;
  /** Is told of what has landed of traces. */
  readonly onTraced: (landing: TracedLanding) => void;
}

/** How landing goes, and how far it is behind. */
export type LandingReport = LandingStatus & {
  /** When the oldest message was appended that was read and has not landed, ms since 1970; undefined when there is none. */
  readonly oldest?: number | undefined;
  /** How many messages this process has landed, dead letters included. */
  readonly landed?: number;
};

/** Starts landing and housekeeping. */
export function startConsumerRole({ stream, store, keeping, log, debug, onTraced }: ConsumerRoleParts) {
  const consumer = startConsumer({ stream, store, clock: systemClock, log, debug, onTraced });
  const stopHousekeeping = startHousekeeping(
    () => sweepSlice(stream, store, keeping, Date.now()),
    (error) => log('warn', `housekeeping will be tried again: ${error.message}`),
  );
  return {
    status: (): LandingReport => ({ ...consumer.status(), oldest: consumer.oldest(), landed: consumer.landed() }),
    /** Ends housekeeping, and landing after the transaction that runs now. Stream and store stay open. */
    async stop(): Promise<void> {
      stopHousekeeping();
      await consumer.close();
    },
  };
}
