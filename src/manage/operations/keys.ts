/** API keys: making, listing and revoking them. A key never makes or revokes one that may do more than itself. */

import { type KeyInfo, type KeyPatch, type KeyRequest, keyNetwork, keyState, MOST_NETWORKS, makeKey } from '../../account/key.ts';
import { PERMISSIONS, type Permission } from '../../account/permission.ts';
import { ROLE_NAMES, ROLES, type RoleName, roleOf } from '../../account/role.ts';
import { stateTag } from '../../account/tag.ts';
import { isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import { answerOf, durationOf, type Fields, flagField, nullable, Type, textField, wordField } from '../../json/schema.ts';
import { LIMITS } from '../../signal/limits.ts';
import { type ChangeContext, changeOptions } from '../context.ts';
import { LATELY_WORDS, RECENT_USES, type RecentUses, recentUses } from '../devices/recent-use.ts';
import { findFeed, findKeyNamed, findList } from '../find.ts';
import { refuseBeyond, refuseElsewhere, refuseMore } from '../keys/bounds.ts';
import { type Operation, operation, refuseNewName } from '../operation.ts';
import { PAGE_QUERY, pageBody, pageRequest, pageSchema } from '../page.ts';

/** The place at which pages of keys go on: instant and id. */
const BY_TIME = /^-?\d{1,16}:[0-9a-f-]{1,36}$/;

/** A key that was made. Its text is shown once, and kept nowhere. */
export type MadeKey = KeyInfo & { readonly text?: string };

/** Makes a key. Rejects with USAGE when it cannot be bound so, with FORBIDDEN when it could do more than the caller, for longer, or from elsewhere. */
export async function createKey(context: ChangeContext, request: KeyRequest): Promise<MadeKey> {
  const made = makeKey(request);
  if (typeof made === 'string') throw new WeirError('USAGE', made);
  refuseBeyond(context, made.key);
  return {
    ...(await context.store.createKey(context.workspaceId, made.key, { ...changeOptions(context), most: context.maxKeys })),
    text: made.text,
  };
}

/** What a request gives a new key, by permissions or by role. Rejects with USAGE where it names both. */
export function permissionsGiven(
  permissions: readonly Permission[] | undefined,
  role: RoleName | undefined,
): Pick<KeyRequest, 'permissions'> {
  if (permissions !== undefined && role !== undefined) throw new WeirError('USAGE', 'a key has a role or permissions, not both');
  const given = role === undefined ? permissions : ROLES[role];
  return given === undefined ? {} : { permissions: [...new Set(given)] };
}

/** Changes a key. Rejects with NOT_FOUND, with FORBIDDEN when it can do more than the caller, or is good from elsewhere afterwards. */
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

/** Networks in their canonical form, each once. */
export const canonicalNetworks = (networks: readonly string[]) => [...new Set(networks.map((text) => keyNetwork(text) ?? text))];

/** What was revoked, or would be, and who has used it lately. */
export interface Revocation extends RecentUses {
  readonly id: string;
  readonly name: string | null;
  readonly revoked: boolean;
}

/** Revokes a key, for good, or tells who uses it. Rejects with NOT_FOUND, with FORBIDDEN when it can do more than the caller. */
export async function revokeKey(context: ChangeContext, id: string, preview = false): Promise<Revocation> {
  const { store, workspaceId } = context;
  const key = await findKey(context, id);
  refuseMore(context, key.permissions);
  const uses = await recentUses(store, workspaceId, { keyIds: new Set([key.id]) }, new Map([[key.id, key.name ?? key.prefix]]));
  if (!preview) await store.revokeKey(key.id, changeOptions(context));
  return { id: key.id, name: key.name, revoked: !preview, ...uses };
}

const findKey = ({ store, workspaceId }: ChangeContext, ref: string): Promise<KeyInfo> => findKeyNamed(store, workspaceId, ref);

/** A key as JSON has it. */
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
  prefix: ['weir_Ab3d', 'The first characters of its text, to recognise it by.'],
  name: ['edge firewall', optionalText],
  permissions: [['feed:read'], Type.Array(Type.Enum([...PERMISSIONS]))],
  role: [null, nullable(Type.Enum([...ROLE_NAMES]), { description: 'The role that may exactly what the permissions allow.' })],
  workspace_id: '0195a3c0-0000-7000-8000-000000000000',
  list_id: ['0195a3c0-0000-7000-8000-000000000001', nullable(Type.String(), { description: 'The list that it is bound to.' })],
  feed_id: [null, nullable(Type.String(), { description: 'The feed made of lists that it is bound to.' })],
  from: [['198.51.100.0/24'], Type.Array(Type.String(), { description: 'The networks that it is good from; none: from anywhere.' })],
  created_at: '2026-11-20T10:00:00.000Z',
  expires_at: [null, optionalText],
  revoked_at: [null, optionalText],
  last_used_at: ['2026-11-22T09:59:31.000Z', optionalText],
} as const satisfies Fields;
const FROM = Type.Array(Type.String({ format: 'network' }), {
  maxItems: MOST_NETWORKS,
  description: 'The networks that it is good from, such as 10.0.0.0/8; elsewhere it is as a key that there is not. None: from anywhere.',
});
/** What a key is made with. */
export const KEY_FIELDS = {
  permissions: Type.Optional(
    Type.Array(Type.Enum([...PERMISSIONS]), {
      minItems: 1,
      maxItems: PERMISSIONS.length,
      description: 'signal:write and feed:read when absent.',
    }),
  ),
  role: wordField(ROLE_NAMES, 'Instead of permissions: all that the role may.'),
  list: textField(200, 'Binds it to a list, by UUID or unique name.', { format: 'text' }),
  feed: textField(200, 'Binds it to a feed made of lists.', { format: 'text' }),
  from: Type.Optional(FROM),
};
const Key = answerOf('Key', KEY);
const NewKey = answerOf('NewKey', {
  ...KEY,
  last_used_at: [null, optionalText],
  key: [
    'weir_Ab3dEfGh1jKlMnOpQrStUvWxYz0123456789abcdefg',
    nullable(Type.String(), {
      description: 'The text of the key, shown this once. null: the request was answered before, and the text is kept nowhere.',
    }),
  ],
});

const AMBIGUOUS = '2 lists are called "edge"; use the id: 0195a3c0-0000-7000-8000-000000000001, 0195a3c0-0000-7000-8000-000000000004';
const UNKNOWN = 'there is no key "0195a3c0-0000-7000-8000-000000000009"';

const shownKey = (key: KeyInfo) => ({ body: keyJson(key), tag: stateTag(keyState(key)) });

export const KEY_OPERATIONS: readonly Operation[] = [
  operation('listKeys', 'GET /keys', 'keys:write', {
    summary: 'The keys of the workspace, oldest first, revoked ones included',
    query: Type.Object(PAGE_QUERY),
    answer: pageSchema('Keys', 'keys', KEY, Key),
    run: ({ store, workspaceId }, { query }) => store.keyPage(workspaceId, pageRequest(query, BY_TIME)),
    show: (page) => ({ body: pageBody('keys', page, keyJson) }),
  }),
  operation('getKey', 'GET /keys/{key}', 'keys:write', {
    summary: 'One key, by id or unique name',
    answer: Key,
    refusals: { 404: UNKNOWN },
    run: (context, { params }) => findKey(context, params.key!),
    show: shownKey,
  }),
  operation('changeKey', 'PATCH /keys/{key}', 'keys:write', {
    summary: 'Change the name of a key, or the networks that it is good from',
    description: 'A key cannot change one that may do more than itself, or is good afterwards from where it is not itself (403).',
    body: Type.Object({
      name: Type.Optional(nullable(Type.String({ format: 'text' }), { description: 'What the key is for.' })),
      from: Type.Optional(FROM),
    }),
    answer: Key,
    edits: true,
    audit: 'key changed',
    refusals: { 404: UNKNOWN },
    examples: [{ from: ['198.51.100.0/24', '2001:db8:1::/48'] }],
    run: (context, { params, body: { name, from } }) =>
      changeKey(context, params.key!, { ...(name !== undefined && { name }), ...(from !== undefined && { networks: from }) }),
    show: shownKey,
  }),
  operation('createKey', 'POST /keys', 'keys:write', {
    summary: 'Make a key; its text is in this answer only',
    description: 'A key cannot make one that may do more than itself, for longer, or from elsewhere (403).',
    body: Type.Object({
      name: Type.Optional(Type.String({ format: 'name', description: 'What the key is for.' })),
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
    summary: 'Revoke a key, for good; it stays in the list',
    description: 'A key cannot revoke one that may do more than itself (403).',
    query: Type.Object({
      preview: flagField(`true: tells who has used it ${LATELY_WORDS}, and revokes nothing.`),
    }),
    answer: answerOf('Revoked', { id: KEY.id, name: KEY.name, revoked: true, ...RECENT_USES }),
    audit: 'key revoked',
    refusals: { 404: UNKNOWN },
    run: (context, { params, query }) => revokeKey(context, params.key!, query.preview),
  }),
];
