/** SPEC D23. */
import { randomUUID } from 'node:crypto';
import { NO_SETTINGS } from '../../account/list.ts';
import type { Source } from '../../account/source.ts';
import type { SourcePatch } from '../../account/source-change.ts';
import { isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import type { SourceRecord } from '../../ports/stored/source-store.ts';
import type { FieldFault } from '../../signal/validate.ts';
import { findCatalogue } from '../../source/catalogue.ts';
import type { CatalogueRow } from '../../source/catalogue-row.ts';
import { type ChangeContext, changeOptions, type ManagePorts } from '../context.ts';
import { type DeleteRequest, type Deletion, deletionPreview, deletionSentence } from '../deletion.ts';
import { requireRevocable } from '../keys/bounds.ts';
import { fieldFault, fieldFaults } from '../operation.ts';
import { encryptedSourceSecret, type GivenSecret } from './source-secret.ts';
import { changedSettings, type GivenSettings, newSettings, type OpenSettings, settingsFaults } from './source-settings.ts';

type SourceChange = ChangeContext & Pick<ManagePorts, 'secretKeys' | 'sourceReach'>;

/** Also by the id of its list. Rejects with NOT_FOUND. */
export async function findSource(store: Pick<StoreReads, 'findNamed' | 'source'>, workspaceId: string, ref: string): Promise<SourceRecord> {
  const lists = (await store.findNamed(workspaceId, ref))?.lists ?? [];
  const id = lists.find(({ sourceId }) => sourceId !== null)?.sourceId ?? ref.toLowerCase();
  const found = lists.length === 0 || lists.some(({ sourceId }) => sourceId !== null) ? await store.source(workspaceId, id) : undefined;
  if (found !== undefined) return found;
  const [list] = lists;
  throw new WeirError('NOT_FOUND', list === undefined ? `there is no source "${ref}"` : `the list "${list.name}" has no source`);
}

export type WantedSource = GivenSettings & GivenSecret;

/** Needs a URL or a catalogue entry. */
type WantedNew<T> = Omit<T, 'url'> & { readonly name?: string | undefined; readonly url?: string | undefined };

/** The catalogue's values are defaults. Rejects with USAGE. */
export function newSource({ name: given, ...settings }: WantedNew<GivenSettings>): OpenSettings & { readonly name: string } {
  const row = settings.catalogue == null ? undefined : catalogueRow(settings.catalogue);
  const name = given ?? row?.name;
  const url = settings.url ?? row?.url;
  const missing = Object.entries({ name, url }).flatMap(([field, value]) =>
    value === undefined ? [{ field, message: 'is required' }] : [],
  );
  refuse(missing);
  return { name: name!, ...newSettings({ ...fromCatalogue(row, settings), url: url! }) };
}

/** Rejects with USAGE, and with REFUSED at a limit. */
export async function createSource(context: SourceChange, wanted: WantedNew<WantedSource>): Promise<SourceRecord> {
  const { store, workspaceId, maxLists, maxSources, secretKeys } = context;
  const { auth, authHeader, secret, ...settings } = wanted;
  const { name, ...merged } = newSource(settings);
  refuse(settingsFaults(merged, context.sourceReach));
  const id = randomUUID();
  const kept = encryptedSourceSecret(secretKeys, { id, url: merged.url }, { auth, authHeader, secret }) ?? {
    credential: null,
    secret: null,
  };
  return store.createSource(
    workspaceId,
    { ...merged, ...kept, id, name, list: NO_SETTINGS },
    { maxSources, maxLists },
    changeOptions(context),
  );
}

function catalogueRow(name: string): CatalogueRow {
  const row = findCatalogue(name);
  if (row === undefined) throw fieldFault('catalogue', `has no "${name}"; see weir source catalogue`);
  return row;
}

function fromCatalogue(row: CatalogueRow | undefined, given: GivenSettings): GivenSettings {
  if (row === undefined) return given;
  const { purpose, every, paths = [], condition = null, mayBeEmpty = false, minPrefixV4, minPrefixV6 } = row;
  return {
    purpose,
    every,
    ...given,
    reading: { paths, condition, ...given.reading },
    guards: { mayBeEmpty, minPrefixV4, minPrefixV6, ...given.guards },
  };
}

function refuse([first, ...others]: readonly FieldFault[]): void {
  if (first !== undefined) throw fieldFaults([first, ...others]);
}

/** Absent fields stay. */
export async function changeSource(context: SourceChange, ref: string, wanted: WantedSource): Promise<SourceRecord> {
  const { store, workspaceId, secretKeys } = context;
  const { auth, authHeader, secret, ...given } = wanted;
  const { source } = await findSource(store, workspaceId, ref);
  const settings = changedSettings(settingsOf(source), given);
  refuse(settingsFaults(settings, context.sourceReach));
  const kept = encryptedSourceSecret(secretKeys, { id: source.id, url: settings.url }, { auth, authHeader, secret });
  // The person who changes the URL must not receive the secret.
  if (source.credential !== null && kept === undefined && new URL(source.url).origin !== new URL(settings.url).origin)
    throw fieldFault(
      'url',
      `is not on ${new URL(source.url).origin}, for which the secret was stored: give the secret again, or remove it`,
    );
  return store.updateSource(workspaceId, source.id, { ...differing(source, settings), ...kept }, changeOptions(context));
}

export const settingsOf = ({ url, purpose, every, reading, guards, copies, catalogue }: Source): OpenSettings => ({
  ...{ url, purpose, every, reading, guards, copies, catalogue },
});

/** Only the changed settings. */
export function differing(before: OpenSettings, after: OpenSettings): SourcePatch {
  const names = Object.keys(after) as (keyof OpenSettings)[];
  return Object.fromEntries(
    names.flatMap((name) => (JSON.stringify(before[name]) === JSON.stringify(after[name]) ? [] : [[name, after[name]]])),
  );
}

/** Resumes even after a stop. */
export async function pauseSource({ store, workspaceId, by }: ChangeContext, ref: string, isPaused: boolean): Promise<SourceRecord> {
  const { source } = await findSource(store, workspaceId, ref);
  return store.pauseSource(workspaceId, source.id, isPaused, by);
}

export interface SourceDeleteRequest extends DeleteRequest {
  /** As an ordinary list. */
  readonly keepList?: boolean | undefined;
}

export interface SourceDeletion extends Deletion {
  readonly list_id: string;
  readonly list_kept: boolean;
}

/** Rejects with REFUSED without a required confirmation. */
export async function deleteSource(
  context: ChangeContext & { readonly store: StoreReads & StoreWrites },
  ref: string,
  { confirmed = false, forGood = false, preview = false, keepList = false }: SourceDeleteRequest,
): Promise<SourceDeletion> {
  const { store, workspaceId } = context;
  const { source } = await findSource(store, workspaceId, ref);
  const { id, listId } = source;
  const list = await deletionPreview(store, workspaceId, 'source', listId);
  const effects = { ...list, id, list_id: listId, list_kept: keepList, needs_confirmation: list.needs_confirmation && !keepList };
  if (preview) return { ...effects, deleted: false, restorable_until: null };
  if (!keepList) await requireRevocable(context, list.keys);
  if (effects.needs_confirmation && !confirmed)
    throw new WeirError('REFUSED', `${deletionSentence(list)}: see the details with preview=1, delete with confirmed=1`);
  await store.deleteSource(workspaceId, id, { ...changeOptions(context), forGood, keepList });
  const kept =
    forGood || keepList ? undefined : (await store.deletedFeeds(workspaceId, await store.ping())).find((each) => each.id === listId);
  return { ...effects, deleted: true, restorable_until: kept === undefined ? null : isoTime(kept.until) };
}
