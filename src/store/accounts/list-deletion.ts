/** Deletes a list, alone or with its source (SPEC D15.50 to D15.52). */
import type { Author } from '../../account/caller.ts';
import { WAY_BACK } from '../../account/large.ts';
import { listState } from '../../account/list.ts';
import { stage } from '../canary/start.ts';
import { listOf, type Row } from '../rows.ts';
import { forgetRepeats } from '../rules/repeats.ts';
import { one, run, type Work } from '../work.ts';
import { revokeKeys } from './access/revoke-keys.ts';
import { audit } from './audit.ts';
import { keepDeleted } from './deleted.ts';
import { forgetMember } from './feed-lists.ts';
import { forgetFreeze } from './freezes.ts';

interface Deletion {
  readonly workspaceId: string;
  readonly workspacePk: number;
  readonly list: Row;
  readonly source?: object;
  readonly forGood: boolean;
  readonly by: Author | undefined;
}

/** Also from its feeds, and revokes its keys. */
export function* removeList(now: string, { workspaceId, workspacePk, list, source, forGood, by }: Deletion): Work<void> {
  const [pk, id] = [Number(list.pk), String(list.id)];
  const old = yield* one(`SELECT id FROM access_rules WHERE list_pk = $1 AND created_at < ${now} - ${WAY_BACK} LIMIT 1`, pk);
  if (old !== undefined) yield* stage(now, { workspaceId, workspacePk, reason: `the list ${String(list.name)} is deleted` }, by);
  yield* keepDeleted(now, workspacePk, 'lists', { ...list, ...(source !== undefined && { source }) }, forGood);
  yield* run('DELETE FROM lists WHERE pk = $1', pk);
  yield* forgetRepeats(pk);
  yield* forgetFreeze(workspacePk, id);
  yield* forgetMember(pk, Number(list.revision));
  yield* revokeKeys(now, 'list_id', id, { workspacePk, by });
  const before = listState(listOf(list, workspaceId));
  yield* audit(now, 'list deleted', id, { workspacePk, by, change: { before, after: null } });
}
