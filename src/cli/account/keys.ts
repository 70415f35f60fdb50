import { PERMISSIONS } from '../../account/permission.ts';
import { WeirError } from '../../errors.ts';
import { RECENTLY_WORDS } from '../../manage/devices/recent-use.ts';
import type { keyJson, Revocation } from '../../manage/operations/access/keys.ts';
import { namesOf } from '../client/names.ts';
import { printable, workspaceIn } from '../context.ts';
import { type AnyRow, row } from '../rows/row.ts';
import { useLines } from './settings.ts';

type Key = ReturnType<typeof keyJson>;
type Named = Pick<Key, 'id' | 'name'>;

const FROM = { help: 'a network that the key is accepted from, such as 10.0.0.0/8; any: from everywhere', unset: 'any' };
/** An id finds a key in every workspace. */
const anywhere: AnyRow['anywhere'] = async (store, { key }, context) =>
  (await store.workspaceOfKey(key!)) ??
  (
    await workspaceIn(context, store, undefined).catch(() => {
      throw new WeirError('USAGE', `there is no key "${key}"; a key that is named by its name needs --workspace`);
    })
  ).id;
const called = ({ id, name }: Named) => `key ${name === null ? '' : `${printable(name)} `}${id}`;

export const KEY_ROWS: readonly AnyRow[] = [
  row<Key & { readonly key: string }>({
    words: 'key create',
    operation: 'createKey',
    summary: 'make an API key; its text is printed once',
    options: {
      permissions: { as: 'permission', help: `${PERMISSIONS.join(', ')} (default: the first two)` },
      list: { help: 'bind the key to one list' },
      feed: { help: 'bind the key to one feed of several lists, which is all that it can read' },
      expires_in: { help: 'lifetime, such as 3600, 12h, 90d' },
      from: FROM,
    },
    show: ({ id, key }) => `key ${id}\n${key}\nThis is the only time that the key is shown.`,
  }),
  row<Key>({
    words: 'key set <key>',
    operation: 'changeKey',
    summary: 'change the name of a key, or the networks that it is accepted from',
    options: { from: FROM },
    anywhere,
    show: (key) => `${called(key)} is changed`,
  }),
  row<Key[], (Key & { readonly bound_to: string | null })[]>({
    words: 'key ls',
    operation: 'listKeys',
    summary: 'list the keys of a workspace',
    async json(keys, { client }) {
      const names = await namesOf(client);
      return keys.map((key) => ({ ...key, bound_to: names.get(key.list_id ?? key.feed_id ?? '') ?? null }));
    },
    columns: {
      ID: 'id',
      PREFIX: (key) => key.prefix || null,
      NAME: 'name',
      ROLE: 'role',
      PERMISSIONS: (key) => key.permissions.join(' '),
      'BOUND TO': (key) => key.bound_to ?? key.list_id ?? key.feed_id,
      FROM: (key) => key.from.join(' ') || null,
      EXPIRES: 'expires_at',
      REVOKED: 'revoked_at',
      'LAST USED': 'last_used_at',
    },
  }),
  row<Revocation, Named & { readonly revoked: true }>({
    words: 'key revoke <key>',
    operation: 'revokeKey',
    summary: 'revoke a key for good; names the clients that have used it lately, and asks',
    anywhere,
    confirm: (key) =>
      key.pulled.length === 0 ? undefined : useLines(key, `key ${key.name ?? key.id} was used ${RECENTLY_WORDS} by`).join('\n'),
    json: ({ id, name }) => ({ id, name, revoked: true }),
    show: (key) => `${called(key)} is revoked`,
  }),
];
