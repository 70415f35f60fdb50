/** Writes bouncers to the store for `weir bouncer ls`, and to the log if they cannot enforce all of a feed. */
import { DAY } from '../../clock.ts';
import type { Log } from '../../ports/log.ts';
import type { StoreWrites } from '../../ports/store.ts';
import type { Bouncer } from '../../ports/stored/bouncer-store.ts';
import { inChunks } from '../../schedule/chunks.ts';
import type { DroppedDecisions } from '../decisions.ts';
import { gapOf } from '../enforcement-gap.ts';
import type { BouncerWatch } from './bouncers.ts';

/** Time that an absent bouncer is stored, ms. */
const RETENTION = 30 * DAY;

/** Bouncers per write, so landing waits for no more. */
const SLICE = 200;

/** Once a minute and at the end those seen since the last write, and immediately new ones. */
export const writeBouncers =
  (
    take: () => Iterable<Bouncer>,
    store: Pick<StoreWrites, 'recordBouncers' | 'forgetBouncers'>,
    now: () => number,
    onError: (error: Error) => void,
  ): (() => Promise<void>) =>
  async () => {
    try {
      // Neighbours in the table share its pages.
      for (const seen of inChunks([...take()].sort(byKey), SLICE)) await store.recordBouncers(seen);
      await store.forgetBouncers(now() - RETENTION);
    } catch (error) {
      onError(error as Error);
    }
  };

const byKey = (a: Bouncer, b: Bouncer): number => (`${a.workspaceId} ${a.keyId}` < `${b.workspaceId} ${b.keyId}` ? -1 : 1);

const HOUR = 3_600_000;

/** Logs once an hour per workspace (SPEC D14.16). `now`: ms. */
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
      `bouncers of the workspace ${workspaceId} exceed the limit ${where === 'memory' ? 'in memory' : 'in the store'}: ${feed} was evicted, ` +
        (where === 'memory' ? 'and its bouncers get a full resync' : 'and its bouncers get no deletions of earlier networks') +
        ' (docs/bouncers.md, "What bouncers receive"; not logged again for this workspace within the hour)',
    );
  };
}

/** Log lines per workspace and minute; `weir bouncer ls` has the rest. */
const LINES = 20;
const MINUTE = 60_000;

/** Logs new bouncers, and once what each cannot enforce; `before` undefined: not seen by this process. `now`: ms. */
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
      log('warn', `no more bouncers of the workspace ${workspaceId} are logged in this minute: \`weir bouncer ls\` lists all`);
  };
  return (bouncer, before) => {
    const called = `the bouncer "${bouncer.userAgent}" at ${bouncer.address} (key ${bouncer.keyId})`;
    if (before === undefined) say(bouncer.workspaceId, 'info', `${called} is seen for the first time since the start`);
    const gap = gapOf(bouncer);
    if (gap !== undefined && gap.kind !== (before && gapOf(before)?.kind))
      say(bouncer.workspaceId, gap.isCertain ? 'warn' : 'info', `${called} ${gap.text}`);
  };
}
