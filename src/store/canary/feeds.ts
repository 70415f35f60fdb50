import { WeirError } from '../../errors.ts';
import { MOST_FREEZES } from '../../ports/stored/freeze-store.ts';
import type { Row } from '../rows.ts';
import { all, type Work } from '../work.ts';

/** Feeds that name canaries; id '': the workspace's feed. */
export const canaryFeeds = (workspacePk: number): Work<Row[]> => {
  const of = (table: string, id = 'id', own = 'workspace_pk') =>
    `SELECT ${id} AS id, canary_keys, canary_minutes FROM ${table} WHERE ${own} = $1 AND canary_keys IS NOT NULL`;
  return all(`${of('workspaces', "''", 'pk')} UNION ALL ${of('lists')} UNION ALL ${of('feeds')} ORDER BY id`, workspacePk);
};

/** Comes before a change of settings. Throws REFUSED: the rules of each feed with canaries may be stored once more (SPEC D65.12). */
export function* requireCanaryQuota(workspacePk: number, canaryKeys: unknown, before: unknown = null): Work<void> {
  if (canaryKeys != null && before === null && (yield* canaryFeeds(workspacePk)).length >= MOST_FREEZES)
    throw new WeirError('REFUSED', `${MOST_FREEZES} feeds of a workspace may have canary_keys: remove those of another feed`);
}
