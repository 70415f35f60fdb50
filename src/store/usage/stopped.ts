/** What has stopped pulling, the same in both dialects (D16.10, D14.13). */
import { type DeviceDocument, deviceId } from '../../account/device.ts';
import { DAY } from '../../clock.ts';
import { BOUNCER_PATIENCE, STOPPED_TOLD, type Stopped } from '../../ports/devices.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import type { Row } from '../rows.ts';
import { all, allOf, type Work } from '../work.ts';

const COLUMNS = 'w.id AS workspace_id, c.key_id, k.name AS key_name, c.user_agent, c.address, c.last_pull';
/** A bouncer pulled the stream for as long as it is given time, and has not since `$3`. */
const SILENT = `c.last_pull > $2 AND c.last_pull <= $3 AND c.last_stream > $2 AND c.last_stream >= c.first_seen + ${BOUNCER_PATIENCE}`;

/** The ids of the feeds that a device has got, or a bouncer is for; null: the workspace's. Documents that are no feeds have no action. */
const feedsOf = (row: Row): (string | null)[] =>
  row.documents === undefined
    ? [row.feed_id as string | null]
    : [
        ...new Set(
          (JSON.parse(String(row.documents)) as DeviceDocument[]).flatMap(({ feedId, action }) => (action === '' ? [] : [feedId])),
        ),
      ];

const stoppedOf =
  (kind: Stopped['kind'], names: ReadonlyMap<string, string>) =>
  (row: Row): Stopped => {
    const name = { keyId: String(row.key_id), userAgent: String(row.user_agent), address: String(row.address) };
    const feeds = feedsOf(row).map((id) => (id === null ? null : (names.get(id) ?? id)));
    const more = { keyName: row.key_name as string | null, feeds, lastPull: Number(row.last_pull) };
    return { kind, id: deviceId(name), workspaceId: String(row.workspace_id), ...name, ...more };
  };

/** `stoppedClients` of the port. */
export function* stoppedClients(workspaceId: string | null, now: number): Work<Stopped[]> {
  const here = workspaceId === null ? 'CAST($1 AS TEXT) IS NULL' : `c.workspace_pk = ${WORKSPACE_PK}`;
  const of = (table: string, feeds: string, condition: string, at: string, ...since: number[]) =>
    all(
      `SELECT ${COLUMNS}, c.${feeds} FROM ${table} c JOIN workspaces w ON w.pk = c.workspace_pk LEFT JOIN keys k ON k.id = c.key_id
       AND k.workspace_pk = c.workspace_pk WHERE ${here} AND ${condition}
       ORDER BY c.${at} DESC LIMIT ${STOPPED_TOLD}`,
      workspaceId,
      ...since,
    );
  const devices = yield* of('devices', 'documents', 'c.stopped_at > $2', 'stopped_at', now - DAY);
  const bouncers = yield* of('bouncers', 'feed_id', SILENT, 'last_pull', now - DAY, now - BOUNCER_PATIENCE);
  const ids = new Set([...devices, ...bouncers].flatMap(feedsOf).filter((id) => id !== null));
  const named = yield* allOf(
    [...ids],
    (given) => `SELECT id, name FROM lists WHERE id IN (${given}) UNION ALL SELECT id, name FROM feeds WHERE id IN (${given})`,
  );
  const names = new Map(named.map(({ id, name }) => [String(id), String(name)]));
  return [...devices.map(stoppedOf('device', names)), ...bouncers.map(stoppedOf('bouncer', names))];
}
