import { systemClock } from '../clock.ts';
import { FeedWatch } from '../feed/monitor/feed-watch.ts';
import { type Activity, activityCounter } from '../http/activity.ts';
import { authenticator } from '../http/auth/authenticator.ts';
import { type PeerLedger, peerLedger } from '../http/auth/peer-ledger.ts';
import { newHttpCounts } from '../http/counts.ts';
import { type DeviceLedger, deviceLedger, pollOf } from '../http/device-ledger.ts';
import type { HttpCounts } from '../ports/http-counts.ts';
import { startFailureLog } from '../runtime/ledgers/failed-keys.ts';
import { startPeerWriter } from '../runtime/ledgers/peer-writer.ts';
import { startUsageWriter } from '../runtime/ledgers/usage-writer.ts';
import { everyMinute } from '../schedule/debounce.ts';
import type { Base } from './base.ts';

const { now, monotonic } = systemClock;

export interface Seen {
  readonly counts: HttpCounts;
  readonly watch: FeedWatch;
  readonly activity: Activity;
  readonly devices: DeviceLedger | undefined;
  readonly peers: PeerLedger;
  readonly past: ReturnType<typeof startUsageWriter> | undefined;
}

export function startSeen({ config, store, feedThread, guardRails, log, onStop }: Base): Seen {
  const watch = new FeedWatch(log, now, feedThread?.shares);
  const activity = activityCounter(now);
  onStop(everyMinute(() => activity.turn(store)));
  const devices = feedThread && deviceLedger(now);
  const past = devices && startUsageWriter({ store, devices, sizes: watch.sizes, log, now });
  onStop(() => past?.stop());
  const peers = peerLedger(guardRails, config.trustProxy, now);
  onStop(startPeerWriter(peers, store, log, now));
  return { counts: newHttpCounts(), watch, activity, devices, peers, past };
}

/** Authenticates keys; logs invalid ones, and records devices that use them. */
export function startKeys({ store, log, logger, onStop }: Base, { counts, devices }: Pick<Seen, 'counts' | 'devices'>) {
  const onInvalid: Parameters<typeof authenticator>[0]['onInvalid'] =
    devices &&
    ((group, { request, ip, params = {} }, digest) => {
      if (group !== 'signal' && request !== undefined) devices.noteRefused(digest, pollOf({ request, ip, params }, group, { status: 401 }));
    });
  const authentication = authenticator({ store, now, monotonic, counts, ...(onInvalid && { onInvalid }) });
  onStop(startFailureLog(authentication.takeFailed, log));
  const writeUse = async () => {
    const used = authentication.takeUsed();
    if (used.length > 0) await store.touchKeys(used);
  };
  onStop(everyMinute(() => writeUse().catch((err) => logger.warn({ err }, 'the last use of keys could not be written'))));
  return authentication;
}
