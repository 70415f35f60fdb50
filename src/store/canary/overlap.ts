/** Blocks of a large change that overlap never-block rules or protected networks of the workspace (SPEC D65.7). */
import { addressSet, overlaps } from '@weir/network/address-set.ts';
import { formatNetwork } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import { blockGuards, NO_GUARD_RAILS } from '../../account/guard-rails.ts';
import type { AccessAction } from '../../rule.ts';
import { ACTIVE } from '../changes-since.ts';
import { actionCode, targetOf } from '../columns.ts';
import { guardRailsOf } from '../rows.ts';
import { all, one, type Work } from '../work.ts';

/** Rows per read. */
const PAGE = 5000;
/** Named in a reason. */
const MOST_NAMED = 3;

const guardOf = blockGuards({ ...NO_GUARD_RAILS, self: [] });

/** The networks of active rules of a list, by an index; a country or ASN has none here. `now`: ms. */
function* networksOf(listPk: number, action: AccessAction, now: number): Work<Network[]> {
  const networks: Network[] = [];
  for (const ref of ['NULL', 'NOT NULL']) {
    const text = `SELECT target FROM access_rules WHERE list_pk = $1 AND action = ${actionCode(action)} AND rule_ref IS ${ref}
      AND target > $2 AND ${ACTIVE} ORDER BY target LIMIT ${PAGE}`;
    for (let [last, isDone] = ['', false]; !isDone; ) {
      const rows = yield* all(text, listPk, last, now);
      for (const row of rows) {
        const target = targetOf(String(row.target));
        if (target.kind === 'ip') networks.push(target.network);
      }
      last = String(rows.at(-1)?.target);
      isDone = rows.length < PAGE;
    }
  }
  return networks;
}

export const blocksOf = (listPk: number, now: number): Work<Network[]> => networksOf(listPk, 'block', now);

/** The first overlaps, for people; undefined: none. `now`: ms. */
export function* overlapOf(workspacePk: number, blocks: readonly Network[], now: number): Work<string | undefined> {
  if (blocks.length === 0) return undefined;
  const guard = guardOf(guardRailsOf((yield* one('SELECT * FROM workspaces WHERE pk = $1', workspacePk))!));
  const allowed: Network[] = [];
  for (const { pk } of yield* all('SELECT pk FROM lists WHERE workspace_pk = $1 ORDER BY pk', workspacePk))
    for (const network of yield* networksOf(Number(pk), 'allow', now)) allowed.push(network);
  const never = addressSet(allowed);
  const found: string[] = [];
  for (const network of blocks) {
    const hits = [...guard.hits(network), ...guard.warned.hits(network)];
    if (hits.length === 0 && overlaps(never, network)) {
      const own = addressSet([network]);
      hits.push(`overlaps the never-block rule ${formatNetwork(allowed.find((each) => overlaps(own, each))!)}`);
    }
    if (hits.length > 0) found.push(`${formatNetwork(network)} ${hits[0]}`);
    if (found.length === MOST_NAMED) break;
  }
  return found.length === 0 ? undefined : found.join('; ');
}
