/** In steps (D10.21). */
import type { ProposedFeed } from '../../account/feed.ts';
import type { SenderCount, SenderStep, SenderStepRequest } from '../../ports/stored/rule-queries.ts';
import { ruleSource } from '../accounts/lists.ts';
import { actionCode, targetOf } from '../columns.ts';
import { textOrNull } from '../rows.ts';
import { all, type Work } from '../work.ts';

/** Limit for workspaces with very many small lists. */
const STEP_LISTS = 25;

/** A rule's batch has its last number; it may no longer be stored (D9.2). For a refresh the source is the sender. */
const COUNTED = `SELECT s.family, s.geo, s.counts, CASE WHEN b.first_seq IS NULL THEN 0 ELSE 1 END AS known, b.key_id,
    coalesce(k.name, k.prefix, 'source ' || o.name) AS key_name, count(*) AS rules, min(s.id) AS lowest FROM (
    SELECT r.id, r.seq, CASE WHEN r.v4 IS NOT NULL THEN 4 WHEN r.v6 IS NOT NULL THEN 6 END AS family,
      CASE WHEN r.v4 IS NULL AND r.v6 IS NULL THEN r.target END AS geo,
      CASE WHEN r.action = $5 AND (r.expires_at IS NULL OR r.expires_at > $6) THEN 1 ELSE 0 END AS counts,
      (SELECT max(x.first_seq) FROM batches x WHERE x.workspace_pk = $1 AND x.first_seq <= r.seq) AS first_seq
    FROM (SELECT * FROM access_rules WHERE list_pk = $2 AND id < $3 ORDER BY id DESC LIMIT $4) r
  ) s LEFT JOIN batches b ON b.workspace_pk = $1 AND b.first_seq = s.first_seq AND b.last_seq >= s.seq
    LEFT JOIN keys k ON k.id = b.key_id LEFT JOIN (SELECT z.id, l.name FROM sources z JOIN lists l ON l.pk = z.list_pk) o ON o.id = b.key_id
  GROUP BY s.family, s.geo, s.counts, known, b.key_id, key_name`;

export function* senderStep(
  workspaceId: string,
  feed: string | null | ProposedFeed,
  { action, at, after = { list: 0, below: Number.MAX_SAFE_INTEGER }, limit }: SenderStepRequest,
): Work<SenderStep> {
  const source = yield* ruleSource('0', workspaceId, feed);
  const lists = (source?.lists ?? []).filter(({ pk, isEmpty }) => pk >= after.list && !isEmpty).toSorted((a, b) => a.pk - b.pk);
  const counts: SenderCount[] = [];
  let left = limit;
  for (const [i, { pk, id, name }] of lists.entries()) {
    const below = pk === after.list ? after.below : Number.MAX_SAFE_INTEGER;
    if (left <= 0 || i === STEP_LISTS) return { counts, next: { list: pk, below } };
    const rows = yield* all(COUNTED, source!.workspacePk, pk, below, left, actionCode(action), at);
    let seen = 0;
    let lowest = below;
    for (const row of rows) {
      seen += Number(row.rules);
      lowest = Math.min(lowest, Number(row.lowest));
      if (Number(row.counts) === 0) continue;
      const target = row.geo === null ? null : targetOf(String(row.geo));
      counts.push({
        list: { id, name },
        sender:
          Number(row.known) === 0 ? undefined : row.key_id === null ? null : { id: String(row.key_id), name: textOrNull(row.key_name) },
        family: target === null ? (Number(row.family) as 4 | 6) : null,
        geo: target === null || target.kind === 'ip' ? null : target,
        rules: Number(row.rules),
      });
    }
    if (seen === left) return { counts, next: { list: pk, below: lowest } };
    left -= seen;
  }
  return { counts, next: null };
}
