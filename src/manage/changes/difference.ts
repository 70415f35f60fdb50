/** SPEC D32.6. */
import { isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { DifferenceAsked, FeedDiffer } from '../../feed/whatif/difference/difference.ts';
import type { Replaced } from '../../feed/whatif/difference/settings-then.ts';
import type { StoreReads } from '../../ports/store.ts';
import { type AuditRow, RULE_RETENTION } from '../../ports/stored/account-store.ts';
import { auditNames } from '../audit.ts';
import { anyFeedId } from '../find.ts';
import type { PastReader } from '../lookup/past.ts';
import { fieldFault } from '../operation.ts';
import { frozenSince } from '../operations/freezes.ts';
import { auditEntry } from './entry.ts';
import { type Scope, scopeOf } from './scope.ts';

type Asked = Omit<DifferenceAsked, 'feedId' | 'replaced'> & { readonly feed?: string | undefined };

const MOST_SETTINGS = 20;
const SETTINGS = /^((list|feed|workspace) changed|(list|feed)s? (deleted|restored)|list created|source (changed|deleted))$/;
/** Audit rows per read, and in all. */
const ROWS = 1000;
const MOST_ROWS = 20 * ROWS;

/** Rejects with NOT_FOUND, and with REFUSED if the former content is unknown. */
export async function differenceJson(
  store: StoreReads,
  { difference, past }: { readonly difference: FeedDiffer; readonly past?: PastReader | undefined },
  workspaceId: string,
  asked: Asked,
  now: number,
) {
  const { feed, since, until } = asked;
  if (since >= until) throw fieldFault('since', 'must be before until');
  const known = Math.max(now - RULE_RETENTION, await store.rulesKnownSince(workspaceId));
  const archive = since < known ? past : undefined;
  if (since < known && archive === undefined)
    throw new WeirError('REFUSED', `the feed's content at that time is no longer known: rule changes are stored since ${isoTime(known)}`);
  const feedId = feed === undefined ? null : await anyFeedId(store, workspaceId, feed);
  const scope = await scopeOf(store, workspaceId, { feed });
  const rows = await settingRows(store, workspaceId, scope, since, archive && MOST_SETTINGS);
  const about = { feedId, since, until, limit: asked.limit, family: asked.family, action: asked.action };
  const found =
    archive === undefined
      ? {
          ...(await difference(workspaceId, { ...about, replaced: replacedBy(rows, feedId, workspaceId) })),
          frozenSince: (await frozenSince(store, workspaceId)).get(feedId) ?? null,
        }
      : await archive.difference({ ...about, workspaceId });
  const { family, action, before, after, added, removed } = found;
  const sizeJson = (at: typeof before) => ({ entries: at.entries, over_cap: at.overCap });
  return {
    ...{ since: isoTime(since), until: isoTime(until), family, action },
    ...{ before: sizeJson(before), after: sizeJson(after) },
    ...{ added: added.count, removed: removed.count, added_networks: added.first, removed_networks: removed.first },
    frozen_since: found.frozenSince,
    settings_changed: await settingsChanged(
      store,
      workspaceId,
      rows.filter(({ event }) => event !== 'list created').slice(0, MOST_SETTINGS),
    ),
  };
}

export type DifferenceJson = Awaited<ReturnType<typeof differenceJson>>;

/** Newest first. `enough` rows: those that the audit log has; undefined: all. */
async function settingRows(
  store: StoreReads,
  workspaceId: string,
  scope: Scope | null,
  since: number,
  enough?: number,
): Promise<AuditRow[]> {
  const found: AuditRow[] = [];
  let before = { at: Number.MAX_SAFE_INTEGER, id: 0 };
  for (let read = 0; read < MOST_ROWS; read += ROWS) {
    const rows = await store.auditBetween(workspaceId, { from: since, before }, ROWS);
    found.push(...rows.filter((row) => SETTINGS.test(row.event) && (scope?.hasRow(row) ?? true)));
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS || found.length >= (enough ?? Number.POSITIVE_INFINITY)) return found;
    before = last;
  }
  if (enough !== undefined) return found;
  throw new WeirError('REFUSED', `more than ${MOST_ROWS} changes in the audit log since then: choose a later time`);
}

/** Rejects with REFUSED for a change that cannot be reversed. */
function replacedBy(rows: readonly AuditRow[], feedId: string | null, workspaceId: string): Replaced[] {
  return rows.flatMap(({ at, event, object, change }): Replaced[] => {
    const isOfFeed = object === feedId;
    const before = change?.before ?? undefined;
    const isOfHosts = event === 'list changed' && before !== undefined && ('widen_v4' in before || 'widen_v6' in before);
    if (isOfHosts && !isOfFeed) return [{ at, of: 'hosts', id: object, before }];
    if (/^(list|feed) changed$/.test(event) && !isOfFeed) return [];
    if (/^feed/.test(event) && event !== 'feed changed') return [];
    if (/^list (created|deleted|restored)$/.test(event)) return [{ at, of: 'list', id: object, wasThere: event === 'list deleted' }];
    if (event === 'source changed' && before !== undefined && !('copies' in before)) return [];
    if (before === undefined || !/^(list|feed|workspace) changed$/.test(event))
      throw new WeirError(
        'REFUSED',
        `the feed's content at that time cannot be reconstructed, because the feed was changed: ${event} at ${isoTime(at)}; choose a time after that`,
      );
    return [{ at, of: object === workspaceId ? 'workspace' : 'feed', before }];
  });
}

async function settingsChanged(store: StoreReads, workspaceId: string, rows: readonly AuditRow[]) {
  const names = await auditNames(store, workspaceId);
  return rows.map((row) => {
    const { at, event, name } = auditEntry(row, 'settings', names).json;
    return { at, event, name };
  });
}
