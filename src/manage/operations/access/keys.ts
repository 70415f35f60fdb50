/** A key cannot manage keys that exceed it. */

import { type KeyInfo, type KeyPatch, type KeyRequest, keyNetwork, keyState, MOST_NETWORKS, makeKey } from '../../../account/key.ts';
import { PERMISSIONS, type Permission } from '../../../account/permission.ts';
import { ROLE_NAMES, ROLES, type RoleName, roleOf } from '../../../account/role.ts';
import { stateTag } from '../../../account/tag.ts';
import { isoTime } from '../../../clock.ts';
import { WeirError } from '../../../errors.ts';
import { answerOf, durationOf, type Fields, flagField, nullable, Type, textField, wordField } from '../../../json/schema.ts';
import { LIMITS } from '../../../signal/limits.ts';
import { type ChangeContext, changeOptions } from '../../context.ts';
import { RECENT_USES, RECENTLY_WORDS, type RecentUses, recentUses } from '../../devices/recent-use.ts';
import { findFeed, findKeyNamed, findList } from '../../find.ts';
import { refuseBeyond, refuseElsewhere, refuseMore } from '../../keys/bounds.ts';
import { type Operation, operation, refuseNewName } from '../../operation.ts';
import { PAGE_QUERY, pageBody, pageRequest, pageSchema } from '../../page.ts';

/** Instant and id. */
const BY_TIME = /^-?\d{1,16}:[0-9a-f-]{1,36}$/;

/** The text is not stored. */
export type MadeKey = KeyInfo & { readonly text?: string };

/** Rejects with USAGE, and with FORBIDDEN if it exceeds the caller. */
export async function createKey(context: ChangeContext, request: KeyRequest): Promise<MadeKey> {
  const made = makeKey(request);
  if (typeof made === 'string') throw new WeirError('USAGE', made);
  refuseBeyond(context, made.key);
  return {
    ...(await context.store.createKey(context.workspaceId, made.key, { ...changeOptions(context), most: context.maxKeys })),
    text: made.text,
  };
}

/** Rejects with USAGE if both are given. */
export function permissionsGiven(
  permissions: readonly Permission[] | undefined,
  role: RoleName | undefined,
): Pick<KeyRequest, 'permissions'> {
  if (permissions !== undefined && role !== undefined) throw new WeirError('USAGE', 'give either role or permissions');
  const given = role === undefined ? permissions : ROLES[role];
  return given === undefined ? {} : { permissions: [...new Set(given)] };
}

/** Rejects with NOT_FOUND and FORBIDDEN. */
export async function changeKey(context: ChangeContext, id: string, { networks, ...patch }: KeyPatch): Promise<KeyInfo> {
  const key = await findKey(context, id);
  refuseMore(context, key.permissions);
  refuseElsewhere(context, networks ?? key.networks);
  refuseNewName(patch.name, key.name);
  return context.store.updateKey(
    context.workspaceId,
    key.id,
    { ...patch, ...(networks !== undefined && { networks: canonicalNetworks(networks) }) },
    changeOptions(context),
  );
}

export const canonicalNetworks = (networks: readonly string[]) => [...new Set(networks.map((text) => keyNetwork(text) ?? text))];

/** Or a preview. */
export interface Revocation extends RecentUses {
  readonly id: string;
  readonly name: string | null;
  readonly revoked: boolean;
}

/** Rejects with NOT_FOUND and FORBIDDEN. */
export async function revokeKey(context: ChangeContext, id: string, preview = false): Promise<Revocation> {
  const { store, workspaceId } = context;
  const key = await findKey(context, id);
  refuseMore(context, key.permissions);
  const uses = await recentUses(store, workspaceId, { keyIds: new Set([key.id]) }, new Map([[key.id, key.name ?? key.prefix]]));
  if (!preview) await store.revokeKey(key.id, changeOptions(context));
  return { id: key.id, name: key.name, revoked: !preview, ...uses };
}

const findKey = ({ store, workspaceId }: ChangeContext, ref: string): Promise<KeyInfo> => findKeyNamed(store, workspaceId, ref);

export const keyJson = (key: KeyInfo) => ({
  id: key.id,
  prefix: key.prefix,
  name: key.name,
  permissions: key.permissions,
  role: roleOf(key.permissions),
  workspace_id: key.workspaceId,
  list_id: key.listId,
  feed_id: key.feedId,
  from: key.networks,
  created_at: isoTime(key.createdAt),
  expires_at: isoTime(key.expiresAt),
  revoked_at: isoTime(key.revokedAt),
  last_used_at: isoTime(key.lastUsedAt),
});

const optionalText = nullable(Type.String());
const KEY = {
  id: '0195a3c0-0000-7000-8000-000000000002',
  prefix: ['weir_Ab3d', 'The first characters of its text, to recognize it.'],
  name: ['edge firewall', optionalText],
  permissions: [['feed:read'], Type.Array(Type.Enum([...PERMISSIONS]))],
  role: [null, nullable(Type.Enum([...ROLE_NAMES]), { description: 'The role with exactly these permissions.' })],
  workspace_id: '0195a3c0-0000-7000-8000-000000000000',
  list_id: ['0195a3c0-0000-7000-8000-000000000001', nullable(Type.String(), { description: 'The list it is bound to.' })],
  feed_id: [null, nullable(Type.String(), { description: 'The composed feed it is bound to.' })],
  from: [['198.51.100.0/24'], Type.Array(Type.String(), { description: 'The networks it is limited to; empty: any.' })],
  created_at: '2026-11-20T10:00:00.000Z',
  expires_at: [null, optionalText],
  revoked_at: [null, optionalText],
  last_used_at: ['2026-11-22T09:59:31.000Z', optionalText],
} as const satisfies Fields;
const FROM = Type.Array(Type.String({ format: 'network' }), {
  maxItems: MOST_NETWORKS,
  description: 'The networks it is limited to, such as 10.0.0.0/8; from other networks the key is rejected. Empty: any.',
});
export const KEY_FIELDS = {
  permissions: Type.Optional(
    Type.Array(Type.Enum([...PERMISSIONS]), {
      minItems: 1,
      maxItems: PERMISSIONS.length,
      description: 'Default: signal:write and feed:read.',
    }),
  ),
  role: wordField(ROLE_NAMES, 'Instead of permissions: all permissions of a role.'),
  list: textField(200, 'Binds it to a list, by UUID or unique name.', { format: 'text' }),
  feed: textField(200, 'Binds it to a composed feed.', { format: 'text' }),
  from: Type.Optional(FROM),
};
const Key = answerOf('Key', KEY);
const NewKey = answerOf('NewKey', {
  ...KEY,
  last_used_at: [null, optionalText],
  key: [
    'weir_Ab3dEfGh1jKlMnOpQrStUvWxYz0123456789abcdefg',
    nullable(Type.String(), {
      description: 'The text of the key, returned only once. null: this is a repeated response, and the text is not stored.',
    }),
  ],
});

const AMBIGUOUS = '2 lists are called "edge"; use the id: 0195a3c0-0000-7000-8000-000000000001, 0195a3c0-0000-7000-8000-000000000004';
const UNKNOWN = 'there is no key "0195a3c0-0000-7000-8000-000000000009"';

const respond = (key: KeyInfo) => ({ body: keyJson(key), tag: stateTag(keyState(key)) });

export const KEY_OPERATIONS: readonly Operation[] = [
  operation('listKeys', 'GET /keys', 'keys:write', {
    summary: 'List all keys, oldest first, including revoked ones',
    query: Type.Object(PAGE_QUERY),
    answer: pageSchema('Keys', 'keys', KEY, Key),
    run: ({ store, workspaceId }, { query }) => store.keyPage(workspaceId, pageRequest(query, BY_TIME)),
    show: (page) => ({ body: pageBody('keys', page, keyJson) }),
  }),
  operation('getKey', 'GET /keys/{key}', 'keys:write', {
    summary: 'Get a key by id or unique name',
    answer: Key,
    refusals: { 404: UNKNOWN },
    run: (context, { params }) => findKey(context, params.key!),
    show: respond,
  }),
  operation('changeKey', 'PATCH /keys/{key}', 'keys:write', {
    summary: 'Change the name or the networks of a key',
    description: 'A key cannot change a more powerful key, or give it networks outside of its own (403).',
    body: Type.Object({
      name: Type.Optional(nullable(Type.String({ format: 'text' }), { description: 'The purpose of the key.' })),
      from: Type.Optional(FROM),
    }),
    answer: Key,
    edits: true,
    audit: 'key changed',
    refusals: { 404: UNKNOWN },
    examples: [{ from: ['198.51.100.0/24', '2001:db8:1::/48'] }],
    run: (context, { params, body: { name, from } }) =>
      changeKey(context, params.key!, { ...(name !== undefined && { name }), ...(from !== undefined && { networks: from }) }),
    show: respond,
  }),
  operation('createKey', 'POST /keys', 'keys:write', {
    summary: 'Create a key; only this response contains its text',
    description: 'A key cannot create a key with more permissions, a later expiry or more networks than its own (403).',
    body: Type.Object({
      name: Type.Optional(Type.String({ format: 'name', description: 'The purpose of the key.' })),
      ...KEY_FIELDS,
      expires_in: Type.Optional(durationOf('s', 'Seconds', { minimum: 1, maximum: LIMITS.expirySeconds })),
    }),
    answer: NewKey,
    audit: 'key created',
    creates: 'in_store',
    refusals: { 404: 'there is no list "edge"', 409: AMBIGUOUS },
    examples: [{ name: 'edge firewall', permissions: ['feed:read'], list: 'edge' }],
    async run(context, { body }) {
      const { store, workspaceId, now } = context;
      const { name = null, permissions, role, list, feed, from = [], expires_in: seconds } = body;
      return createKey(context, {
        name,
        ...permissionsGiven(permissions, role),
        listId: list === undefined ? null : (await findList(store, workspaceId, list)).id,
        feedId: feed === undefined ? null : (await findFeed(store, workspaceId, feed)).id,
        networks: canonicalNetworks(from),
        expiresAt: seconds === undefined ? null : now() + seconds * 1000,
      });
    },
    status: 201,
    show: (key: MadeKey) => ({ body: { ...keyJson(key), key: key.text ?? null }, location: `/keys/${key.id}` }),
  }),
  operation('revokeKey', 'DELETE /keys/{key}', 'keys:write', {
    summary: 'Revoke a key for good; it stays in the list',
    description: 'A key cannot revoke a more powerful key (403).',
    query: Type.Object({
      preview: flagField(`true: preview only, with the clients that used it ${RECENTLY_WORDS}.`),
    }),
    answer: answerOf('Revoked', { id: KEY.id, name: KEY.name, revoked: true, ...RECENT_USES }),
    audit: 'key revoked',
    refusals: { 404: UNKNOWN },
    run: (context, { params, query }) => revokeKey(context, params.key!, query.preview),
  }),
];
