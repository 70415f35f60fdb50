/** The export contains no secrets. */

import { NO_SETTINGS, settingsJson } from '../../../account/list.ts';
import { openSecret } from '../../../account/secrets/encrypted-secret.ts';
import { AUTH_KINDS, type Credential, EVERY, type Source } from '../../../account/source.ts';
import { sourceSettingsJson } from '../../../account/source-change.ts';
import { flagField, Type, textField } from '../../../json/schema.ts';
import type { SourceWithSecret } from '../../../ports/stored/source-store.ts';
import { findCatalogue } from '../../../source/catalogue.ts';
import { fieldFault, fieldFaults } from '../../operation.ts';
import { SETTABLE, settingsPatch } from '../../operations/settings.ts';
import { SOURCE_BODY, wantedOf } from '../../sources/source-json.ts';
import { encryptedSourceSecret, type GivenSecret } from '../../sources/source-secret.ts';
import { changedSettings, type OpenSettings, settingsFaults } from '../../sources/source-settings.ts';
import { differing, newSource, settingsOf } from '../../sources/sources.ts';
import {
  type About,
  below,
  call,
  deep,
  type Entry,
  fileKind,
  isSame,
  OTHER_SECRET,
  refuseNamed,
  STORED_SECRET,
  type Thing,
  under,
} from '../kind.ts';
import { settingsWanted } from './lists.ts';

const secretIn = ({ auth, auth_header: authHeader }: Entry, { secret }: Entry) => ({ auth, authHeader, secret }) as GivenSecret;

function openSettings(given: Entry, before: Source | undefined, prune: boolean): OpenSettings {
  const { auth: _a, authHeader: _h, secret: _s, ...said } = wantedOf(deep(given));
  const { name, catalogue } = given as { readonly name: string; readonly catalogue?: string };
  const isAnother = catalogue !== undefined && catalogue !== before?.catalogue;
  if (before !== undefined && !prune && !isAnother) return changedSettings(settingsOf(before), said);
  const { name: _n, ...settings } = newSource({ ...said, name, ...(catalogue !== undefined && { catalogue }) });
  return settings;
}

/** `secret`: a placeholder. */
function secretWanted(
  given: Entry,
  before: Thing<SourceWithSecret> | undefined,
  { url }: OpenSettings,
  { prune, secretKeys }: About,
): Entry {
  const now = before?.entry ?? { auth: null, auth_header: null, secret: null };
  const said = given.auth !== undefined || given.auth_header !== undefined || given.secret !== undefined;
  if (!said && !prune) return storedSecretAt(url, before, now);
  const unsaid = prune ? { auth: null, auth_header: null } : now;
  const { auth = unsaid.auth, auth_header: header = unsaid.auth_header, secret } = given;
  if (secret === undefined && isSame([auth, header], [now.auth, now.auth_header])) return storedSecretAt(url, before, now);
  const stored = before?.row.secret == null ? undefined : openSecret(secretKeys, before.row.source, before.row.secret);
  const isStored = secret !== undefined && secret === stored && isSame([auth, header], [now.auth, now.auth_header]);
  if (isStored && new URL(url).origin === new URL(before!.row.source.url).origin)
    return { auth, auth_header: header, secret: STORED_SECRET };
  if (auth !== null && secret === undefined)
    throw fieldFault(
      'secret',
      `is missing, and no stored secret can be sent this way to ${new URL(url).origin}: give secret_file or secret_env`,
    );
  encryptedSourceSecret(secretKeys, { id: '', url }, secretIn({ auth, auth_header: header }, given));
  return { auth, auth_header: header, secret: auth === null ? null : OTHER_SECRET };
}

/** A secret must not go to another origin: the person who changes the URL could receive it. */
function storedSecretAt(url: string, before: Thing<SourceWithSecret> | undefined, now: Entry): Entry {
  const { auth, auth_header, secret } = now;
  if (auth !== null && new URL(url).origin !== new URL(before!.row.source.url).origin)
    throw fieldFault('url', `is not on ${new URL(before!.row.source.url).origin}, for which the secret was stored: give the secret again`);
  return { auth, auth_header, secret };
}

const credentialOf = ({ auth, auth_header: name }: Entry): Credential | null =>
  auth === null ? null : auth === 'header' ? { kind: auth, name: String(name) } : { kind: auth as 'basic' | 'bearer' };

export const SOURCE_KIND = fileKind<SourceWithSecret>({
  section: 'sources',
  word: 'source',
  about:
    'External lists, fetched automatically. Give a secret with secret_file or secret_env (weir apply), or as secret; without one, the stored secret stays.',
  fields: {
    catalogue: textField(100, 'The catalogue entry that provides the fields not given.'),
    ...SOURCE_BODY,
    secret_file: textField(4096, `A file with the secret, for weir apply; \`auth\` (${AUTH_KINDS.join(', ')}) says how it is sent.`),
    secret_env: textField(200, 'An environment variable with the secret, for weir apply.'),
    paused: flagField('true: no automatic refreshes.'),
    list: Type.Optional(Type.Object(SETTABLE, { additionalProperties: false, description: 'Settings of the feed of its list.' })),
  },
  names: 'list',
  loss: 'source',
  things({ sources, lists }) {
    const own = new Map(lists.map((list) => [list.id, list]));
    return sources.map((sealed) => {
      const { source } = sealed;
      const secret = source.credential === null ? null : STORED_SECRET;
      const list = settingsJson(own.get(source.listId) ?? NO_SETTINGS);
      const entry = { ...sourceSettingsJson(source), secret, paused: source.isPaused, ...under('list', list) };
      return { id: source.listId, name: source.name, entry, row: sealed };
    });
  },
  wanted(given, before, about) {
    refuseNamed(given, 'secret_file', 'secret_env');
    const settings = openSettings(given, before?.row.source, about.prune);
    const [fault, ...others] = settingsFaults(settings, about.sourceReach);
    if (fault !== undefined) throw fieldFaults([fault, ...others]);
    const { auth, auth_header, secret } = secretWanted(given, before, settings, about);
    const list = settingsWanted(below(given, 'list'), about.prune || before === undefined ? undefined : below(before.entry, 'list'));
    const paused = given.paused ?? (about.prune ? false : (before?.entry.paused ?? false));
    return { ...sourceSettingsJson({ ...settings, credential: null }), auth, auth_header, secret, paused, ...under('list', list) };
  },
  core({ catalogue, url, every }) {
    const row = catalogue === null ? undefined : findCatalogue(String(catalogue));
    const usual = row?.every ?? EVERY.fallback;
    return { ...(row !== undefined && { catalogue }), ...(row?.url !== url && { url }), ...(every !== usual && { every }) };
  },
  add({ given, entry }, listId, { workspaceId, by, most, about }) {
    const id = crypto.randomUUID();
    const settings = openSettings(given, undefined, true);
    const stored = encryptedSourceSecret(about.secretKeys, { id, url: settings.url }, secretIn(entry, given)) ?? {
      credential: null,
      secret: null,
    };
    const list = { ...NO_SETTINGS, ...settingsPatch(below(entry, 'list')) };
    return [
      call('createSource', workspaceId, { ...settings, ...stored, id, listId, name: String(given.name), list }, most, { by }),
      ...(entry.paused === true ? [call('pauseSource', workspaceId, id, true, by)] : []),
    ];
  },
  change({ entry: before, row: { source } }, { given, entry }, { workspaceId, by, about }) {
    const { id, listId } = source;
    const settings = openSettings(given, source, about.prune);
    const isAnother = entry.secret !== before.secret || !isSame(credentialOf(entry), source.credential);
    const stored = isAnother ? encryptedSourceSecret(about.secretKeys, { id, url: settings.url }, secretIn(entry, given)) : undefined;
    const patch = { ...differing(settingsOf(source), settings), ...stored };
    const list = below(entry, 'list');
    return [
      ...(Object.keys(patch).length > 0 ? [call('updateSource', workspaceId, id, patch, { by })] : []),
      ...(isSame(list, below(before, 'list')) ? [] : [call('updateList', workspaceId, listId, settingsPatch(list), { by })]),
      ...(entry.paused === before.paused ? [] : [call('pauseSource', workspaceId, id, entry.paused === true, by)]),
    ];
  },
  remove: ({ row }, { workspaceId, by }) => [call('deleteSource', workspaceId, row.source.id, { by })],
});
