/** Counts what happens in workspaces, minute by minute, for the console (SPEC D18.11). On the way of a poll that is a look-up and two additions. */
import { dayOf } from '../clock.ts';
import { ACTIVITY_FIELDS, ACTIVITY_MINUTES, type ActivityCounter, type ActivityCounts, type ActivityReads } from '../ports/activity.ts';
import type { HistoryReads } from '../ports/history.ts';

/** Workspaces that are counted at a time: further ones take the place of those where nothing has happened for longest. */
const MOST_WORKSPACES = 500;
/** How long after the last entry landing is asked for, minutes. */
const LANDING_ASKED = 10;

export interface Activity extends ActivityReads, ActivityCounter {
  /** Ends the minute. `store` tells what has landed. Is to be called once a minute. */
  turn(store: Pick<HistoryReads, 'feedDays'>): Promise<void>;
}

interface WorkspaceActivity {
  /** The minute that runs. */
  readonly current: ActivityCounts;
  /** A row of ACTIVITY_FIELDS for each minute, by its number in the day that is kept. */
  readonly past: Uint32Array;
  /** Turns since something happened, and since there were entries. */
  idle: number;
  quiet: number;
  /** What had landed since `landedFrom` (days since 1970) when it was asked for last; undefined: never asked. */
  landed: number | undefined;
  readonly landedFrom: number;
}

/** A counter that has counted nothing. `now`: ms since 1970. */
export function activityCounter(now: () => number): Activity {
  const since = now();
  const workspaces = new Map<string, WorkspaceActivity>();
  let turns = 0;

  function of(workspaceId: string): WorkspaceActivity {
    let found = workspaces.get(workspaceId);
    if (found === undefined) {
      if (workspaces.size >= MOST_WORKSPACES) workspaces.delete(idlest());
      const past = new Uint32Array(ACTIVITY_MINUTES * ACTIVITY_FIELDS.length);
      found = { current: none(), past, idle: 0, quiet: LANDING_ASKED, landed: undefined, landedFrom: dayOf(now()) };
      workspaces.set(workspaceId, found);
    }
    found.idle = 0;
    return found;
  }

  const idlest = (): string => [...workspaces].reduce((most, each) => (each[1].idle > most[1].idle ? each : most))[0];

  /** How much has landed since the last time. */
  async function landedSince(id: string, activity: WorkspaceActivity, store: Pick<HistoryReads, 'feedDays'>): Promise<number> {
    if (activity.quiet >= LANDING_ASKED) return 0;
    const to = dayOf(now());
    const days = await store.feedDays(id, null, { from: activity.landedFrom, to });
    const landed = days.reduce((sum, { added, removed }) => sum + added + removed, 0);
    const before = activity.landed ?? landed;
    activity.landed = landed;
    return Math.max(0, landed - before);
  }

  return {
    since,
    entries(workspaceId, accepted, failed) {
      const activity = of(workspaceId);
      activity.current.accepted += accepted;
      activity.current.failed += failed;
      activity.quiet = 0;
    },
    poll(workspaceId, status) {
      const { current } = of(workspaceId);
      current.pulls += 1;
      if (status === 304) current.notModified += 1;
    },
    async turn(store) {
      const row = (turns % ACTIVITY_MINUTES) * ACTIVITY_FIELDS.length;
      turns += 1;
      for (const [id, activity] of workspaces) {
        activity.past.set(
          ACTIVITY_FIELDS.map((field) => activity.current[field]),
          row,
        );
        Object.assign(activity.current, none());
        activity.idle += 1;
        activity.quiet += 1;
        if (activity.idle > ACTIVITY_MINUTES) workspaces.delete(id);
      }
      for (const [id, activity] of workspaces) {
        // While the store is away nothing lands.
        activity.current.landed += await landedSince(id, activity, store).catch(() => 0);
      }
    },
    of(workspaceId, minutes) {
      const activity = workspaces.get(workspaceId);
      const known = Math.min(minutes - 1, turns, ACTIVITY_MINUTES);
      const before = Array.from({ length: known }, (_, i) => {
        const row = ((turns - known + i) % ACTIVITY_MINUTES) * ACTIVITY_FIELDS.length;
        return activity === undefined ? none() : countsAt(activity.past, row);
      });
      return [...before, { ...(activity?.current ?? none()) }];
    },
  };
}

const none = (): ActivityCounts => ({ accepted: 0, failed: 0, landed: 0, pulls: 0, notModified: 0 });
const countsAt = (past: Uint32Array, row: number): ActivityCounts =>
  Object.fromEntries(ACTIVITY_FIELDS.map((field, i) => [field, past[row + i]])) as unknown as ActivityCounts;
