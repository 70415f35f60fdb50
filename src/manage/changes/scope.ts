/** SPEC D32.1, D32.4. */

import { STORED_RUNS } from '../../account/source-run.ts';
import { isoTime } from '../../clock.ts';
import type { StoreReads } from '../../ports/store.ts';
import { AUDIT_RETENTION, type AuditRow, RULE_RETENTION } from '../../ports/stored/account-store.ts';
import type { RuleChangeSum } from '../../ports/stored/changes.ts';
import { anyFeedId, findList } from '../find.ts';

export interface Scope {
  hasRules(sum: RuleChangeSum): boolean;
  hasRow(row: AuditRow): boolean;
  hasList(listId: string): boolean;
}

type ScopeStore = Pick<StoreReads, 'findNamed' | 'feedScope' | 'directory'>;

/** null: the whole workspace. Rejects like `findList`. */
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
      // The workspace's guard rails apply to every feed.
      if (event === 'workspace changed') return true;
      if (objects.has(object) || (lists === null && /^lists? /.test(event))) return true;
      const text = change === null ? '' : JSON.stringify(change);
      return named.some((each) => text.includes(each));
    },
  };
}

type HistoryStore = Pick<StoreReads, 'historyStart' | 'workspace' | 'usedBytesOf' | 'allRuns'>;

/** At most `since` if nothing was lost since the workspace was created (ms). `quota`: bytes; 0 = no limit. */
export async function knownSince(
  store: HistoryStore,
  workspaceId: string,
  { now, since, quota, withAudit }: { readonly now: number; readonly since: number; readonly quota: number; readonly withAudit: boolean },
) {
  const [oldest, workspace, used, runs] = await Promise.all([
    store.historyStart(workspaceId),
    store.workspace(workspaceId),
    store.usedBytesOf(workspaceId),
    store.allRuns(workspaceId),
  ]);
  const known = (from: number) => isoTime(from <= (workspace?.createdAt ?? 0) ? Math.min(from, since) : from)!;
  // Above half of its quota the log keeps only seven days, and stays large for a while.
  const isShortened = quota > 0 && used.audit > quota / 4;
  const full = [...Map.groupBy(runs, ({ sourceId }) => sourceId).values()].filter((own) => own.length >= STORED_RUNS);
  return {
    rules: known(Math.max(now - RULE_RETENTION, oldest.rules)),
    settings: withAudit ? known(Math.max(now - AUDIT_RETENTION, isShortened ? (oldest.oldestAudit ?? 0) : 0)) : null,
    refreshes: known(Math.max(0, ...full.map((own) => Math.min(...own.map(({ run: { at } }) => at))))),
  };
}
