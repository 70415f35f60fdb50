/** Who asks, whatever a process serves: keys, and what is noted of their use. */
import type { Logger } from 'pino';
import { systemClock } from '../clock.ts';
import { type Authenticator, authenticator } from '../http/auth/authenticator.ts';
import { type DeviceLedger, pollOf } from '../http/device-ledger.ts';
import type { HttpCounts } from '../ports/http-counts.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import { startFailureLog } from '../runtime/failed-keys.ts';
import { startKeyUsage } from '../runtime/key-usage.ts';

interface CallerParts {
  readonly store: Store;
  readonly counts: HttpCounts;
  /** Where polls with keys that are not valid are noted; undefined: nowhere. */
  readonly devices: DeviceLedger | undefined;
  readonly log: Log;
  readonly logger: Logger;
}

/** Authenticates, logs once a minute who has shown wrong keys, and writes when each key was last used; `close` ends both. */
export function startCallers({ store, counts, devices, log, logger }: CallerParts): Authenticator & { close(): Promise<void> } {
  const { now, monotonic } = systemClock;
  const onInvalid: Parameters<typeof authenticator>[0]['onInvalid'] =
    devices &&
    ((group, { request, ip }, digest) => {
      if (group !== 'signal' && request !== undefined) devices.noteRefused(digest, pollOf(request, ip, { status: 401 }));
    });
  const callers = authenticator({ store, now, monotonic, counts, ...(onInvalid && { onInvalid }) });
  const endFailureLog = startFailureLog(callers.takeFailed, log);
  const endKeyUsage = startKeyUsage(callers.takeUsed, store, (err) => logger.warn({ err }, 'the last use of keys could not be written'));
  return {
    ...callers,
    async close() {
      await endKeyUsage();
      await endFailureLog();
    },
  };
}
