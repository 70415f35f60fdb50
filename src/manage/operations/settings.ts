/** What can be set of lists and of feeds made of lists, in bodies and answers. */
import type { TSchema } from 'typebox';
import { LIST_SETTINGS, type ListPatch, type ListSetting, type ListSettings, SETTING_NAMES, settingsJson } from '../../account/list.ts';
import { type Fields, Type } from '../../json-schema.ts';

type Nullable<T> = T | null;

/** Null unsets a setting. */
function settingSchema(setting: ListSetting): TSchema {
  const description = setting.help;
  if ('longest' in setting) {
    return Type.Unsafe<Nullable<string>>({ type: ['string', 'null'], maxLength: setting.longest, format: 'text', description });
  }
  return 'least' in setting
    ? Type.Unsafe<Nullable<number>>({ type: ['integer', 'null'], minimum: setting.least, maximum: setting.most, description })
    : Type.Unsafe<Nullable<string>>({
        type: ['string', 'null'],
        enum: [...setting.words, ...Object.keys(setting.aliases ?? {}), null],
        description,
      });
}

/** The schemas of all settings by their field. */
export const SETTING_SCHEMAS: Readonly<Record<string, TSchema>> = Object.fromEntries(
  Object.values(LIST_SETTINGS).map((setting) => [setting.field, settingSchema(setting)]),
);

export const Name = Type.String({ format: 'name', description: 'Lists and feeds of a workspace share their names.', examples: ['edge'] });

/** What is set of a list or feed, as fields of an answer. */
export const settingFields = (example: ListSettings): Fields =>
  Object.fromEntries(Object.entries(settingsJson(example)).map(([field, value]) => [field, [value, SETTING_SCHEMAS[field]!]]));

/** Fields that a body may set. */
export const SETTABLE = Object.fromEntries(Object.entries(SETTING_SCHEMAS).map(([field, schema]) => [field, Type.Optional(schema)]));

/** What the fields of a body change; the body fits SETTABLE. */
export function settingsPatch(body: Readonly<Record<string, unknown>>): ListPatch {
  const given = SETTING_NAMES.filter((name) => body[LIST_SETTINGS[name].field] !== undefined);
  return Object.fromEntries(given.map((name) => [name, canonical(LIST_SETTINGS[name], body[LIST_SETTINGS[name].field])]));
}

/** A value with its alias, where it is one, replaced. */
const canonical = (setting: ListSetting, value: unknown): unknown =>
  'words' in setting && typeof value === 'string' && Object.hasOwn(setting.aliases ?? {}, value) ? setting.aliases![value] : value;
