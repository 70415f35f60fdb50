/** SPEC D28.3, D28.10. */
import type { TSchema } from 'typebox';
import { Type } from '../../json/schema.ts';
import { compile, type FieldFault } from '../../signal/validate.ts';
import { DURATION } from '../../text/duration.ts';
import { normalizedFields } from '../json-object.ts';
import { Name } from '../operations/settings.ts';
import type { FileKind } from './kind.ts';
import { FILE_KINDS } from './table.ts';

export const FILE_VERSION = 1;
/** Bytes. */
export const MOST_BYTES = 1024 * 1024;
const MOST_ENTRIES = 10_000;

/** Not validated. */
export type WorkspaceFile = Readonly<Record<string, unknown>>;

/** Durations may be texts. */
const withDurationTexts = (fields: FileKind['fields']): FileKind['fields'] =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      'x-unit' in field ? Type.Optional(Type.Union([field, Type.String({ pattern: DURATION })])) : field,
    ]),
  );

function sectionOf({ isOne, fields: all, about }: FileKind): TSchema {
  const closed = { additionalProperties: false };
  const fields = withDurationTexts(all);
  if (isOne) return Type.Object(fields, { ...closed, description: about });
  return Type.Array(Type.Object({ name: Type.String({ ...Name, format: 'text' }), ...fields }, closed), {
    maxItems: MOST_ENTRIES,
    description: about,
  });
}

export const FILE_FIELDS: Readonly<Record<string, TSchema>> = Object.fromEntries(
  Object.entries({
    $schema: Type.String({ maxLength: 2048, description: 'The location of this schema, for editors.' }),
    version: Type.Literal(FILE_VERSION, { description: 'The version of the file format.' }),
    ...Object.fromEntries(FILE_KINDS.map((kind) => [kind.section, sectionOf(kind)])),
  }).map(([name, schema]) => [name, Type.Optional(schema)]),
);

export const FILE_SCHEMA = Type.Object(FILE_FIELDS, { additionalProperties: false });

/** Such as `feeds[3].max_entries`. */
const bracketed = (path: string): string =>
  path
    .replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]')
    .slice(1)
    .replaceAll('/', '.');

export const fileFaults: (file: unknown) => readonly FieldFault[] = compile(FILE_SCHEMA, bracketed);

export function normalizedFile(file: WorkspaceFile): WorkspaceFile {
  const kinds = new Map(FILE_KINDS.map(({ section, fields }) => [section, fields]));
  return Object.fromEntries(
    Object.entries(file).map(([section, value]) => {
      const fields = kinds.get(section);
      const normalized = (entry: unknown): unknown =>
        typeof entry !== 'object' || entry === null || Array.isArray(entry) || fields === undefined
          ? entry
          : normalizedFields(entry as Record<string, unknown>, fields);
      return [section, Array.isArray(value) ? value.map(normalized) : normalized(value)];
    }),
  );
}
