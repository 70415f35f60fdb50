/** Addresses of each sender's blocks by minute, where signals can be large (SPEC D64.3). */
import { addressesOf, RECENT } from '../../account/large.ts';
import type { NumberedItem } from '../batches/batches.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import { allOf, one, run, runRows, type Value, type Work } from '../work.ts';

/** Keeps sums exact. */
const MOST = 2 ** 40;
const MINUTE = 60_000;
const firstMinute = (now: number) => Math.floor((now - RECENT) / MINUTE) + 1;

export const senderOfItem = ({ item: { personId, keyId } }: Pick<NumberedItem, 'item'>) => personId ?? keyId ?? '';

/** Of blocks; 0 for other changes. */
export function blockedAddresses({ item: { change } }: Pick<NumberedItem, 'item'>): number {
  if (change.change !== 'upsert' || change.kind !== 'access_rule' || change.rule.action !== 'block') return 0;
  return Math.min(addressesOf(change.rule.target), MOST);
}

const ADDED = `ON CONFLICT (workspace_pk, sender, minute) DO UPDATE
  SET addresses = CASE WHEN recent_addresses.addresses > ${MOST} THEN recent_addresses.addresses ELSE recent_addresses.addresses + excluded.addresses END`;

/** Runs in the landing transaction. `now`: ms. */
export function* writeRecentAddresses(items: readonly NumberedItem[], now: number): Work<void> {
  const sums = new Map<number, Map<string, number>>();
  for (const each of items) {
    const addresses = blockedAddresses(each);
    if (addresses === 0) continue;
    const senders = sums.get(each.workspace) ?? new Map<string, number>();
    const sender = senderOfItem(each);
    sums.set(each.workspace, senders.set(sender, Math.min((senders.get(sender) ?? 0) + addresses, MOST)));
  }
  const places = [...sums.keys()];
  const counting = yield* allOf(
    places,
    (given) => `SELECT pk FROM workspaces WHERE 'all' IN (large, approval) AND pk IN (${given}) ORDER BY pk`,
  );
  for (const row of counting) {
    const workspace = Number(row.pk);
    yield* run('DELETE FROM recent_addresses WHERE workspace_pk = $1 AND minute < $2', workspace, firstMinute(now));
    const rows = [...sums.get(workspace)!].sort().map(([sender, sum]): Value[] => [workspace, sender, Math.floor(now / MINUTE), sum]);
    yield* runRows(rows, (values) => `INSERT INTO recent_addresses (workspace_pk, sender, minute, addresses) VALUES ${values} ${ADDED}`);
  }
}

/** Of all senders, without approved blocks: another key is no way around (SPEC D67.3). */
export function* unapprovedAddresses(workspaceId: string, now: number): Work<number> {
  const landed = `SELECT sum(addresses) FROM recent_addresses WHERE workspace_pk = ${WORKSPACE_PK} AND minute >= $2`;
  const approved = `SELECT sum(blocked) FROM approvals WHERE workspace_pk = ${WORKSPACE_PK} AND approved_at >= $3`;
  const row = yield* one(`SELECT (${landed}) AS landed, (${approved}) AS approved`, workspaceId, firstMinute(now), now - RECENT - MINUTE);
  return Math.max(0, Number(row?.landed ?? 0) - Number(row?.approved ?? 0));
}

export function* recentAddresses(workspaceId: string, sender: string, now: number): Work<number> {
  const text = `SELECT sum(addresses) AS addresses FROM recent_addresses WHERE workspace_pk = ${WORKSPACE_PK} AND sender = $2 AND minute >= $3`;
  return Number((yield* one(text, workspaceId, sender, firstMinute(now)))?.addresses ?? 0);
}
