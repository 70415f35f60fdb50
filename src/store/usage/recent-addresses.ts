/** Addresses of each sender's blocks by minute, where a sum of them can be large (SPEC D64.3, D67.3). */
import { addressesOf, RECENT } from '../../account/large.ts';
import { isOperation } from '../../rule.ts';
import type { NumberedItem } from '../batches/batches.ts';
import { WORKSPACE_PK, workspacePk } from '../row-ids.ts';
import type { Row } from '../rows.ts';
import { allOf, one, run, runRows, type Value, type Work } from '../work.ts';

/** Keeps sums exact. */
const MOST = 2 ** 40;
const MINUTE = 60_000;
const firstMinute = (now: number) => Math.floor((now - RECENT) / MINUTE) + 1;

type Sent = Pick<NumberedItem, 'item'>;

export const isSignal = ({ item: { change, sourceId, personId, keyId, batchId, isManaged } }: Sent): boolean =>
  !isManaged && !isOperation(change) && sourceId === undefined && personId === undefined && (keyId !== null || batchId === null);

/** Before the senders of changes other than signals. */
const CHANGES = 'changes ';

export const senderOfItem = (sent: Sent) => `${isSignal(sent) ? '' : CHANGES}${sent.item.personId ?? sent.item.keyId ?? ''}`;

/** Of blocks; 0 for other changes. */
export function blockedAddresses({ item: { change } }: Sent): number {
  if (change.change !== 'upsert' || change.kind !== 'access_rule' || change.rule.action !== 'block') return 0;
  return Math.min(addressesOf(change.rule.target), MOST);
}

const ADDED = `ON CONFLICT (workspace_pk, sender, minute) DO UPDATE
  SET addresses = CASE WHEN recent_addresses.addresses > ${MOST} THEN recent_addresses.addresses ELSE recent_addresses.addresses + excluded.addresses END`;

/** Avoids EXISTS, for which PostgreSQL would read whole tables. */
const HAS_CANARIES = ['lists', 'feeds', 'freezes']
  .map(
    (table) =>
      `(SELECT 1 FROM ${table} c WHERE c.workspace_pk = w.pk AND c.${table === 'freezes' ? 'canary' : 'canary_keys'} IS NOT NULL LIMIT 1) IS NOT NULL`,
  )
  .concat('w.canary_keys IS NOT NULL')
  .join(' OR ');

/** Workspaces whose changes are measured: in one statement, for most landings the only one. `has_canaries` is 1 or 0. By pk. */
export const measuredWorkspaces = (items: readonly NumberedItem[]): Work<Row[]> =>
  allOf(
    [...new Set(items.map(({ workspace }) => workspace))],
    (
      places,
    ) => `SELECT * FROM (SELECT w.*, CASE WHEN ${HAS_CANARIES} THEN 1 ELSE 0 END AS has_canaries FROM workspaces w WHERE pk IN (${places})) m
      WHERE has_canaries = 1 OR 'all' IN (large, approval) OR approval = 'changes' ORDER BY pk`,
  );

/** Runs in the landing transaction. `now`: ms. */
export function* writeRecentAddresses(measured: readonly Row[], items: readonly NumberedItem[], now: number): Work<void> {
  const sums = new Map<number, Map<string, number>>();
  for (const each of items) {
    const addresses = blockedAddresses(each);
    if (addresses === 0) continue;
    const senders = sums.get(each.workspace) ?? new Map<string, number>();
    const sender = senderOfItem(each);
    sums.set(each.workspace, senders.set(sender, Math.min((senders.get(sender) ?? 0) + addresses, MOST)));
  }
  for (const row of measured) {
    const workspace = Number(row.pk);
    const own = sums.get(workspace);
    if (own === undefined) continue;
    yield* run('DELETE FROM recent_addresses WHERE workspace_pk = $1 AND minute < $2', workspace, firstMinute(now));
    yield* add([...own].sort().map(([sender, sum]) => [workspace, sender, Math.floor(now / MINUTE), sum]));
  }
}

const add = (rows: readonly Value[][]): Work<void> =>
  runRows(rows, (values) => `INSERT INTO recent_addresses (workspace_pk, sender, minute, addresses) VALUES ${values} ${ADDED}`);

/** No key or person has this id. */
const REMOVALS = `${CHANGES}removals`;

/** Of a change that removes rules (SPEC D67.3). */
export function* noteRemoved(now: string, workspaceId: string, addresses: number): Work<void> {
  const pk = yield* workspacePk(workspaceId);
  const at = Number((yield* one(`SELECT ${now} AS at`))?.at);
  if (pk === undefined) return;
  yield* run('DELETE FROM recent_addresses WHERE workspace_pk = $1 AND minute < $2', pk, firstMinute(at));
  yield* add([[pk, REMOVALS, Math.floor(at / MINUTE), Math.min(addresses, MOST)]]);
}

/** A large change is staged: it does not make later ones of its sender large, but counts for approvals. */
export function* setStagedAside(workspacePk: number, sender: string, now: number, addresses: number): Work<void> {
  const minute = Math.floor(now / MINUTE);
  yield* run(
    `UPDATE recent_addresses SET addresses = CASE WHEN addresses > $4 THEN addresses - $4 ELSE 0 END
     WHERE workspace_pk = $1 AND sender = $2 AND minute = $3`,
    ...[workspacePk, sender, minute, addresses],
  );
  yield* add([[workspacePk, `${sender.startsWith(CHANGES) ? CHANGES : ''}staged`, minute, Math.min(addresses, MOST)]]);
}

export function* recentOf(workspacePk: number, sender: string, now: number): Work<number> {
  const text = 'SELECT sum(addresses) AS addresses FROM recent_addresses WHERE workspace_pk = $1 AND sender = $2 AND minute >= $3';
  return Number((yield* one(text, workspacePk, sender, firstMinute(now)))?.addresses ?? 0);
}

export function* recentAddresses(workspaceId: string, sender: string, now: number): Work<number> {
  const pk = yield* workspacePk(workspaceId);
  return pk === undefined ? 0 : yield* recentOf(pk, sender, now);
}

/** Of all senders whose changes can wait, without approved blocks: another key is no way around (SPEC D67.3). */
export function* unapprovedAddresses(workspaceId: string, now: number): Work<number> {
  const landed = `SELECT sum(addresses) FROM recent_addresses r JOIN workspaces w ON w.pk = r.workspace_pk
    WHERE w.id = $1 AND minute >= $2 AND (w.approval = 'all' OR sender LIKE '${CHANGES}%')`;
  const approved = `SELECT sum(blocked) FROM approvals WHERE workspace_pk = ${WORKSPACE_PK} AND approved_at >= $3`;
  const row = yield* one(`SELECT (${landed}) AS landed, (${approved}) AS approved`, workspaceId, firstMinute(now), now - RECENT - MINUTE);
  return Math.max(0, Number(row?.landed ?? 0) - Number(row?.approved ?? 0));
}
