/** An allow rule with the feeds that need `subtract_allow`, undone together (SPEC D54.10). */
import { allows } from '../../account/permission.ts';
import { hasCode, WeirError } from '../../errors.ts';
import { everyItem } from '../../ports/stored/paginate.ts';
import type { BatchInfo } from '../../ports/stored/rule-store.ts';
import type { ChangeCall } from '../../ports/stored/transaction-store.ts';
import type { ManageContext } from '../context.ts';
import { call } from '../file/kind.ts';

type Subtract = 'off' | 'on' | 'workspace';

/** A feed and its `subtract_allow`; null: unset. */
export interface FeedSetting {
  readonly kind: 'workspace' | 'list' | 'composed';
  readonly id: string | null;
  readonly name: string;
  readonly subtract_allow: Subtract | null;
}

/** Rejects with FORBIDDEN. */
export function requireManage({ permissions }: Pick<ManageContext, 'permissions'>): void {
  if (permissions !== null && !allows(permissions, 'manage'))
    throw new WeirError('FORBIDDEN', 'feed settings need the permission manage: allow it without feeds');
}

/** One transaction; audit rows have the batch as their act. Rejects with REFUSED if the settings change concurrently. */
export async function setFeeds({ store, workspaceId, by }: ManageContext, settings: readonly FeedSetting[], act: string): Promise<void> {
  if (settings.length === 0) return;
  const author = { ...by, act };
  const calls = settings.map(({ kind, id, subtract_allow: subtractAllow }): ChangeCall => {
    if (kind === 'workspace')
      return call('updateWorkspace', workspaceId, { subtractAllow: subtractAllow === 'on' ? 'on' : 'off' }, { by: author });
    return call(kind === 'list' ? 'updateList' : 'updateFeed', workspaceId, id!, { subtractAllow }, { by: author });
  });
  const state = await store.workspaceState(workspaceId);
  await store.changeInOneTransaction(workspaceId, state?.tag ?? '', calls, author).catch((error: unknown) => {
    throw hasCode(error, 'CHANGED') || hasCode(error, 'NOT_FOUND')
      ? new WeirError('REFUSED', 'the rule has changed, but the feeds were changed concurrently: set subtract_allow again')
      : error;
  });
}

const KINDS: Readonly<Record<string, FeedSetting['kind']>> = {
  'workspace changed': 'workspace',
  'list changed': 'list',
  'feed changed': 'composed',
};
const READ = 500;
const MOST_LOOKED = 10_000;

/** Before the act of a batch, of feeds whose settings are unchanged since. */
export async function settingsBefore(
  { store, workspaceId, pause }: ManageContext,
  { id, receivedAt, what }: Pick<BatchInfo, 'id' | 'receivedAt' | 'what'>,
): Promise<FeedSetting[]> {
  if (what !== 'sent' && what !== 'undone') return [];
  const found: FeedSetting[] = [];
  let looked = 0;
  for await (const row of everyItem((page) => store.auditPage(workspaceId, page), READ)) {
    looked += 1;
    if (looked % READ === 0) await pause();
    if (row.at < receivedAt || looked > MOST_LOOKED) break;
    const [kind, before, after] = [KINDS[row.event], row.change?.before?.subtract_allow, row.change?.after?.subtract_allow];
    if (row.by.act !== id || kind === undefined || after === undefined) continue;
    const now = await settingNow({ store, workspaceId }, kind, row.object);
    if (now !== undefined && now.subtract_allow === after) found.push({ ...now, subtract_allow: before as Subtract | null });
  }
  return found;
}

/** undefined: deleted. */
async function settingNow(
  { store, workspaceId }: Pick<ManageContext, 'store' | 'workspaceId'>,
  kind: FeedSetting['kind'],
  object: string,
): Promise<FeedSetting | undefined> {
  if (kind === 'workspace') {
    const workspace = await store.workspace(workspaceId);
    return workspace && { kind, id: null, name: workspace.name, subtract_allow: workspace.subtractAllow };
  }
  const found = await store.findNamed(workspaceId, object);
  const thing = kind === 'list' ? found?.lists[0] : found?.feeds[0] && (await store.feed(workspaceId, found.feeds[0].id));
  return thing && { kind, id: thing.id, name: thing.name, subtract_allow: thing.subtractAllow };
}
