/** SPEC D23.1, D23.7. */
import type { TSchema } from 'typebox';
import { readSigner } from '../../account/secrets/signature.ts';
import { AUTH_KINDS, DEFAULT_GUARDS, EVERY, GUARD_NAMES, SOURCE_GUARDS, SOURCE_PURPOSES, type SourceGuards } from '../../account/source.ts';
import { sourceSettingsJson } from '../../account/source-change.ts';
import { expiresAt, LOG_STATES, stateOf } from '../../account/source-state.ts';
import { isoTime } from '../../clock.ts';
import { answerOf, durationOf, type Fields, nullable, Type } from '../../json/schema.ts';
import type { SourceRecord } from '../../ports/stored/source-store.ts';
import { COLUMN_HELP, MOST_SKIPPED, SKIP_HELP } from '../../source/readers/form.ts';
import { SOURCE_FORMATS } from './source-settings.ts';
import type { WantedSource } from './sources.ts';

/** `now` in ms. */
export function sourceJson({ source, state, asked }: SourceRecord, now: number) {
  const { held } = state;
  // Paused and stopped sources wait for a person, unless a refresh was requested after a stop.
  const isWaiting = !source.isPaused && (state.stop === null || asked !== null);
  const waits = isWaiting ? state.waits : null;
  return {
    id: source.id,
    workspace_id: source.workspaceId,
    list_id: source.listId,
    name: source.name,
    state: stateOf(source, state, now),
    paused: source.isPaused,
    ...sourceSettingsJson(source),
    entries: state.entries,
    next_at: source.isPaused || state.stop !== null ? null : isoTime(Math.max(state.nextAt, waits?.until ?? 0)),
    waits_for: waits?.for ?? null,
    waits_until: isoTime(waits?.until ?? null),
    fetched_at: isoTime(state.fetchedAt),
    confirmed_at: isoTime(state.confirmedAt),
    changed_at: isoTime(state.changedAt),
    expires_at: isoTime(expiresAt(source, state)),
    failures: state.failures,
    fault: state.fault,
    stop: state.stop,
    undone_by: state.undone?.batch ?? null,
    held: held && { replacement: held.replacement, since: isoTime(held.since), reason: held.reason, difference: held.difference },
    asked: asked?.what ?? null,
    created_at: isoTime(source.createdAt),
  };
}

export type SourceJson = ReturnType<typeof sourceJson>;

const text = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, format: 'text', description });
const orNull = (type: 'string' | 'integer' | 'boolean', more: object) =>
  Type.Unsafe<never>({ type: [type, 'null'], ...more }) as unknown as TSchema;
const names = (maxItems: number, maxLength: number, description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength, format: 'text' }), { maxItems, description });

const guardSchemas: Readonly<Record<string, TSchema>> = Object.fromEntries(
  GUARD_NAMES.map((name) => {
    const { field, help: description, fallback, ...bounds } = SOURCE_GUARDS[name];
    const schema = 'least' in bounds ? { minimum: bounds.least, maximum: bounds.most } : {};
    const of = 'least' in bounds ? 'integer' : 'boolean';
    const isTime = name === 'staleAfter';
    const seconds = isTime ? ', seconds, or such as 12h, 7d; null: seven days, or twice `every`' : `; null: ${fallback}`;
    return [field, orNull(of, { ...schema, ...(isTime && { 'x-unit': 's' }), description: `${description}${seconds}` })];
  }),
);

const SETTABLE: Readonly<Record<string, TSchema>> = {
  url: text(2048, 'http:// or https://, without a user or password. Private and special networks need SOURCE_NETWORKS.'),
  purpose: Type.Enum([...SOURCE_PURPOSES], { description: 'block (default): its entries are blocked; allow: they are never blocked.' }),
  every: durationOf('s', 'Interval of fetches, seconds; default: a day. Some hosts of the catalogue have a minimum interval', {
    minimum: EVERY.least,
    maximum: EVERY.most,
  }),
  format: orNull('string', { enum: [...SOURCE_FORMATS, null], description: 'Detected if absent or null.' }),
  paths: names(20, 200, 'JSON paths of the entries: prefixes[].ip_prefix.'),
  where: orNull('string', {
    maxLength: 300,
    format: 'text',
    description: 'With `paths`: only entries of objects with this value: service=CLOUDFRONT.',
  }),
  collection: orNull('string', { maxLength: 300, format: 'text', description: 'Id, alias or title of the collection on a TAXII server.' }),
  column: orNull('string', { minLength: 1, maxLength: 200, format: 'text', description: COLUMN_HELP }),
  skip: Type.Integer({ minimum: 0, maximum: MOST_SKIPPED, description: SKIP_HELP }),
  signers: names(4, 300, 'Keys of another weir, ssh-ed25519 AAAA…: only a feed signed by one of them is accepted.'),
  auth: orNull('string', {
    enum: [...AUTH_KINDS, null],
    description: 'How the secret is sent: Basic, Bearer, or in a header of its own; null removes it.',
  }),
  auth_header: orNull('string', { maxLength: 100, description: 'The name of that header.' }),
  secret: Type.String({
    maxLength: 4096,
    writeOnly: true,
    description: 'user:password, a token, or the value of the header. Stored encrypted and never returned.',
  }),
  copies: names(20, 200, 'Names of lists that it partly copies; reports say what it adds to them.'),
  ...guardSchemas,
};

const optional = (fields: Readonly<Record<string, TSchema>>) =>
  Object.fromEntries(Object.entries(fields).map(([field, schema]) => [field, Type.Optional(schema)]));

export const SOURCE_BODY = optional(SETTABLE);

export function wantedOf(body: Readonly<Record<string, unknown>>): WantedSource {
  const { url, purpose, every, copies, format, paths, where, collection, column, skip, auth, auth_header: authHeader, secret } = body;
  const signers = (body.signers as readonly string[] | undefined)?.map((line) => readSigner(line) ?? line);
  const reading = { format, paths, condition: where, collection, column, skip, signers };
  const guards = GUARD_NAMES.flatMap((name) => {
    const value = body[SOURCE_GUARDS[name].field];
    return value === undefined ? [] : [[name, value ?? DEFAULT_GUARDS[name]]];
  });
  return given({
    ...{ url, purpose, every, copies, auth, authHeader, secret },
    reading: given(reading),
    guards: Object.fromEntries(guards) as SourceGuards,
  }) as WantedSource;
}

const given = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const ID = '0195a3c0-0000-7000-8000-000000000005';
const time = nullable(Type.String({ format: 'date-time' }));
const instant = (description: string) => nullable(Type.String({ format: 'date-time' }), { description });

export const SOURCE: Fields = {
  id: ID,
  workspace_id: '0195a3c0-0000-7000-8000-000000000000',
  list_id: ['0195a3c0-0000-7000-8000-000000000001', 'The list that it manages, which has the same name.'],
  name: 'spamhaus-drop',
  state: ['ok', Type.Enum([...LOG_STATES], { description: 'The first that applies.' })],
  paused: false,
  url: 'https://www.spamhaus.org/drop/drop_v4.json',
  purpose: ['block', SETTABLE.purpose!],
  every: [86_400, SETTABLE.every!],
  format: [null, SETTABLE.format!],
  paths: [[], SETTABLE.paths!],
  where: [null, SETTABLE.where!],
  collection: [null, SETTABLE.collection!],
  column: [null, SETTABLE.column!],
  skip: [0, SETTABLE.skip!],
  signers: [[], SETTABLE.signers!],
  ...Object.fromEntries(
    GUARD_NAMES.map((name) => [SOURCE_GUARDS[name].field, [DEFAULT_GUARDS[name], guardSchemas[SOURCE_GUARDS[name].field]!]]),
  ),
  auth: [null, SETTABLE.auth!],
  auth_header: [null, SETTABLE.auth_header!],
  copies: [[], SETTABLE.copies!],
  catalogue: ['spamhaus-drop', nullable(Type.String(), { description: 'The catalogue entry it was created from.' })],
  entries: [1692, 'Rules of its list after the last refresh or undo.'],
  next_at: ['2026-11-23T06:00:41.000Z', instant('null: paused or stopped.')],
  waits_for: [
    null,
    nullable(Type.String({ description: 'The reason why a refresh that is due waits, such as the minimum interval of its host.' })),
  ],
  waits_until: [null, instant('Until when it waits; null: unknown, or it does not wait.')],
  fetched_at: ['2026-11-22T06:00:12.000Z', instant('The last successful fetch, even if the content was unchanged.')],
  confirmed_at: ['2026-11-22T06:00:12.000Z', instant('When its content was last verified with its origin.')],
  changed_at: ['2026-11-21T06:00:37.000Z', time],
  expires_at: [
    '2026-11-29T06:00:12.000Z',
    instant('When its list expires and is emptied, unless its content is confirmed before; null: never.'),
  ],
  failures: [0, 'Consecutive failures.'],
  fault: [null, nullable(Type.String(), { description: 'The last failure.' })],
  stop: [
    null,
    nullable(Type.Enum(['refused', 'secret']), {
      description: 'Why fetching has stopped until it is resumed: the origin refused access, or the secret is missing.',
    }),
  ],
  undone_by: [
    null,
    nullable(Type.String(), { description: 'The batch that undid a refresh; since then the list differs from the origin.' }),
  ],
  held: [
    null,
    nullable(
      Type.Object({
        replacement: Type.String(),
        since: time,
        reason: Type.String(),
        difference: nullable(Type.Object({}, { additionalProperties: true })),
      }),
      { description: 'A refresh that a guard has put on hold.' },
    ),
  ],
  asked: [null, nullable(Type.Enum(['refresh', 'accept', 'discard']), { description: 'A requested action that is not done yet.' })],
  created_at: '2026-11-20T10:00:00.000Z',
};

export const Source = answerOf('Source', SOURCE);
