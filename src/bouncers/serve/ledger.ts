/** Bouncers beyond this process: in the store, for `weir bouncer ls`, and in the log where they cannot enforce all of a feed. */
import { DAY } from '../../clock.ts';
import type { Log } from '../../ports/log.ts';
import type { StoreWrites } from '../../ports/store.ts';
import { gapOf } from '../enforcement-gap.ts';
import type { Bouncers, BouncerWatch } from './bouncers.ts';

/** How long a bouncer is kept that does not come back, ms. */
const KEPT = 30 * DAY;

/** Writes which bouncers were seen since the last write: to be called once a minute, and in the end. */
export const writeBouncers =
  (
    bouncers: Pick<Bouncers, 'takeSeen'>,
    store: Pick<StoreWrites, 'recordBouncers'>,
    now: () => number,
    onError: (error: Error) => void,
  ): (() => Promise<void>) =>
  async () => {
    const seen = bouncers.takeSeen();
    if (seen.length > 0) await store.recordBouncers(seen, now() - KEPT).catch(onError);
  };

/** Says in the log which bouncers come, and once what they cannot enforce; `before` is undefined where this process has not seen it yet. */
export const bouncerLog =
  (log: Log): BouncerWatch =>
  (bouncer, before) => {
    const called = `the bouncer "${bouncer.userAgent}" at ${bouncer.address} (key ${bouncer.keyId})`;
    if (before === undefined) log('info', `${called} is seen for the first time since the start`);
    const gap = gapOf(bouncer);
    if (gap !== undefined && gap.kind !== (before && gapOf(before)?.kind)) log('warn', `${called} ${gap.text}`);
  };
