/** Devices (D16.7 to D16.12). */
import {
  afterPulls,
  type DeviceDocument,
  type DeviceState,
  deviceId,
  documentKey,
  patienceOf,
  type SeenDevice,
  usualInterval,
} from '../../account/device.ts';
import type { Device, DevicePage, DeviceReads, DeviceWrites, KeyName, NamedDocument } from '../../ports/devices.ts';
import { inChunks } from '../../schedule/chunks.ts';
import { stopSilentCanaries } from '../canary/end.ts';
import { FLAG, jsonAs, NUMBER, orNull, recordOf, TEXT } from '../record.ts';
import { workspacePk } from '../row-ids.ts';
import { all, allOf, type Changes, one, run, runRows, type Value, type Work } from '../work.ts';
import { fairShare } from './fair-share.ts';

const MOST_OF_WORKSPACE = 5_000;
const MOST = 50_000;
const ROWS = 40;

/** A lock on one row until the commit serializes writers. */
export const deviceChanges = {
  noteDevices: (_now, seen) => noteDevices(seen),
  markStopped: (sqlNow, { now, running, most = MOST }) => markStopped(sqlNow, now, running, most),
} satisfies Changes<DeviceWrites>;

const hold = () => run("UPDATE counters SET value = value + 1 WHERE name = 'devices'");

function* noteDevices(seen: readonly SeenDevice[]): Work<Device[]> {
  yield* hold();
  const back: Device[] = [];
  for (const [workspaceId, devices] of Map.groupBy(seen, (device) => device.workspaceId)) {
    const pk = yield* workspacePk(workspaceId);
    if (pk === undefined) continue;
    for (const slice of inChunks(devices, ROWS)) {
      const known = yield* knownDevices(pk, slice.map(deviceId));
      const after = new Map(known);
      // Devices seen under one id are merged.
      for (const each of slice) after.set(deviceId(each), afterPulls(after.get(deviceId(each)), each));
      yield* writeDevices(pk, [...after.values()]);
      back.push(...[...known.values()].filter(({ stoppedAt }) => stoppedAt !== null).map((device) => deviceView(device, workspaceId)));
    }
    yield* run(
      `DELETE FROM devices WHERE workspace_pk = $1 AND last_pull < (SELECT last_pull FROM devices WHERE workspace_pk = $1
         ORDER BY last_pull DESC LIMIT 1 OFFSET ${MOST_OF_WORKSPACE - 1})`,
      pk,
    );
  }
  return back;
}

/** Takes from the largest workspaces only. */
function* forgetOldest(most: number): Work<void> {
  const counts = yield* all('SELECT workspace_pk, count(*) AS devices FROM devices GROUP BY workspace_pk');
  const each = fairShare(
    counts.map(({ devices }) => Number(devices)),
    most,
  );
  if (each === Number.POSITIVE_INFINITY) return;
  for (const row of yield* all('SELECT workspace_pk FROM devices GROUP BY workspace_pk HAVING count(*) > $1', each)) {
    yield* run(
      `DELETE FROM devices WHERE workspace_pk = $1 AND id IN (SELECT id FROM devices WHERE workspace_pk = $1
         ORDER BY last_pull DESC LIMIT ${MOST_OF_WORKSPACE} OFFSET $2)`,
      Number(row.workspace_pk),
      each,
    );
  }
}

function* markStopped(sqlNow: string, now: number, running: number, most: number): Work<Device[]> {
  yield* stopSilentCanaries(sqlNow, now, running);
  yield* hold();
  yield* forgetOldest(most);
  const rows = yield* all(
    'UPDATE devices SET stopped_at = $1, due_at = NULL WHERE due_at <= $1 AND patience <= $2 RETURNING *',
    now,
    running,
  );
  const stopped: Device[] = [];
  for (const [pk, devices] of Map.groupBy(rows, (row) => Number(row.workspace_pk))) {
    const workspace = yield* one('SELECT id FROM workspaces WHERE pk = $1', pk);
    stopped.push(...devices.map((row) => deviceView(DEVICE.read(row), String(workspace!.id))));
  }
  return stopped;
}

function* knownDevices(workspacePk: number, ids: readonly string[]): Work<Map<string, DeviceState>> {
  const rows = yield* allOf(ids, (places) => `SELECT * FROM devices WHERE workspace_pk = $1 AND id IN (${places})`, workspacePk);
  return new Map(rows.map((row) => [String(row.id), DEVICE.read(row)]));
}

const DEVICE = recordOf<DeviceState>({
  id: TEXT,
  keyId: TEXT,
  userAgent: TEXT,
  address: TEXT,
  firstPull: NUMBER,
  lastPull: NUMBER,
  pulls: NUMBER,
  countedFrom: NUMBER,
  counted: NUMBER,
  ok: NUMBER,
  notModified: NUMBER,
  refused: NUMBER,
  failed: NUMBER,
  lastStatus: NUMBER,
  validates: FLAG,
  documents: jsonAs(),
  refusals: jsonAs(),
  stoppedAt: orNull(NUMBER),
});

const COLUMNS = ['workspace_pk', ...DEVICE.names, 'patience', 'due_at'];
const WRITE = (values: string) => `INSERT INTO devices (${COLUMNS}) VALUES ${values}
  ON CONFLICT (workspace_pk, id) DO UPDATE SET ${COLUMNS.slice(2).map((column) => `${column} = excluded.${column}`)}`;

function valuesOf(device: DeviceState): Value[] {
  const patience = patienceOf(device);
  return [...DEVICE.values({ ...device, stoppedAt: null }), patience, patience === null ? null : device.lastPull + patience];
}

const writeDevices = (workspacePk: number, devices: readonly DeviceState[]): Work<void> =>
  runRows(
    devices.map((device) => [workspacePk, ...valuesOf(device)]),
    WRITE,
  );

function deviceView({ countedFrom, counted, documents, ...device }: DeviceState, workspaceId: string, newest?: NewestModified): Device {
  const interval = usualInterval({ countedFrom, counted, lastPull: device.lastPull });
  const named = documents.map((document): NamedDocument => {
    const { since = null, confirmedAt = null } = newest?.get(documentKey(document)) ?? {};
    return { ...document, newestModified: since, confirmedAt };
  });
  return { ...device, workspaceId, interval, documents: named };
}

export function* devicePage(workspaceId: string, { keyId, since = 0, after = '', limit }: DevicePage): Work<Device[]> {
  const workspace = yield* workspacePk(workspaceId);
  if (workspace === undefined) return [];
  const ofKey = keyId === undefined ? '' : 'AND key_id = $5';
  const rows = yield* all(
    `SELECT * FROM devices WHERE workspace_pk = $1 AND id > $2 AND last_pull >= $3 ${ofKey} ORDER BY id LIMIT $4`,
    workspace,
    after,
    since,
    limit,
    ...(keyId === undefined ? [] : [keyId]),
  );
  const devices = rows.map(DEVICE.read);
  const newest = yield* newestModified(
    workspace,
    devices.flatMap(({ documents }) => documents),
  );
  return devices.map((device) => deviceView(device, workspaceId, newest));
}

/** With the time of the last read. */
type NewestModified = ReadonlyMap<string, { readonly since: number; readonly confirmedAt: number }>;
const ASKED = 100;

function* newestModified(workspacePk: number, documents: readonly DeviceDocument[]): Work<NewestModified> {
  const places = yield* feedPlaces(documents.flatMap(({ feedId }) => feedId ?? []));
  const wanted = [...new Map(documents.map((document) => [documentKey(document), document])).values()].flatMap((document) => {
    const place = document.feedId === null ? 0 : places.get(document.feedId);
    return place === undefined ? [] : [{ place, document }];
  });
  const newest = new Map<string, { since: number; confirmedAt: number }>();
  for (const slice of inChunks(wanted, ASKED)) {
    const values = slice.map((_, i) => {
      const types = ['INTEGER', 'TEXT', 'TEXT', 'TEXT', 'INTEGER'];
      return `(${types.map((type, n) => `CAST($${i * types.length + n + 2} AS ${type})`)})`;
    });
    const rows = yield* all(
      `WITH wanted (place, format, family, action, n) AS (VALUES ${values})
       SELECT x.n, r.since, r.snapshot_at FROM wanted x JOIN feed_records r ON r.workspace_pk = $1 AND r.list_pk = x.place AND r.format = x.format
       AND r.family = x.family AND r.action = x.action`,
      workspacePk,
      ...slice.flatMap(({ place, document: { format, family, action } }, i) => [place, format, family, action, i]),
    );
    for (const { n, since, snapshot_at: at } of rows) {
      newest.set(documentKey(slice[Number(n)]!.document), { since: Number(since), confirmedAt: Number(at) });
    }
  }
  return newest;
}

/** List pk, or minus feed pk. */
function* feedPlaces(ids: readonly string[]): Work<Map<string, number>> {
  const rows = yield* allOf(
    [...new Set(ids)],
    (given) =>
      `SELECT id, pk AS place FROM lists WHERE id IN (${given}) UNION ALL SELECT id, -pk AS place FROM feeds WHERE id IN (${given})`,
  );
  return new Map(rows.map(({ id, place }) => [String(id), Number(place)]));
}

export function* deviceCounts(since: number): Work<Awaited<ReturnType<DeviceReads['deviceCounts']>>> {
  const pulling = yield* one('SELECT count(*) AS devices FROM devices WHERE due_at IS NOT NULL');
  const stopped = yield* one('SELECT count(*) AS devices FROM devices WHERE stopped_at >= $1', since);
  return { pulling: Number(pulling!.devices), stopped: Number(stopped!.devices) };
}

export function* workspaceOfKey(keyId: string): Work<string | undefined> {
  const row = yield* one('SELECT w.id FROM keys k JOIN workspaces w ON w.pk = k.workspace_pk WHERE k.id = $1', keyId);
  return row && String(row.id);
}

export function* keysByHash(hashes: readonly Uint8Array[]): Work<Map<number, KeyName>> {
  const places = new Map(hashes.map((hash, place) => [Buffer.from(hash).toString('hex'), place]));
  const rows = yield* allOf(
    hashes,
    (given) =>
      `SELECT k.hash, k.id, w.id AS workspace_id FROM keys k JOIN workspaces w ON w.pk = k.workspace_pk WHERE k.hash IN (${given})`,
  );
  const placeOf = (hash: unknown) => places.get(Buffer.from(hash as Uint8Array).toString('hex'))!;
  return new Map(rows.map(({ hash, id, workspace_id }) => [placeOf(hash), { keyId: String(id), workspaceId: String(workspace_id) }]));
}
