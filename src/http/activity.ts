/** In memory, written once a minute (SPEC D18.11). Costs a poll one look-up and two additions. */
import {
  ACTIVITY_FIELDS,
  type ActivityCounter,
  type ActivityCounts,
  type ActivityReads,
  type ActivityStoreWrites,
  NO_ACTIVITY,
} from '../ports/activity.ts';
import { isRefusal } from './errors.ts';

/** While the store is down. Further workspaces are not counted. */
const MOST_WORKSPACES = 5000;

export interface Activity extends ActivityReads, ActivityCounter {
  /** If the store is down, keeps the counts for the next write. Never rejects. */
  turn(store: ActivityStoreWrites): Promise<void>;
}

/** `now`: ms since 1970. */
export function activityCounter(now: () => number): Activity {
  const since = now();
  let counted = new Map<string, ActivityCounts>();
  const nobody = { ...NO_ACTIVITY };
  const of = (workspaceId: string): ActivityCounts => {
    const found = counted.get(workspaceId);
    if (found !== undefined) return found;
    if (counted.size >= MOST_WORKSPACES) return nobody;
    const begun = { ...NO_ACTIVITY };
    counted.set(workspaceId, begun);
    return begun;
  };
  return {
    since,
    entries(workspaceId, accepted, failed) {
      const counts = of(workspaceId);
      counts.accepted += accepted;
      counts.failed += failed;
    },
    poll(workspaceId, status) {
      const counts = of(workspaceId);
      counts.pulls += 1;
      if (status === 304) counts.notModified += 1;
      else if (isRefusal({ status })) counts.refused += 1;
    },
    async turn(store) {
      const written = counted;
      if (written.size === 0) return;
      counted = new Map();
      const minute = Math.floor(now() / 60_000);
      try {
        await store.noteActivity([...written].map(([workspaceId, counts]) => ({ ...counts, workspaceId, minute })));
      } catch {
        for (const [workspaceId, counts] of written) {
          const pending = of(workspaceId);
          for (const field of ACTIVITY_FIELDS) pending[field] += counts[field];
        }
      }
    },
    of: (workspaceId) => ({ ...(counted.get(workspaceId) ?? NO_ACTIVITY) }),
  };
}
