/** Freezes feeds with canaries before a large change, for all other keys (SPEC D65). */
import type { Author } from '../../account/caller.ts';
import { isoTime } from '../../clock.ts';
import { type Canary, EXCEPTIONS_KEY } from '../../ports/snapshot.ts';
import type { FrozenContent } from '../../ports/stored/freeze-store.ts';
import { audit } from '../accounts/audit.ts';
import { haltCanary, insertFreeze, MOST_REASON, MOVED, moveRevision, TOUCH_LISTS } from '../accounts/freezes.ts';
import { feedIn } from '../accounts/frozen-feeds.ts';
import { keyOf, ruleSource } from '../accounts/lists.ts';
import { ACTIVE, COLUMNS, handOver } from '../changes-since.ts';
import { actionCode } from '../columns.ts';
import type { Row } from '../rows.ts';
import { FrozenRules } from '../rules/frozen-rules.ts';
import { all, run, type Work } from '../work.ts';
import { canaryFeeds, requireCanaryQuota } from './feeds.ts';

/** Rows per read. */
const PAGE = 5000;
const MINUTE = 60_000;
/** Default duration of a canary, minutes. */
export const CANARY_MINUTES = 10;

/** Feeds with canaries that are not frozen. */
export function* unfrozenCanaries(workspacePk: number): Work<Row[]> {
  const feeds = yield* canaryFeeds(workspacePk);
  if (feeds.length === 0) return [];
  const frozen = new Set((yield* all('SELECT feed FROM freezes WHERE workspace_pk = $1', workspacePk)).map(({ feed }) => feed));
  return feeds.filter(({ id }) => !frozen.has(id!));
}

/** Reads the feed in this transaction. */
function* contentNow(now: string, workspaceId: string, feedId: string | null): Work<{ content: FrozenContent; readAt: number }> {
  const { head, lists, workspacePk } = (yield* ruleSource(now, workspaceId, feedId))!;
  // No list is too large: landing would stop for all workspaces.
  const rules = new FrozenRules(Number.POSITIVE_INFINITY);
  function* take(condition: string, pk: number, isException: boolean): Work<void> {
    for (let last = -1; ; ) {
      const text = `SELECT ${COLUMNS} FROM access_rules WHERE ${condition} AND id > $2 AND ${ACTIVE} ORDER BY id LIMIT ${PAGE}`;
      const rows = yield* all(text, pk, last, head.readAt);
      for (const row of rows) handOver(row, rules, isException);
      if (rows.length < PAGE) return;
      last = Number(rows.at(-1)!.id);
    }
  }
  for (const { pk } of lists) {
    rules.list(keyOf(pk));
    yield* take('list_pk = $1', pk, false);
  }
  if (head.profile.subtractAllow === 'workspace') {
    rules.list(EXCEPTIONS_KEY);
    const own = '(SELECT pk FROM lists WHERE workspace_pk = $1)';
    yield* take(`list_pk IN ${own} AND action = ${actionCode('allow')}`, workspacePk, true);
  }
  return { content: rules.content(head, feedId), readAt: head.readAt };
}

/** A large change of a workspace. `overlap`: why nobody but the canaries may receive it before a person decides (SPEC D65.7). */
export interface Staged {
  readonly workspaceId: string;
  readonly workspacePk: number;
  readonly reason: string;
  readonly overlap?: string | undefined;
}

/** Comes before the change, in its transaction. */
export function* startCanaries(now: string, { workspaceId, workspacePk, reason, overlap }: Staged, by?: Author): Work<void> {
  yield* extendCanaries(now, { workspaceId, workspacePk, reason, overlap }, by);
  const feeds = yield* unfrozenCanaries(workspacePk);
  if (feeds.length === 0) return;
  yield* moveRevision(workspacePk);
  const keys = yield* all('SELECT id, name FROM keys WHERE workspace_pk = $1 AND revoked_at IS NULL', workspacePk);
  for (const row of feeds) {
    const named = new Set(
      String(row.canary_keys)
        .split(',')
        .map((word) => word.trim()),
    );
    const ids = keys.filter(({ id, name }) => named.has(String(id)) || named.has(String(name))).map(({ id }) => String(id));
    const feedId = String(row.id) || null;
    const { content, readAt } = yield* contentNow(now, workspaceId, feedId);
    const canary: Canary = { keys: ids, until: readAt + minutesOf(row) * MINUTE };
    yield* insertFreeze(now, workspacePk, content, reason, by, canary);
    const change = { before: null, after: { reason, until: new Date(canary.until!).toISOString(), keys: ids } };
    yield* audit(now, 'feed canary started', feedId ?? workspaceId, { workspacePk, by, change });
    if (overlap !== undefined) yield* haltCanary(now, { workspaceId, workspacePk, feedId }, overlap, by);
  }
  yield* run(TOUCH_LISTS, workspacePk);
}

const minutesOf = (row: Row | undefined) => Number(row?.canary_minutes ?? CANARY_MINUTES);

/** A change during a canary has the whole time, too (SPEC D65.8). */
function* extendCanaries(now: string, { workspaceId, workspacePk, reason, overlap }: Staged, by?: Author): Work<void> {
  const rows = yield* all('SELECT * FROM freezes WHERE workspace_pk = $1 AND until_at IS NOT NULL', workspacePk);
  if (rows.length === 0) return;
  yield* moveRevision(workspacePk);
  const feeds = yield* canaryFeeds(workspacePk);
  for (const row of rows) {
    const feedId = feedIn(row);
    if (overlap !== undefined) {
      yield* haltCanary(now, { workspaceId, workspacePk, feedId }, `${reason}: ${overlap}`, by);
      continue;
    }
    const time = minutesOf(feeds.find(({ id }) => id === row.feed)) * MINUTE;
    const text = `UPDATE freezes SET staged_at = ${now}, until_at = ${now} + $2, reason = $3, revision = ${MOVED}
      WHERE workspace_pk = $1 AND pk = $4 AND until_at <> ${now} + $2 RETURNING until_at`;
    const was = String(row.reason);
    const both = was.includes(reason) || was.length > MOST_REASON ? was : `${was}; ${reason}`;
    const [moved] = yield* all(text, workspacePk, time, both, Number(row.pk));
    if (moved === undefined) continue;
    const change = { before: { reason: was }, after: { reason, until: isoTime(Number(moved.until_at)) } };
    yield* audit(now, 'feed canary started', feedId ?? workspaceId, { workspacePk, by, change });
  }
  yield* run(TOUCH_LISTS, workspacePk);
}

/** Settings without effect on the content of a feed. */
const HARMLESS = new Set(['description', 'people', 'origins', 'repeat', 'canary_keys', 'canary_minutes']);

/** A change of settings that decide the content of feeds is large (SPEC D65.5). Comes before the change. */
export function* stageSettings(
  now: string,
  workspaceId: string,
  workspacePk: number,
  [before, patch]: readonly [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>],
  by?: Author,
): Work<void> {
  yield* requireCanaryQuota(workspacePk, patch.canaryKeys, before.canary_keys);
  const column = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/_([46])$/, '_$1');
  const changed = Object.entries(patch)
    .map(([name, value]) => [column(name), value] as const)
    .filter(([field, value]) => value !== undefined && JSON.stringify(value ?? null) !== JSON.stringify(before[field] ?? null))
    .map(([field]) => field)
    .filter((field) => !HARMLESS.has(field) && !/^(large|approval)/.test(field));
  if (changed.length > 0) yield* stage(now, { workspaceId, workspacePk, reason: `settings: ${changed.join(', ')}` }, by);
}

/** For a change that counts as large regardless of its size. */
export function* stage(now: string, staged: Staged, by?: Author): Work<void> {
  const [off] = yield* all("SELECT pk FROM workspaces WHERE pk = $1 AND large = 'none'", staged.workspacePk);
  if (off === undefined) yield* startCanaries(now, staged, by);
}
