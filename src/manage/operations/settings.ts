import type { TSchema } from 'typebox';
import { LIST_SETTINGS, type ListPatch, type ListSetting } from '../../account/list.ts';
import { type Fields, Type } from '../../json/schema.ts';

type Nullable<T> = T | null;
type Settings<K extends string = string> = Readonly<Record<K, ListSetting>>;

/** Null unsets a setting. */
function settingSchema(setting: ListSetting): TSchema {
  const description = setting.help;
  if ('longest' in setting) {
    return Type.Unsafe<Nullable<string>>({
      type: ['string', 'null'],
      maxLength: setting.longest,
      format: setting.format ?? 'text',
      description,
    });
  }
  if ('numbers' in setting) {
    return Type.Unsafe<Nullable<number>>({ type: ['integer', 'null'], enum: [...setting.numbers, null], description });
  }
  return 'least' in setting
    ? Type.Unsafe<Nullable<number>>({ type: ['integer', 'null'], minimum: setting.least, maximum: setting.most, description })
    : Type.Unsafe<Nullable<string>>({
        type: ['string', 'null'],
        enum: [...setting.words, ...Object.keys(setting.aliases ?? {}), null],
        description,
      });
}

const schemasOf = (settings: Settings): Readonly<Record<string, TSchema>> =>
  Object.fromEntries(Object.values(settings).map((setting) => [setting.field, settingSchema(setting)]));

/** Whether a change concerns no content of a feed. */
export const isDescriptive = (fields: Readonly<Record<string, unknown>> | readonly string[]): boolean =>
  (Array.isArray(fields) ? fields : Object.keys(fields)).every((field) => field === 'name' || field === 'description');

export const Name = Type.String({ format: 'name', description: 'Lists and feeds of a workspace share their names.', examples: ['edge'] });

export function settingFields<K extends string>(example: { readonly [name in K]: string | number | null }, settings: Settings<K>): Fields {
  const schemas = schemasOf(settings);
  const entries = Object.entries(settings) as [K, ListSetting][];
  return Object.fromEntries(entries.map(([name, { field }]) => [field, [example[name], schemas[field]!] as const]));
}

export const settable = (settings: Settings) =>
  Object.fromEntries(Object.entries(schemasOf(settings)).map(([field, schema]) => [field, Type.Optional(schema)]));
export const SETTABLE = settable(LIST_SETTINGS);

/** The body matches `settable`. */
export function settingsPatch(body: Readonly<Record<string, unknown>>, settings: Settings = LIST_SETTINGS): ListPatch {
  const given = Object.entries(settings).filter(([, { field }]) => body[field] !== undefined);
  return Object.fromEntries(given.map(([name, setting]) => [name, canonical(setting, body[setting.field])]));
}

/** Resolves aliases. */
const canonical = (setting: ListSetting, value: unknown): unknown =>
  'words' in setting && typeof value === 'string' && Object.hasOwn(setting.aliases ?? {}, value) ? setting.aliases![value] : value;
