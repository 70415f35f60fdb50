/** Clients that stopped polling (D16.10, D14.13). */
import { type DeviceDocument, deviceId } from '../../account/device.ts';
import { DAY } from '../../clock.ts';
import { BOUNCER_PATIENCE, MOST_STOPPED, type Stopped } from '../../ports/devices.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import type { Row } from '../rows.ts';
import { all, allOf, type Work } from '../work.ts';

const COLUMNS = 'w.id AS workspace_id, c.key_id, c.user_agent, c.address, c.last_pull';
/** Streamed for at least BOUNCER_PATIENCE, but not since `$3`. */
const SILENT = `c.last_pull > $2 AND c.last_pull <= $3 AND c.last_stream > $2 AND c.last_stream >= c.first_seen + ${BOUNCER_PATIENCE}`;

/** Feed ids of a device or bouncer; null: the workspace's. Other documents have no action. */
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
    const more = { keyName: names.get(name.keyId) ?? null, feeds, lastPull: Number(row.last_pull) };
    return { kind, id: deviceId(name), workspaceId: String(row.workspace_id), ...name, ...more };
  };

export function* stoppedClients(workspaceId: string | null, now: number): Work<Stopped[]> {
  const here = workspaceId === null ? 'CAST($1 AS TEXT) IS NULL' : `c.workspace_pk = ${WORKSPACE_PK}`;
  const of = (table: string, feeds: string, condition: string, at: string, ...since: number[]) =>
    all(
      `SELECT ${COLUMNS}, c.${feeds} FROM ${table} c JOIN workspaces w ON w.pk = c.workspace_pk WHERE ${here} AND ${condition}
       ORDER BY c.${at} DESC LIMIT ${MOST_STOPPED}`,
      workspaceId,
      ...since,
    );
  const devices = yield* of('devices', 'documents', 'c.stopped_at > $2', 'stopped_at', now - DAY);
  const bouncers = yield* of('bouncers', 'feed_id', SILENT, 'last_pull', now - DAY, now - BOUNCER_PATIENCE);
  const ids = new Set([...devices, ...bouncers].flatMap((row) => [String(row.key_id), ...feedsOf(row)]).filter((id) => id !== null));
  const named = yield* allOf([...ids], (given) =>
    ['lists', 'feeds', 'keys'].map((table) => `SELECT id, name FROM ${table} WHERE id IN (${given})`).join(' UNION ALL '),
  );
  const names = new Map(named.flatMap(({ id, name }) => (name === null ? [] : [[String(id), String(name)] as const])));
  return [...devices.map(stoppedOf('device', names)), ...bouncers.map(stoppedOf('bouncer', names))];
}
