/** Deleting lists and feeds: what goes with them is told first, and for seven days they come back (SPEC D15.50 to D15.52). */

import type { ComposedFeed } from '../account/feed.ts';
import type { AccessList } from '../account/list.ts';
import { goesWithSource } from '../account/managed-list.ts';
import { isoTime } from '../clock.ts';
import { WeirError } from '../errors.ts';
import { type Fields, listOf, nullable, Type } from '../json/schema.ts';
import type { StoreReads, StoreWrites } from '../ports/store.ts';
import { DELETED_KEPT, type DeletedFeed, type RestoredFeed } from '../ports/stored/account-store.ts';
import { plural } from '../text/count.ts';
import { inWords } from '../text/duration.ts';
import { type ChangeContext, changeOptions } from './context.ts';
import { LATELY_WORDS, RECENT_USES, type RecentUses, recentUses } from './devices/recent-use.ts';
import { findFeed, findList } from './find.ts';
import { requireRestorable, requireRevocable } from './keys/bounds.ts';

/** Rules of a list that are counted at most. */
const COUNTED = 100_000;

interface Named {
  readonly id: string;
  readonly name: string | null;
}

/** What is deleted with a list or feed. */
export interface DeletionPreview extends RecentUses {
  readonly kind: DeletedFeed['kind'];
  readonly id: string;
  readonly name: string;
  /** Active rules of a list, counted up to 100,000; 0 of a feed, whose lists stay. */
  readonly rules: number;
  /** Whether there are more rules than were counted. */
  readonly more_rules: boolean;
  /** The feeds made of lists that have the list, those of all lists included. */
  readonly feeds: readonly Named[];
  /** Keys that are bound to it: they are revoked with it. */
  readonly keys: readonly Named[];
  /** Whether anything goes with it, or anybody pulls it: then it is deleted only when that is confirmed. */
  readonly needs_confirmation: boolean;
}

const named = (id: string, name: string) => listOf({ id: [id, Type.String()], name: [name, nullable(Type.String())] });

/** `DeletionPreview` in API documents. */
export const DELETION_PREVIEW = {
  kind: ['list', Type.Enum(['list', 'composed'])],
  name: 'edge',
  rules: [1204, `Active rules that go with it, counted up to ${COUNTED}.`],
  more_rules: [false, 'Whether there are more than were counted.'],
  feeds: named('0195a3c0-0000-7000-8000-000000000003', 'perimeter'),
  keys: named('0195a3c0-0000-7000-8000-000000000002', 'edge firewall'),
  ...RECENT_USES,
  needs_confirmation: [true, 'Whether anything goes with it, or anybody pulls it: confirmed has to say that it is meant.'],
} as const satisfies Fields;

type Reads = Pick<StoreReads, 'findNamed' | 'feed' | 'feeds' | 'keys' | 'devices' | 'bouncerPage' | 'ping' | 'countListRules'>;

/** What would go with a list or feed. Rejects with NOT_FOUND, with REFUSED where it is not deleted by itself: a source's list is with that (`source`). */
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
    // A list without rules is no loss to a feed of all lists.
    needs_confirmation: rules + feeds.filter(({ lists }) => lists !== null).length + bound.length + uses.pulled.length > 0,
  };
}

/** How something is to be deleted. */
export interface DeleteRequest {
  /** What goes with it was seen, and is meant. */
  readonly confirmed?: boolean | undefined;
  readonly forGood?: boolean | undefined;
  /** Nothing is deleted. */
  readonly preview?: boolean | undefined;
}

/** What was deleted, or would be. */
export interface Deletion extends DeletionPreview {
  readonly deleted: boolean;
  /** Until when it can be brought back; null: it cannot. */
  readonly restorable_until: string | null;
}

/** Deletes a list or feed, and revokes the keys bound to it. Rejects with REFUSED where that has to be confirmed and is not. */
export async function deleteNamed(
  context: ChangeContext & { readonly store: StoreReads & StoreWrites },
  kind: DeletedFeed['kind'],
  ref: string,
  { confirmed = false, forGood = false, preview = false }: DeleteRequest,
): Promise<Deletion> {
  const { store, workspaceId } = context;
  const told = await deletionPreview(store, workspaceId, kind, ref);
  if (preview) return { ...told, deleted: false, restorable_until: null };
  await requireRevocable(context, told.keys);
  if (told.needs_confirmation && !confirmed)
    throw new WeirError('REFUSED', `${deletionSentence(told)}: with preview=1 it is told in full, with confirmed=1 it is done`);
  const options = { ...changeOptions(context), forGood };
  if (kind === 'list') await store.deleteList(workspaceId, told.id, options);
  else await store.deleteFeed(workspaceId, told.id, options);
  const kept = forGood ? undefined : (await store.deletedFeeds(workspaceId, await store.ping())).find(({ id }) => id === told.id);
  return { ...told, deleted: true, restorable_until: kept === undefined ? null : isoTime(kept.until) };
}

/** What goes with it, in one sentence. */
export function deletionSentence({ kind, name, rules, more_rules, feeds, keys, pulled, pulled_left_out }: DeletionPreview): string {
  const goes = [
    ...(rules > 0 ? [`${more_rules ? `more than ${rules} rules` : plural(rules, 'rule')}`] : []),
    ...(feeds.length > 0 ? [`a part of ${plural(feeds.length, 'feed')}`] : []),
    ...(keys.length > 0 ? [plural(keys.length, 'key')] : []),
    ...(pulled.length > 0 ? [`what ${plural(pulled.length + pulled_left_out, 'client')} pulled ${LATELY_WORDS}`] : []),
  ];
  const what = kind === 'list' ? 'list' : 'feed';
  return goes.length === 0 ? `the ${what} "${name}" goes` : `with the ${what} "${name}" goes ${goes.join(', ')}`;
}

/** Brings back the list or feed with this id or name that was deleted last. Rejects with NOT_FOUND, and with REFUSED where several had the name. */
export async function restoreNamed(
  context: ChangeContext,
  kind: DeletedFeed['kind'],
  ref: string,
  name: string | undefined,
): Promise<RestoredFeed> {
  const { store, workspaceId, maxLists, maxSources, by } = context;
  const deleted = (await store.deletedFeeds(workspaceId, await store.ping())).filter((each) => each.kind === kind);
  const found = deleted.filter(({ id }) => id === ref.toLowerCase());
  const meant = found.length > 0 ? found : deleted.filter((each) => each.name === ref);
  const what = kind === 'list' ? 'list' : 'feed';
  if (meant.length > 1)
    throw new WeirError(
      'REFUSED',
      `${meant.length} ${what}s called "${ref}" were deleted; use the id: ${meant.map(({ id }) => id).join(', ')}`,
    );
  if (meant.length === 0)
    throw new WeirError('NOT_FOUND', `no ${what} "${ref}" was deleted in the last ${inWords(DELETED_KEPT)}, or it was for good`);
  await requireRestorable(context, meant[0]!.id);
  return store.restoreDeleted(workspaceId, meant[0]!.id, { name, maxLists, maxSources }, { by });
}

/** What was deleted, as JSON has it. */
export const deletedJson = ({ kind, id, name, deletedAt, until, keys }: DeletedFeed) => ({
  kind,
  id,
  name,
  deleted_at: isoTime(deletedAt),
  restorable_until: isoTime(until),
  keys,
});
