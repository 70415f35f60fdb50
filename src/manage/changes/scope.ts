/** What of a workspace's changes concerns one list or feed (SPEC D32.1), and how far back they are known (D32.4). */

import { RUNS_KEPT } from '../../account/source-run.ts';
import { isoTime } from '../../clock.ts';
import type { StoreReads } from '../../ports/store.ts';
import { AUDIT_KEPT, type AuditRow, RULES_KEPT } from '../../ports/stored/account-store.ts';
import type { RuleChangeSum } from '../../ports/stored/changes.ts';
import { anyFeedId, findList } from '../find.ts';

export interface Scope {
  hasRules(sum: RuleChangeSum): boolean;
  hasRow(row: AuditRow): boolean;
  hasList(listId: string): boolean;
}

type ScopeStore = Pick<StoreReads, 'findNamed' | 'feedScope' | 'directory'>;

/** The scope of a list or of a feed by name or UUID; null: the whole workspace. Rejects as `findList` and `anyFeedId` do. */
export async function scopeOf(
  store: ScopeStore,
  workspaceId: string,
  { feed, list }: { readonly feed?: string | undefined; readonly list?: string | undefined },
): Promise<Scope | null> {
  if (list !== undefined) return scope(store, workspaceId, (await findList(store, workspaceId, list)).id);
  return feed === undefined ? null : scope(store, workspaceId, await anyFeedId(store, workspaceId, feed));
}

async function scope(store: ScopeStore, workspaceId: string, id: string): Promise<Scope> {
  const known = (await store.directory(workspaceId))?.lists ?? [];
  const members = known.some((list) => list.id === id) ? [id] : await store.feedScope(workspaceId, id);
  const lists = members && new Set(members);
  const hasList = (listId: string) => lists === null || lists.has(listId);
  const sources = known.flatMap((list) => (hasList(list.id) && list.sourceId !== null ? [list.sourceId] : []));
  const objects = new Set([id, ...(members ?? []), ...sources]);
  const named = [id, ...(members ?? [])];
  return {
    hasRules: ({ list }) => list !== null && hasList(list.id),
    hasList,
    hasRow({ object, event, change }) {
      // Its guard rails are those of every feed.
      if (event === 'workspace changed') return true;
      if (objects.has(object) || (lists === null && /^lists? /.test(event))) return true;
      const text = change === null ? '' : JSON.stringify(change);
      return named.some((each) => text.includes(each));
    },
  };
}

type KeptStore = Pick<StoreReads, 'changesKept' | 'workspace' | 'usedBytesOf' | 'allRuns'>;

/**
 * Since when all is known, by what it is told from; where nothing was lost since the workspace was made, `since` at the latest (all ms).
 * `room`: bytes that the audit log may take; 0 = no limit.
 */
export async function knownSince(
  store: KeptStore,
  workspaceId: string,
  { now, since, room, withAudit }: { readonly now: number; readonly since: number; readonly room: number; readonly withAudit: boolean },
) {
  const [kept, workspace, taken, runs] = await Promise.all([
    store.changesKept(workspaceId),
    store.workspace(workspaceId),
    store.usedBytesOf(workspaceId),
    store.allRuns(workspaceId),
  ]);
  const known = (from: number) => isoTime(from <= (workspace?.createdAt ?? 0) ? Math.min(from, since) : from)!;
  // From half of its room on the log keeps seven days; what that left behind is as large still for a good while.
  const isShortened = room > 0 && taken.audit > room / 4;
  const full = [...Map.groupBy(runs, ({ sourceId }) => sourceId).values()].filter((own) => own.length >= RUNS_KEPT);
  return {
    rules: known(Math.max(now - RULES_KEPT, kept.rules)),
    settings: withAudit ? known(Math.max(now - AUDIT_KEPT, isShortened ? (kept.oldestAudit ?? 0) : 0)) : null,
    refreshes: known(Math.max(0, ...full.map((own) => Math.min(...own.map(({ run: { at } }) => at))))),
  };
}
