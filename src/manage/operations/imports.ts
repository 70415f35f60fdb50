/** Importing files of entries or signals (SPEC D15.36, D15.41). */
import { Type } from '../../json-schema.ts';
import { throwRefusal } from '../../signal/refusal.ts';
import { readDuration } from '../duration.ts';
import { type Imported, importFile, MOST_IMPORTED, MOST_REPLACED } from '../imports.ts';
import { fieldFault, type Operation, operation } from '../operation.ts';
import { LIST_ACTIONS, type ListDefaults } from '../plain-lists/entry.ts';
import { FORMS, type Form } from '../plain-lists/form.ts';
import { CHANGE, type Change, changeOutcome, landed, PREVIEW } from '../rule-changes.ts';
import { FEED_FIELDS } from './feed-fields.ts';
import { labelOf } from './rule-schema.ts';

const BODY = 4 * 1024 * 1024;

const QUERY = Type.Object({
  list: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'UUID or name of the list; the default list when absent.' }),
  ),
  format: Type.Optional(Type.Enum([...FORMS], { description: 'Found out when absent.' })),
  file: Type.Optional(Type.String({ maxLength: 300, description: 'The name of the file, whose end may tell its format.' })),
  action: Type.Optional(Type.Enum([...LIST_ACTIONS], { description: 'Of entries that name none; block when absent.' })),
  expires_in: Type.Optional(Type.String({ maxLength: 20, description: 'Of entries that name none: 3600, 12h, 7d.' })),
  reason: Type.Optional(Type.String({ maxLength: 2048 })),
  label: Type.Optional(Type.String({ maxLength: 2048, description: 'name:value, of all entries.' })),
  replace: Type.Optional(
    Type.Boolean({
      description: 'true: the list becomes equal to the file. Rules that the file does not have are removed, unless an entry failed.',
    }),
  ),
  confirmed: Type.Optional(Type.Boolean({ description: 'true: `replace` may take away more than half of the list.' })),
  preview: PREVIEW,
});

function defaultsOf({ action = 'block', expires_in: duration, reason, label }: Partial<Record<string, unknown>>): ListDefaults {
  const expiresIn = duration === undefined ? undefined : readDuration(String(duration));
  if (duration !== undefined && expiresIn === undefined)
    throw fieldFault('expires_in', 'must be a number of seconds, or such as 15m, 12h, 7d');
  const labels = label === undefined ? {} : Object.fromEntries([labelOf(String(label))]);
  return { action: action as ListDefaults['action'], expiresIn, reason: reason as string | undefined, labels };
}

interface ImportAnswer extends Imported, Change {
  readonly preview: boolean;
}

export const IMPORT_OPERATIONS: readonly Operation[] = [
  operation({
    name: 'importFile',
    summary: 'Import a file: a plain list (text, CSV, JSON, NDJSON) or signals',
    description: `The body is the file, ${MOST_IMPORTED} entries at most. What is wrong is told by its line, and the rest is taken, in batches of 1,000. A preview counts what all of it would change of feeds. With \`replace\` the list, of ${MOST_REPLACED} rules at most, becomes equal to a plain list.`,
    method: 'POST',
    path: '/imports',
    permission: 'rules:write',
    query: QUERY,
    bodyBytes: BODY,
    rawBody: { type: 'text/plain', example: '192.0.2.1\n198.51.100.0/24\n' },
    answer: Type.Object(
      {
        accepted: Type.Integer(),
        failed: Type.Integer(),
        expired: Type.Integer({ description: 'Entries that have expired, which are left out.' }),
        errors: Type.Array(Type.Object({ place: Type.String(), message: Type.String() }), { description: 'The first 1,000.' }),
        errors_left_out: Type.Integer(),
        warnings: Type.Array(Type.String(), { description: 'What agents would silently ignore; previews only.' }),
        replaced: Type.Optional(
          Type.Object(
            {
              removed: Type.Integer({ description: 'Rules that the file does not have. None are removed where an entry failed.' }),
              kept: Type.Integer({ description: 'Rules with a rule_ref that the file does not have: they stay.' }),
              needs_confirmation: Type.Boolean({ description: 'More than half of the list would go.' }),
            },
            { description: 'With `replace` only.' },
          ),
        ),
        preview: Type.Boolean(),
        ...CHANGE,
        ...FEED_FIELDS,
      },
      {
        title: 'Imported',
        examples: [
          {
            accepted: 2,
            failed: 1,
            expired: 0,
            errors: [{ place: 'line 3', message: 'there is no address' }],
            errors_left_out: 0,
            warnings: [],
            preview: false,
            batches: ['0199f3c2-8a51-7c3e-9d0b-4f1e2a6b7000'],
            landed: true,
          },
        ],
      },
    ),
    audit: 'file imported',
    creates: 'elsewhere',
    refusals: { 404: 'No such access-rules list', 409: 'Most of the list would go' },
    async run(context, { query, bytes }): Promise<ImportAnswer> {
      const { list, format, file = '', preview = false, replace = false, confirmed: isSure = false } = query;
      const { caller } = context;
      const request = {
        caller,
        bytes,
        file,
        format: format as Form | undefined,
        list,
        defaults: defaultsOf(query),
        preview,
        replace,
        isSure,
      };
      const done = await importFile(context, request);
      if (done.refused !== undefined) return throwRefusal(done.refused);
      const { accepted, failed } = done;
      return {
        ...done,
        preview,
        ...(await landed(context, 'file imported', done.batches, {
          list: list ?? null,
          file,
          accepted,
          failed,
          ...(replace && { removed: done.replaced?.removed }),
        })),
      };
    },
    show: changeOutcome,
  }),
];
