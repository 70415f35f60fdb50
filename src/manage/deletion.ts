/** SPEC D15.50 to D15.52. */

import type { ComposedFeed } from '../account/feed.ts';
import type { AccessList } from '../account/list.ts';
import { goesWithSource } from '../account/managed-list.ts';
import { isoTime } from '../clock.ts';
import { WeirError } from '../errors.ts';
import { type Fields, listOf, nullable, Type } from '../json/schema.ts';
import type { StoreReads, StoreWrites } from '../ports/store.ts';
import { type DeletedFeed, RESTORE_PERIOD, type RestoredFeed } from '../ports/stored/account-store.ts';
import { plural } from '../text/count.ts';
import { inWords } from '../text/duration.ts';
import { type ChangeContext, changeOptions } from './context.ts';
import { RECENT_USES, RECENTLY_WORDS, type RecentUses, recentUses } from './devices/recent-use.ts';
import { findFeed, findList } from './find.ts';
import { requireRestorable, requireRevocable } from './keys/bounds.ts';

const COUNTED = 100_000;

interface Named {
  readonly id: string;
  readonly name: string | null;
}

export interface DeletionPreview extends RecentUses {
  readonly kind: DeletedFeed['kind'];
  readonly id: string;
  readonly name: string;
  /** Counted up to 100,000; 0 for a feed, whose lists stay. */
  readonly rules: number;
  readonly more_rules: boolean;
  /** Including feeds of all lists. */
  readonly feeds: readonly Named[];
  readonly keys: readonly Named[];
  readonly needs_confirmation: boolean;
}

const named = (id: string, name: string) => listOf({ id: [id, Type.String()], name: [name, nullable(Type.String())] });

export const DELETION_PREVIEW = {
  kind: ['list', Type.Enum(['list', 'composed'])],
  name: 'edge',
  rules: [1204, `Active rules that are deleted with it, counted up to ${COUNTED}.`],
  more_rules: [false, 'Whether there are more rules than counted.'],
  feeds: named('0195a3c0-0000-7000-8000-000000000003', 'perimeter'),
  keys: named('0195a3c0-0000-7000-8000-000000000002', 'edge firewall'),
  ...RECENT_USES,
  needs_confirmation: [true, 'Whether the deletion affects rules, feeds, keys or clients; then it needs confirmed=1.'],
} as const satisfies Fields;

type Reads = Pick<StoreReads, 'findNamed' | 'feed' | 'feeds' | 'keys' | 'devices' | 'bouncerPage' | 'ping' | 'countListRules'>;

/** Rejects with NOT_FOUND, and with REFUSED for the list of a source unless `kind` is `source`. */
export async function deletionPreview(
  store: Reads,
  workspaceId: string,
  kind: DeletedFeed['kind'] | 'source',
  ref: string,
): Promise<DeletionPreview> {
  if (kind === 'source') return previewOf(store, workspaceId, 'list', await findList(store, workspaceId, ref));
  const found = kind === 'list' ? await findList(store, workspaceId, ref) : await findFeed(store, workspaceId, ref);
  if ('sourceId' in found && found.sourceId !== null) throw new WeirError('REFUSED', goesWithSource(found.name));
  return previewOf(store, workspaceId, kind, found);
}

async function previewOf(
  store: Reads,
  workspaceId: string,
  kind: DeletedFeed['kind'],
  { id, name, ...found }: AccessList | ComposedFeed,
): Promise<DeletionPreview> {
  if ('isDefault' in found && found.isDefault) throw new WeirError('REFUSED', 'the default list of a workspace cannot be deleted');
  const all = await store.keys(workspaceId);
  const bound = all.filter((key) => key.revokedAt === null && (key.listId === id || key.feedId === id));
  const keyNames = new Map(all.map((key) => [key.id, key.name ?? key.prefix]));
  const uses = await recentUses(store, workspaceId, { keyIds: new Set(bound.map((key) => key.id)), feedId: id }, keyNames);
  const rules = kind === 'list' ? await store.countListRules(workspaceId, id, COUNTED + 1) : 0;
  const feeds = kind === 'list' ? (await store.feeds(workspaceId)).filter(({ lists }) => lists === null || lists.includes(id)) : [];
  return {
    kind,
    id,
    name,
    rules: Math.min(rules, COUNTED),
    more_rules: rules > COUNTED,
    feeds: feeds.map((feed) => ({ id: feed.id, name: feed.name })),
    keys: bound.map((key) => ({ id: key.id, name: keyNames.get(key.id) ?? null })),
    ...uses,
    // An empty list makes no difference to a feed of all lists.
    needs_confirmation: rules + feeds.filter(({ lists }) => lists !== null).length + bound.length + uses.pulled.length > 0,
  };
}

export interface DeleteRequest {
  readonly confirmed?: boolean | undefined;
  readonly forGood?: boolean | undefined;
  readonly preview?: boolean | undefined;
}

export interface Deletion extends DeletionPreview {
  readonly deleted: boolean;
  /** null: it cannot be restored. */
  readonly restorable_until: string | null;
}

/** Rejects with REFUSED without a required confirmation. */
export async function deleteNamed(
  context: ChangeContext & { readonly store: StoreReads & StoreWrites },
  kind: DeletedFeed['kind'],
  ref: string,
  { confirmed = false, forGood = false, preview = false }: DeleteRequest,
): Promise<Deletion> {
  const { store, workspaceId } = context;
  const effects = await deletionPreview(store, workspaceId, kind, ref);
  if (preview) return { ...effects, deleted: false, restorable_until: null };
  await requireRevocable(context, effects.keys);
  if (effects.needs_confirmation && !confirmed)
    throw new WeirError('REFUSED', `${deletionSentence(effects)}: see the details with preview=1, delete with confirmed=1`);
  const options = { ...changeOptions(context), forGood };
  if (kind === 'list') await store.deleteList(workspaceId, effects.id, options);
  else await store.deleteFeed(workspaceId, effects.id, options);
  const deleted = forGood ? undefined : (await store.deletedFeeds(workspaceId, await store.ping())).find(({ id }) => id === effects.id);
  return { ...effects, deleted: true, restorable_until: deleted === undefined ? null : isoTime(deleted.until) };
}

export function deletionSentence({ kind, name, rules, more_rules, feeds, keys, pulled, pulled_left_out }: DeletionPreview): string {
  const effects = [
    ...(rules > 0 ? [`deletes ${more_rules ? `more than ${rules} rules` : plural(rules, 'rule')}`] : []),
    ...(feeds.length > 0 ? [`changes ${plural(feeds.length, 'feed')}`] : []),
    ...(keys.length > 0 ? [`revokes ${plural(keys.length, 'key')}`] : []),
    ...(pulled.length > 0 ? [`affects ${plural(pulled.length + pulled_left_out, 'client')} that fetched it ${RECENTLY_WORDS}`] : []),
  ];
  const what = kind === 'list' ? 'list' : 'feed';
  return effects.length === 0
    ? `deleting the ${what} "${name}" affects nothing else`
    : `deleting the ${what} "${name}" also ${effects.join(', ')}`;
}

/** By id or last name. Rejects with NOT_FOUND, and with REFUSED if several had the name. */
export async function restoreNamed(
  context: ChangeContext,
  kind: DeletedFeed['kind'],
  ref: string,
  name: string | undefined,
): Promise<RestoredFeed> {
  const { store, workspaceId, maxLists, maxSources, by } = context;
  const deleted = (await store.deletedFeeds(workspaceId, await store.ping())).filter((each) => each.kind === kind);
  const found = deleted.filter(({ id }) => id === ref.toLowerCase());
  const matching = found.length > 0 ? found : deleted.filter((each) => each.name === ref);
  const what = kind === 'list' ? 'list' : 'feed';
  if (matching.length > 1)
    throw new WeirError(
      'REFUSED',
      `${matching.length} ${what}s called "${ref}" were deleted; use the id: ${matching.map(({ id }) => id).join(', ')}`,
    );
  if (matching.length === 0)
    throw new WeirError('NOT_FOUND', `no ${what} "${ref}" was deleted in the last ${inWords(RESTORE_PERIOD)}, or it was deleted for good`);
  await requireRestorable(context, matching[0]!.id);
  return store.restoreDeleted(workspaceId, matching[0]!.id, { name, maxLists, maxSources }, { by });
}

export const deletedJson = ({ kind, id, name, deletedAt, until, keys }: DeletedFeed) => ({
  kind,
  id,
  name,
  deleted_at: isoTime(deletedAt),
  restorable_until: isoTime(until),
  keys,
});
