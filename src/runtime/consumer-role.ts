import { systemClock } from '../clock.ts';
import { foreignHold } from '../manage/approvals/foreign.ts';
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
  readonly keeping: Keeping;
  readonly log: Log;
  readonly debug: boolean;
  readonly onTraced: (landing: TracedLanding) => void;
}

export type LandingReport = LandingStatus & {
  /** Read but not landed, appended at, ms; undefined: none. */
  readonly oldest?: number | undefined;
  /** By this process, including dead letters. */
  readonly landed?: number;
};

export function startConsumerRole({ stream, store, keeping, log, debug, onTraced }: ConsumerRoleParts) {
  const consumer = startConsumer({
    stream,
    store,
    clock: systemClock,
    log,
    debug,
    onTraced,
    hold: foreignHold({ store, now: systemClock.now }),
  });
  const stopHousekeeping = startHousekeeping(
    () => sweepSlice(stream, store, keeping, Date.now()),
    (error) => log('warn', `housekeeping will be tried again: ${error.message}`),
  );
  return {
    status: (): LandingReport => ({ ...consumer.status(), oldest: consumer.oldest(), landed: consumer.landed() }),
    /** After the current transaction. Stream and store stay open. */
    async stop(): Promise<void> {
      stopHousekeeping();
      await consumer.close();
    },
  };
}
