import { isDeepStrictEqual } from 'node:util';
import type { TSchema } from 'typebox';
import { FEED_SETTINGS } from '../../account/feed.ts';
import { MOST_PROTECTED } from '../../account/guard-rails.ts';
import { MOST_NETWORKS } from '../../account/key.ts';
import { LARGE_SETTINGS } from '../../account/large.ts';
import { LIST_SETTINGS, type ListSetting } from '../../account/list.ts';
import { PERMISSIONS } from '../../account/permission.ts';
import { MOST_GROUP_ROLES } from '../../account/person.ts';
import { nullable, Type } from '../../json/schema.ts';
import { ACCESS_ACTIONS, type JsonObject, LEVELS, RULE_TYPES } from '../../rule.ts';
import { RULE_REF_PATTERN } from '../../signal/limits.ts';

/** `read` returns a short description of a fault. */
export interface Line<T> {
  read(value: unknown): T | string;
  write(item: T): object;
}

/** The item, or its first field that differs from `given`. */
export function unchanged<T>(given: unknown, item: T, written: object): T | string {
  const odd = Object.entries(written).find(([field, value]) => !isDeepStrictEqual(value, (given as Record<string, unknown>)[field]));
  return odd === undefined ? item : `${odd[0]}: would become ${JSON.stringify(odd[1])}`;
}

export const optional = <T extends TSchema>(schema: T) => Type.Optional(nullable(schema));
export const text = Type.String({ format: 'text' });
export const time = Type.String({
  pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z$',
});
export const uuid = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });
export const json = Type.Unsafe<JsonObject>({ type: 'object', 'x-json': { maxDepth: 64, maxBytes: Number.MAX_SAFE_INTEGER } });
export const oneOf = <T extends string>(words: readonly T[]) => Type.Enum([...words]);

/** Optional: an older weir may have written the file. */
export function settingShape(setting: ListSetting): TSchema {
  if ('longest' in setting) return optional(text);
  if ('numbers' in setting) return optional(Type.Enum([...setting.numbers]));
  return optional('least' in setting ? Type.Integer({ minimum: setting.least, maximum: setting.most }) : oneOf(setting.words));
}

const shapesOf = (settings: Readonly<Record<string, ListSetting>>) =>
  Object.fromEntries(Object.values(settings).map((setting) => [setting.field, settingShape(setting)]));

export const SettingsShape = Type.Object({
  ...shapesOf(LARGE_SETTINGS),
  protect: Type.Array(text, { maxItems: MOST_PROTECTED }),
  min_prefix_v4: Type.Integer({ minimum: 0, maximum: 32 }),
  min_prefix_v6: Type.Integer({ minimum: 0, maximum: 128 }),
  subtract_allow: oneOf(['on', 'off'] as const),
  people: Type.Optional(Type.Array(text, { maxItems: MOST_GROUP_ROLES })),
});

const profileShape = (settings: Readonly<Record<string, ListSetting>>) => ({
  id: uuid,
  name: text,
  ...shapesOf(settings),
});
export const ListShape = Type.Object({ ...profileShape(LIST_SETTINGS), default: Type.Boolean() });
export const FeedShape = Type.Object({
  ...profileShape(FEED_SETTINGS),
  all_lists: Type.Boolean(),
  lists: Type.Array(uuid),
  always: Type.Optional(Type.Array(uuid)),
});

export const KeyShape = Type.Object({
  id: uuid,
  name: nullable(text),
  prefix: text,
  hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  permissions: Type.Array(oneOf(PERMISSIONS), { minItems: 1 }),
  list_id: nullable(uuid),
  feed_id: Type.Optional(uuid),
  from: Type.Optional(Type.Array(Type.String({ format: 'network' }), { maxItems: MOST_NETWORKS })),
  created_at: time,
  expires_at: nullable(time),
  revoked_at: nullable(time),
  last_used_at: nullable(time),
});

export const ruleFields = {
  name: nullable(text),
  reason: nullable(text),
  labels: nullable(json),
  config: nullable(json),
  expires_at: nullable(time),
  created_at: time,
  updated_at: time,
};
export const AccessRuleShape = Type.Object({
  ...ruleFields,
  list_id: uuid,
  rule_ref: nullable(Type.String({ pattern: RULE_REF_PATTERN })),
  target: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
  action: oneOf(ACCESS_ACTIONS),
  confidence: nullable(oneOf(LEVELS)),
  severity: nullable(oneOf(LEVELS)),
});
export const ExpressionRuleShape = Type.Object({
  ...ruleFields,
  rule_ref: Type.String({ pattern: RULE_REF_PATTERN }),
  type: oneOf(RULE_TYPES),
  expression: text,
  action: text,
  order: nullable(Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })),
  short_description: nullable(text),
});
