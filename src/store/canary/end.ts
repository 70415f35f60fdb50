/** Ends canaries whose time is over, and stops those of silent clients (SPEC D65.3, D65.9). */
import { silenceOf } from '../../account/device.ts';
import { isoTime } from '../../clock.ts';
import { changeWorkspace, holdWorkspace } from '../accounts/account-statements.ts';
import { audit } from '../accounts/audit.ts';
import { endFreeze, freezeChanges } from '../accounts/freezes.ts';
import { canaryIn, feedIn } from '../accounts/frozen-feeds.ts';
import type { Row } from '../rows.ts';
import { all, allOf, one, type Work } from '../work.ts';

const WAITING = 'SELECT z.*, w.id AS workspace_id FROM freezes z JOIN workspaces w ON w.pk = z.workspace_pk WHERE z.until_at';
/** In the order in which landings lock workspaces. */
const DUE = `${WAITING} <= $1 ORDER BY z.workspace_pk, z.pk LIMIT 10`;

/** Promotes the change, or stops it if a canary that fetched the feed before has been silent since. `now`: ms. Returns their number. */
export function* endCanaries(now: number): Work<number> {
  const due = yield* all(DUE, now);
  for (const row of due) {
    const [workspaceId, feedId, at] = [String(row.workspace_id), feedIn(row), String(now)];
    if (!(yield* isUnchanged(row))) continue;
    const fetched = (table: string, places: string) =>
      `SELECT key_id, last_pull FROM ${table} WHERE workspace_pk = $1 AND key_id IN (${places})`;
    const { keys } = canaryIn(row)!;
    const silent = yield* allOf(
      keys,
      (places) => `SELECT key_id FROM (${fetched('devices', places)} UNION ALL ${fetched('bouncers', places)}) c
        GROUP BY key_id HAVING max(last_pull) < $2`,
      ...[Number(row.workspace_pk), Number(row.staged_at)],
    );
    if (silent.length > 0 || keys.length === 0) {
      if (keys.length > 0) yield* stopSilent(at, row, 'since the change', silent);
      else yield* freezeChanges.stopCanary(at, workspaceId, feedId, 'canary_keys name no key', {});
      continue;
    }
    const workspacePk = yield* changeWorkspace(workspaceId);
    const { since } = (yield* endFreeze(at, workspaceId, workspacePk, feedId))!;
    const change = { before: { since: isoTime(since), reason: row.reason as string }, after: { reason: 'its time is over' } };
    yield* audit(at, 'feed canary promoted', feedId ?? workspaceId, { workspacePk, change });
  }
  return due.length;
}

/** Locks the workspace. False: meanwhile a person has decided, or another large change has begun the time again. */
function* isUnchanged({ pk, workspace_id, until_at, staged_at }: Row): Work<boolean> {
  yield* holdWorkspace(String(workspace_id));
  const text = 'SELECT pk FROM freezes WHERE pk = $1 AND until_at = $2 AND staged_at = $3';
  return (yield* one(text, Number(pk), Number(until_at), Number(staged_at))) !== undefined;
}

function* stopSilent(now: string, row: Row, since: string, silent: readonly Row[]): Work<void> {
  const reason = `silent ${since}: ${[...new Set(silent.map(({ key_id: key }) => key))].join(', ')}`;
  yield* freezeChanges.stopCanary(now, String(row.workspace_id), feedIn(row), reason, {});
}

/** A pause counts only if it began after the last large change and while a process ran that would have seen a poll. `now`, `running`: ms. */
export function* stopSilentCanaries(sqlNow: string, now: number, running: number): Work<void> {
  for (const row of yield* all(`${WAITING} IS NOT NULL ORDER BY z.workspace_pk, z.pk`)) {
    const [keys, pk, staged] = [canaryIn(row)!.keys, Number(row.workspace_pk), Number(row.staged_at)];
    const devices = yield* allOf(keys, (places) => `SELECT * FROM devices WHERE workspace_pk = $1 AND key_id IN (${places})`, pk);
    const silent = devices.filter((device) => {
      const [silence, last] = [silenceOf(silentOf(device)), Number(device.last_pull)];
      return silence !== null && silence <= running && last + silence <= now && last + silence >= staged;
    });
    if (silent.length > 0 && (yield* isUnchanged(row))) yield* stopSilent(sqlNow, row, 'for three intervals', silent);
  }
}

const silentOf = (row: Row) => ({
  userAgent: String(row.user_agent),
  pulls: Number(row.pulls),
  firstPull: Number(row.first_pull),
  lastPull: Number(row.last_pull),
  counted: Number(row.counted),
  countedFrom: Number(row.counted_from),
});
