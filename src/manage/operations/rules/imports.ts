/** Importing files of entries or signals (SPEC D15.36, D15.41). */

import { hasCode } from '../../../errors.ts';
import { answerOf, flagField, listOf, nullable, Type, textField, wordField } from '../../../json/schema.ts';
import { throwRefusal } from '../../../signal/refusal.ts';
import type { ListDefaults } from '../../../source/readers/entry.ts';
import { COLUMN_HELP, FORMS, type Form, MOST_SKIPPED, SKIP_HELP } from '../../../source/readers/form.ts';
import { readCondition, readPath } from '../../../source/readers/paths.ts';
import { LIST_ACTIONS } from '../../../source/readers/verdict.ts';
import { FIRST_TOLD } from '../../../source/sync.ts';
import { readDuration } from '../../../text/duration.ts';
import { MOST_IMPORTED } from '../../imports/import-content.ts';
import { type Imported, importFile } from '../../imports/imports.ts';
import { fieldFault, type Operation, operation } from '../../operation.ts';
import { STILL_BLOCKED_OF } from '../../remaining-blocks.ts';
import { type Change, changeFields, changeOutcome, landed, PREVIEW } from '../../rules/rule-changes.ts';
import { FEED_FIELDS } from '../feed-fields.ts';
import { ADDRESSES } from './addresses.ts';
import { labelOf } from './rule-schema.ts';

const BODY = 4 * 1024 * 1024;

const QUERY = Type.Object({
  list: textField(200, 'UUID or name of the list; the default list when absent.', { minLength: 1 }),
  format: wordField(FORMS, 'Found out when absent.'),
  file: textField(300, 'The name of the file, whose end may tell its format.'),
  path: textField(1000, 'Where in JSON the entries stand: prefixes[].ip_prefix; several with commas.'),
  where: textField(300, 'With `path`: only entries of objects that say so, such as service=CLOUDFRONT.'),
  column: textField(200, COLUMN_HELP, { minLength: 1 }),
  skip: Type.Optional(Type.Integer({ minimum: 0, maximum: MOST_SKIPPED, description: SKIP_HELP })),
  action: wordField(LIST_ACTIONS, 'Of entries that name none; block when absent.'),
  expires_in: textField(20, 'Of entries that name none: 3600, 12h, 7d.'),
  reason: Type.Optional(Type.String({ maxLength: 2048 })),
  label: textField(2048, 'name:value, of all entries.'),
  replace: flagField('true: the list becomes equal to the file. Rules that the file does not have are removed, unless an entry failed.'),
  refused: wordField(
    ['keep', 'skip'],
    'With `replace`: entries that guard rails refuse hold back every removal (keep, when absent), or count as absent (skip).',
  ),
  confirmed: flagField(
    'true: `replace` may remove more than half of the list or of its addresses, or add as much, and the file may be about whole countries and ASNs, or networks that are more than half of the addresses of the list.',
  ),
  preview: PREVIEW,
});

function defaultsOf({ action = 'block', expires_in: duration, reason, label }: Partial<Record<string, unknown>>): ListDefaults {
  const expiresIn = duration === undefined ? undefined : readDuration(String(duration));
  if (duration !== undefined && expiresIn === undefined)
    throw fieldFault('expires_in', 'must be a number of seconds, or such as 15m, 12h, 7d');
  const labels = label === undefined ? {} : Object.fromEntries([labelOf(String(label))]);
  return { action: action as ListDefaults['action'], expiresIn, reason: reason as string | undefined, labels };
}

/** What `read` returns; what it rejects with is a fault of that field. */
function atField<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw hasCode(error, 'USAGE') ? fieldFault(field, error.message) : error;
  }
}

interface ImportAnswer extends Imported, Change {
  readonly preview: boolean;
}

export const IMPORT_OPERATIONS: readonly Operation[] = [
  operation('importFile', 'POST /imports', 'rules:write', {
    summary: 'Import a file: a plain list (text, CSV, JSON, NDJSON) or signals',
    description: `The body is the file, ${MOST_IMPORTED} entries at most: of a larger one nothing is taken. What is wrong is told by its line, and the rest is taken, in batches of 1,000. A preview counts what all of it would change of feeds. With \`replace\` the list becomes equal to a plain list: what differs is sent, what stays keeps since when it is there.`,
    query: QUERY,
    bodyBytes: BODY,
    rawBody: { type: 'text/plain', example: '192.0.2.1\n198.51.100.0/24\n' },
    answer: answerOf(
      'Imported',
      {
        accepted: 2,
        failed: 1,
        expired: [0, 'Entries that have expired, which are left out.'],
        passed: [
          [],
          Type.Array(Type.Object({ reason: Type.String(), rows: Type.Integer() }), {
            description: 'Rows that are skipped: those of another verdict, of a type that is no address, or of MISP with to_ids 0.',
          }),
        ],
        wide: [
          undefined,
          Type.Optional(
            Type.Object(
              {
                countries: Type.Integer(),
                asns: Type.Integer(),
                networks: Type.Integer({ description: 'Of all of them, by the geo data in use.' }),
              },
              { description: 'Whole countries and ASNs that the file is about, which has to be confirmed. Absent without any.' },
            ),
          ),
        ],
        addresses: [undefined, Type.Optional(ADDRESSES)],
        errors: listOf({ place: 'line 3', message: 'there is no address' }, { description: FIRST_TOLD }),
        errors_left_out: 0,
        warnings: [
          [],
          Type.Array(Type.String(), {
            description:
              'Parts of descriptions that were cut or left out, and probable mistakes; in previews also what agents would silently ignore.',
          }),
        ],
        replaced: [
          undefined,
          Type.Optional(
            Type.Object(
              {
                id: nullable(Type.String({ description: 'Undoes all of it, in place of its batches; null in a preview.' })),
                removed: Type.Integer({ description: 'Rules that the file does not have. None are removed where an entry failed.' }),
                added: Type.Integer(),
                changed: Type.Integer({ description: 'Rules that are given what the file says of them, or another expiry.' }),
                unchanged: Type.Integer({ description: 'Rules that stay as they are.' }),
                refused: Type.Integer({ description: 'Entries that guard rails refuse.' }),
                kept: Type.Integer({ description: 'Rules with a rule_ref that the file does not have: they stay.' }),
                needs_confirmation: Type.Boolean({
                  description: `More than half of the list would be removed, more added than it has, or more than half of its addresses changed (\`addresses\`).`,
                }),
              },
              { description: 'With `replace` only.' },
            ),
          ),
        ],
        preview: false,
        ...changeFields('0199f3c2-8a51-7c3e-9d0b-4f1e2a6b7000'),
      },
      { ...FEED_FIELDS, ...STILL_BLOCKED_OF },
    ),
    audit: 'file imported',
    creates: 'elsewhere',
    isLong: true,
    refusals: {
      404: 'No such access-rules list',
      409: 'Most of the list would be removed, most of its addresses changed, or whole countries and ASNs are meant',
      413: `The file has more than an import takes: ${MOST_IMPORTED} entries`,
    },
    async run(context, { query, bytes }): Promise<ImportAnswer> {
      const {
        list,
        format,
        path,
        where,
        column,
        skip,
        file = '',
        preview = false,
        replace = false,
        confirmed: isSure = false,
        refused = 'keep',
      } = query;
      const { caller } = context;
      const request = {
        caller,
        bytes,
        reading: {
          file,
          format: format as Form | undefined,
          paths: path?.split(',').map((each) => atField('path', () => readPath(each.trim()))),
          column,
          skip,
          condition: where === undefined ? undefined : atField('where', () => readCondition(where)),
        },
        list,
        defaults: defaultsOf(query),
        preview,
        replace,
        refused: refused as 'keep' | 'skip',
        isSure,
      };
      // Read, a file takes several times its size in memory: a workspace has one at a time.
      const done = await context.inTurn(() => importFile(context, request), `import ${context.workspaceId}`);
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
