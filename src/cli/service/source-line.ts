/** The line of a source in an export (docs/moving.md): all settings, but only the kind of its secret. */

import {
  AUTH_KINDS,
  type Credential,
  GUARD_NAMES,
  PLAIN_READING,
  SOURCE_GUARDS,
  SOURCE_PURPOSES,
  type SourceGuards,
} from '../../account/source.ts';
import { type SavedSource, sourceSettingsJson } from '../../account/source-change.ts';
import { isoTime } from '../../clock.ts';
import { nullable, type Static, Type } from '../../json/schema.ts';
import { SOURCE_FORMATS, settingsFaults } from '../../manage/sources/source-settings.ts';
import { reader } from '../../signal/validate.ts';
import { type Line, oneOf, optional, text, time, unchanged, uuid } from './line-shapes.ts';

const words = Type.Array(text, { maxItems: 20 });

const SourceShape = Type.Object({
  id: uuid,
  list_id: uuid,
  url: text,
  purpose: oneOf(SOURCE_PURPOSES),
  every: Type.Integer({ minimum: 1 }),
  format: nullable(oneOf(SOURCE_FORMATS)),
  paths: words,
  where: nullable(text),
  collection: nullable(text),
  // Missing in files of an older weir.
  column: optional(text),
  skip: Type.Optional(Type.Integer({ minimum: 0 })),
  signers: Type.Optional(words),
  ...Object.fromEntries(
    GUARD_NAMES.map((name) => [SOURCE_GUARDS[name].field, 'least' in SOURCE_GUARDS[name] ? Type.Integer() : Type.Boolean()]),
  ),
  auth: nullable(oneOf(AUTH_KINDS)),
  auth_header: nullable(text),
  copies: words,
  catalogue: nullable(text),
  paused: Type.Boolean(),
  confirmed_at: nullable(time),
});

type Given = Static<typeof SourceShape> & Readonly<Record<string, unknown>>;

export const SOURCE_LINE: Line<SavedSource> = {
  read: reader(SourceShape, (line) => {
    const { column, skip, signers } = PLAIN_READING;
    const given = { column, skip, signers, ...line } as Given;
    const source = savedOf(given);
    // Reachability is checked at each fetch.
    const [fault] = settingsFaults(source, () => undefined);
    return fault === undefined ? unchanged(given, source, SOURCE_LINE.write(source)) : `${fault.field}: ${fault.message}`;
  }),
  write: ({ id, listId, isPaused, confirmedAt, ...settings }) => ({
    id,
    list_id: listId,
    ...sourceSettingsJson(settings),
    paused: isPaused,
    confirmed_at: isoTime(confirmedAt),
  }),
};

function savedOf(line: Given): SavedSource {
  const {
    id,
    url,
    purpose,
    every,
    format,
    paths,
    where: condition,
    collection,
    column,
    skip,
    auth,
    auth_header: header,
    copies,
    catalogue,
  } = line;
  const credential: Credential | null = auth === null ? null : auth === 'header' ? { kind: auth, name: header ?? '' } : { kind: auth };
  return {
    ...{ id, url, purpose, every, copies, catalogue, credential },
    listId: line.list_id,
    reading: {
      ...PLAIN_READING,
      format,
      paths,
      condition,
      collection,
      column: column ?? null,
      skip: skip ?? 0,
      signers: line.signers ?? [],
    },
    guards: Object.fromEntries(GUARD_NAMES.map((name) => [name, line[SOURCE_GUARDS[name].field]])) as unknown as SourceGuards,
    isPaused: line.paused,
    confirmedAt: line.confirmed_at === null ? null : Date.parse(line.confirmed_at),
  };
}
