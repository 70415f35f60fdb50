/** `weir feed diff`, `GET /v1/manage/difference`: what both ask and answer (SPEC D32.6). */
import { isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { DifferenceAsked, FeedDiffer } from '../../feed/whatif/difference/difference.ts';
import type { StoreReads } from '../../ports/store.ts';
import { auditNames } from '../audit-json.ts';
import { anyFeedId } from '../find.ts';
import { fieldFault } from '../operation.ts';
import { auditEntry } from './entry.ts';
import { RULES_KEPT, type Scope, scopeOf } from './scope.ts';

type Asked = Omit<DifferenceAsked, 'feedId'> & { readonly feed?: string | undefined };

/** Changes of settings that are told. */
const MOST_SETTINGS = 20;
const SETTINGS = /^((list|feed|workspace) changed|(list|feed)s? (deleted|restored)|source (changed|deleted))$/;

/** Rejects with NOT_FOUND for an unknown feed, and with REFUSED where what it had is not known any more. */
export async function differenceJson(store: StoreReads, differ: FeedDiffer, workspaceId: string, asked: Asked, now: number) {
  const { feed, since, until } = asked;
  if (since >= until) throw fieldFault('since', 'must be before until');
  const known = Math.max(now - RULES_KEPT, await store.rulesKnownSince(workspaceId));
  if (since < known)
    throw new WeirError('REFUSED', `what the feed had then is not known any more: changes of rules are kept since ${isoTime(known)}`);
  const feedId = feed === undefined ? null : await anyFeedId(store, workspaceId, feed);
  const { family, action, before, after, added, removed } = await differ(workspaceId, {
    ...{ feedId, since, until, limit: asked.limit },
    ...{ family: asked.family, action: asked.action },
  });
  const scope = await scopeOf(store, workspaceId, { feed });
  const told = (at: typeof before) => ({ entries: at.entries, over_cap: at.overCap });
  return {
    ...{ since: isoTime(since), until: isoTime(until), family, action },
    ...{ before: told(before), after: told(after) },
    ...{ added: added.count, removed: removed.count, added_networks: added.first, removed_networks: removed.first },
    settings_changed: await settingsChanged(store, workspaceId, scope, since),
  };
}

export type DifferenceJson = Awaited<ReturnType<typeof differenceJson>>;

/** What was set of the feed, its lists and the workspace since then: the comparison goes by what is set now. */
async function settingsChanged(store: StoreReads, workspaceId: string, scope: Scope | null, since: number) {
  const rows = await store.auditBetween(workspaceId, { from: since, before: { at: Number.MAX_SAFE_INTEGER, id: 0 } }, 1000);
  const found = rows.filter((row) => SETTINGS.test(row.event) && (scope?.hasRow(row) ?? true)).slice(0, MOST_SETTINGS);
  const names = await auditNames(store, workspaceId);
  return found.map((row) => {
    const { at, event, name } = auditEntry(row, 'settings', names).json;
    return { at, event, name };
  });
}
