/** What has stopped pulling, the same in both dialects (D16.10, D14.13). */
import { deviceId } from '../../account/device.ts';
import { DAY } from '../../clock.ts';
import { BOUNCER_PATIENCE, STOPPED_TOLD, type Stopped } from '../../ports/devices.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import type { Row } from '../rows.ts';
import { all, type Work } from '../work.ts';

const COLUMNS = 'w.id AS workspace_id, c.key_id, c.user_agent, c.address, c.last_pull';
/** A bouncer pulled the stream for as long as it is given time, and has not since `$3`. */
const SILENT = `c.last_pull > $2 AND c.last_pull <= $3 AND c.last_stream > $2 AND c.last_stream >= c.first_seen + ${BOUNCER_PATIENCE}`;

const stoppedOf =
  (kind: Stopped['kind']) =>
  (row: Row): Stopped => {
    const name = { keyId: String(row.key_id), userAgent: String(row.user_agent), address: String(row.address) };
    return { kind, id: deviceId(name), workspaceId: String(row.workspace_id), ...name, lastPull: Number(row.last_pull) };
  };

/** `stoppedClients` of the port. */
export function* stoppedClients(workspaceId: string | null, now: number): Work<Stopped[]> {
  const here = workspaceId === null ? 'CAST($1 AS TEXT) IS NULL' : `c.workspace_pk = ${WORKSPACE_PK}`;
  const of = (table: string, condition: string, at: string, ...since: number[]) =>
    all(
      `SELECT ${COLUMNS} FROM ${table} c JOIN workspaces w ON w.pk = c.workspace_pk WHERE ${here} AND ${condition}
       ORDER BY c.${at} DESC LIMIT ${STOPPED_TOLD}`,
      workspaceId,
      ...since,
    );
  const devices = yield* of('devices', 'c.stopped_at > $2', 'stopped_at', now - DAY);
  const bouncers = yield* of('bouncers', SILENT, 'last_pull', now - DAY, now - BOUNCER_PATIENCE);
  return [...devices.map(stoppedOf('device')), ...bouncers.map(stoppedOf('bouncer'))];
}
