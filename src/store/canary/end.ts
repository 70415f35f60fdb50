/** Ends canaries whose time is over (SPEC D65.3). */
import { isoTime } from '../../clock.ts';
import { changeWorkspace } from '../accounts/account-statements.ts';
import { audit } from '../accounts/audit.ts';
import { endFreeze, freezeChanges } from '../accounts/freezes.ts';
import { canaryIn, feedIn } from '../accounts/frozen-feeds.ts';
import { all, allOf, type Work } from '../work.ts';

const DUE = `SELECT z.*, w.id AS workspace_id FROM freezes z JOIN workspaces w ON w.pk = z.workspace_pk
  WHERE z.until_at <= $1 ORDER BY z.pk LIMIT 10`;

/** Promotes the change, or stops it if a canary that fetched the feed before has been silent since. `now`: ms. Returns their number. */
export function* endCanaries(now: number): Work<number> {
  const due = yield* all(DUE, now);
  for (const row of due) {
    const [workspaceId, feedId, at] = [String(row.workspace_id), feedIn(row)!, String(now)];
    const silent = yield* allOf(
      canaryIn(row)!.keys,
      (places) => `SELECT key_id FROM devices WHERE workspace_pk = $1 AND key_id IN (${places}) GROUP BY key_id HAVING max(last_pull) < $2`,
      ...[Number(row.workspace_pk), Number(row.created_at)],
    );
    if (silent.length > 0) {
      const reason = `silent since the change: ${silent.map(({ key_id: key }) => key).join(', ')}`;
      yield* freezeChanges.stopCanary(at, workspaceId, feedId, reason, {});
      continue;
    }
    const workspacePk = yield* changeWorkspace(workspaceId);
    const { since } = (yield* endFreeze(at, workspaceId, workspacePk, feedId))!;
    const change = { before: { since: isoTime(since), reason: row.reason as string }, after: { reason: 'its time is over' } };
    yield* audit(at, 'feed canary promoted', feedId, { workspacePk, change });
  }
  return due.length;
}
