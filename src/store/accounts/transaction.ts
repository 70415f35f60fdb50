/** Several changes in one transaction, for one expected state (SPEC D28.4). */
import { feedState } from '../../account/feed.ts';
import { keyState } from '../../account/key.ts';
import { listState } from '../../account/list.ts';
import { sourceSettingsJson } from '../../account/source-change.ts';
import { stateTag } from '../../account/tag.ts';
import { webhookState } from '../../account/webhook.ts';
import { workspaceSettingsJson } from '../../account/workspace.ts';
import { WeirError } from '../../errors.ts';
import type { TransactionWrites, WorkspaceState } from '../../ports/stored/transaction-store.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import { keyOf, listOf, workspaceOf } from '../rows.ts';
import { all, type Changes, one, together, type Work } from '../work.ts';
import { changeWorkspace } from './account-statements.ts';
import { WORKSPACES } from './account-tables.ts';
import { audit } from './audit.ts';
import { composedFeeds, feedChanges } from './feeds.ts';
import { accountChanges } from './management.ts';
import { sealedSources, sourceChanges } from './sources.ts';
import { sealedWebhooks, webhookChanges } from './webhooks.ts';

const LISTS = `SELECT * FROM lists WHERE workspace_pk = ${WORKSPACE_PK} ORDER BY pk`;
const KEYS = `SELECT * FROM keys WHERE workspace_pk = ${WORKSPACE_PK} ORDER BY created_at, id`;

export function* workspaceState(workspaceId: string): Work<WorkspaceState | undefined> {
  const row = yield* one(`${WORKSPACES} WHERE w.id = $1`, workspaceId);
  if (row === undefined) return undefined;
  const state = {
    workspace: workspaceOf(row),
    lists: (yield* all(LISTS, workspaceId)).map((list) => listOf(list, workspaceId)),
    feeds: yield* composedFeeds(workspaceId),
    keys: (yield* all(KEYS, workspaceId)).map((key) => keyOf(key, workspaceId)),
    sources: yield* sealedSources(workspaceId),
    webhooks: yield* sealedWebhooks(workspaceId),
  };
  return { ...state, tag: tagOf(state) };
}

/** Excludes rules, key usage and refreshes. */
const tagOf = ({ workspace, lists, feeds, keys, sources, webhooks }: Omit<WorkspaceState, 'tag'>): string =>
  stateTag([
    workspaceSettingsJson(workspace),
    lists.map((list) => [list.id, list.isDefault, list.sourceId, listState(list)]),
    feeds.map((feed) => [feed.id, feedState(feed)]),
    keys.map((key) => [key.id, keyState(key), key.permissions, key.listId, key.feedId, key.expiresAt, key.revokedAt]),
    sources.map(({ source, secret }) => [[source.id, source.isPaused, sourceSettingsJson(source)], sealedText(secret)]),
    webhooks.map((webhook) => [webhook.id, webhookState(webhook), sealedText(webhook.secret)]),
  ]);

const sealedText = (secret: Uint8Array | null) => secret && Buffer.from(secret).toString('base64');

const CHANGES = { ...accountChanges, ...feedChanges, ...sourceChanges, ...webhookChanges };
type Called = (now: string, ...args: unknown[]) => Work<unknown>;

export const togetherChanges = {
  changeInOneTransaction: (now, workspaceId, tag, calls, by) => together(changes(now, workspaceId, tag, calls, by)),
} satisfies Changes<TransactionWrites>;

function* changes(now: string, ...[workspaceId, tag, calls, by]: Parameters<TransactionWrites['changeInOneTransaction']>): Work<void> {
  // Locks the workspace: the state cannot change before the commit.
  const workspacePk = yield* changeWorkspace(workspaceId);
  if ((yield* workspaceState(workspaceId))?.tag !== tag)
    throw new WeirError('CHANGED', 'the settings of the workspace have changed meanwhile: read them again');
  for (const { call, args } of calls) yield* (CHANGES[call] as Called)(now, ...args);
  yield* audit(now, 'settings applied', by.act, { workspacePk, by, change: { before: null, after: { changes: calls.length } } });
}
