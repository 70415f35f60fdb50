/** Bouncers beyond this process: in the store, for `weir bouncer ls`, and in the log where they cannot enforce all of a feed. */
import { DAY } from '../../clock.ts';
import type { Log } from '../../ports/log.ts';
import type { StoreWrites } from '../../ports/store.ts';
import type { Bouncer } from '../../ports/stored/bouncer-store.ts';
import { inChunks } from '../../schedule/chunks.ts';
import type { DroppedDecisions } from '../decisions.ts';
import { gapOf } from '../enforcement-gap.ts';
import type { BouncerWatch } from './bouncers.ts';

/** How long a bouncer is kept that does not come back, ms. */
const KEPT = 30 * DAY;

/** Bouncers of one write: landing waits for no more than these. */
const SLICE = 200;

/** Writes bouncers: to be called with those that were seen since the last write once a minute and in the end, and with newcomers at once. */
export const writeBouncers =
  (
    take: () => Iterable<Bouncer>,
    store: Pick<StoreWrites, 'recordBouncers'>,
    now: () => number,
    onError: (error: Error) => void,
  ): (() => Promise<void>) =>
  async () => {
    try {
      for (const seen of inChunks(take(), SLICE)) await store.recordBouncers(seen, now() - KEPT);
    } catch (error) {
      onError(error as Error);
    }
  };

const HOUR = 3_600_000;

/**
 * Says in the log, of each workspace once an hour, that what bouncers of a feed were told had to go for other feeds that bouncers of the
 * workspace pull (SPEC D14.16). `now`: ms.
 */
export function droppedLog(log: Log, now: () => number): (dropped: DroppedDecisions) => void {
  const said = new Map<string, number>();
  return ({ workspaceId, feedId, where }) => {
    for (const [key, at] of said) if (at <= now() - HOUR) said.delete(key);
    const key = `${where} ${workspaceId}`;
    if (said.has(key)) return;
    said.set(key, now());
    const feed = feedId === null ? 'its own feed' : `the list or feed ${feedId}`;
    log(
      'warn',
      `bouncers of the workspace ${workspaceId} pull more than is kept for them ${where === 'memory' ? 'in memory' : 'in the store'}: ${feed} had to go, ` +
        (where === 'memory'
          ? 'and its bouncers are told everything again'
          : 'and what its bouncers hold that is gone is not told as deleted') +
        ' (docs/bouncers.md, "What they are told"; no more is said of the workspace in this hour)',
    );
  };
}

/** Lines about one workspace in a minute; the others are in `weir bouncer ls`. */
const LINES = 20;
const MINUTE = 60_000;

/**
 * Says in the log which bouncers come, and once what they cannot enforce; `before` is undefined where this process has not seen it yet.
 * `now`: ms.
 */
export function bouncerLog(log: Log, now: () => number): BouncerWatch {
  const said = new Map<string, number>();
  let minute = 0;
  const say = (workspaceId: string, level: 'info' | 'warn', text: string) => {
    if (Math.floor(now() / MINUTE) !== minute) said.clear();
    minute = Math.floor(now() / MINUTE);
    const lines = (said.get(workspaceId) ?? 0) + 1;
    said.set(workspaceId, lines);
    if (lines <= LINES) log(level, text);
    if (lines === LINES)
      log('warn', `no more is said of the bouncers of the workspace ${workspaceId} in this minute: \`weir bouncer ls\` has all`);
  };
  return (bouncer, before) => {
    const called = `the bouncer "${bouncer.userAgent}" at ${bouncer.address} (key ${bouncer.keyId})`;
    if (before === undefined) say(bouncer.workspaceId, 'info', `${called} is seen for the first time since the start`);
    const gap = gapOf(bouncer);
    if (gap !== undefined && gap.kind !== (before && gapOf(before)?.kind))
      say(bouncer.workspaceId, gap.isCertain ? 'warn' : 'info', `${called} ${gap.text}`);
  };
}
