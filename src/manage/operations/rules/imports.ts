/** SPEC D15.36, D15.41. */

import { hasCode } from '../../../errors.ts';
import { answerOf, flagField, listOf, nullable, Type, textField, wordField } from '../../../json/schema.ts';
import { throwRefusal } from '../../../signal/refusal.ts';
import type { ListDefaults } from '../../../source/readers/entry.ts';
import { COLUMN_HELP, FORMS, type Form, MOST_SKIPPED, SKIP_HELP } from '../../../source/readers/form.ts';
import { readCondition, readPath } from '../../../source/readers/paths.ts';
import { LIST_ACTIONS } from '../../../source/readers/verdict.ts';
import { FIRST_FAULTS } from '../../../source/sync.ts';
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
  list: textField(200, 'UUID or name of the list; default: the default list.', { minLength: 1 }),
  format: wordField(FORMS, 'Detected if absent.'),
  file: textField(300, 'The name of the file; its extension helps to detect the format.'),
  path: textField(1000, 'JSON paths of the entries: prefixes[].ip_prefix; several with commas.'),
  where: textField(300, 'With `path`: only entries of objects with this value, such as service=CLOUDFRONT.'),
  column: textField(200, COLUMN_HELP, { minLength: 1 }),
  skip: Type.Optional(Type.Integer({ minimum: 0, maximum: MOST_SKIPPED, description: SKIP_HELP })),
  action: wordField(LIST_ACTIONS, 'Used for entries without an action; default: block.'),
  expires_in: textField(20, 'Used for entries without an expiry: 3600, 12h, 7d.'),
  reason: Type.Optional(Type.String({ maxLength: 2048 })),
  label: textField(2048, 'name:value, for all entries.'),
  replace: flagField('true: makes the list match the file. Rules that the file does not contain are removed, unless an entry failed.'),
  refused: wordField(
    ['keep', 'skip'],
    'With `replace`: entries refused by guard rails prevent all removals (keep, default), or count as absent (skip).',
  ),
  confirmed: flagField(
    'true: confirms that `replace` removes more than half of the list or of its addresses, or adds as much, and that the file contains whole countries and ASNs, or networks with more than half of the addresses of the list.',
  ),
  preview: PREVIEW,
});

function defaultsOf({ action = 'block', expires_in: duration, reason, label }: Partial<Record<string, unknown>>): ListDefaults {
  const expiresIn = duration === undefined ? undefined : readDuration(String(duration));
  if (duration !== undefined && expiresIn === undefined)
    throw fieldFault('expires_in', 'must be a number of seconds, or a duration such as 15m, 12h, 7d');
  const labels = label === undefined ? {} : Object.fromEntries([labelOf(String(label))]);
  return { action: action as ListDefaults['action'], expiresIn, reason: reason as string | undefined, labels };
}

/** USAGE errors become faults of the field. */
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
    description: `The body is the file with at most ${MOST_IMPORTED} entries; a larger file is refused completely. Faulty entries are reported by line; all others are imported, in batches of 1,000. A preview counts the effect of all entries on feeds. With \`replace\` the list is made to match a plain list: only differences are sent, and rules that stay keep their creation time.`,
    query: QUERY,
    bodyBytes: BODY,
    rawBody: { type: 'text/plain', example: '192.0.2.1\n198.51.100.0/24\n' },
    answer: answerOf(
      'Imported',
      {
        accepted: 2,
        failed: 1,
        expired: [0, 'Skipped: expired entries.'],
        passed: [
          [],
          Type.Array(Type.Object({ reason: Type.String(), rows: Type.Integer() }), {
            description: 'Skipped rows: another verdict, a type that is not an address, or MISP attributes with to_ids 0.',
          }),
        ],
        wide: [
          undefined,
          Type.Optional(
            Type.Object(
              {
                countries: Type.Integer(),
                asns: Type.Integer(),
                networks: Type.Integer({ description: 'Total of their networks, by the current geo data.' }),
              },
              { description: 'Whole countries and ASNs in the file, to be confirmed. Absent if there are none.' },
            ),
          ),
        ],
        addresses: [undefined, Type.Optional(ADDRESSES)],
        errors: listOf({ place: 'line 3', message: 'there is no address' }, { description: FIRST_FAULTS }),
        errors_left_out: 0,
        warnings: [
          [],
          Type.Array(Type.String(), {
            description:
              'Descriptive data that was shortened or dropped, and likely mistakes; in previews also what agents would silently ignore.',
          }),
        ],
        replaced: [
          undefined,
          Type.Optional(
            Type.Object(
              {
                id: nullable(Type.String({ description: 'Undoes all batches at once; null in a preview.' })),
                removed: Type.Integer({ description: 'Rules that the file does not contain. None are removed if an entry failed.' }),
                added: Type.Integer(),
                changed: Type.Integer({ description: 'Rules whose fields or expiry change.' }),
                unchanged: Type.Integer({ description: 'Unchanged rules.' }),
                refused: Type.Integer({ description: 'Entries refused by guard rails.' }),
                kept: Type.Integer({ description: 'Rules with a rule_ref that the file does not contain: they stay.' }),
                needs_confirmation: Type.Boolean({
                  description: `True if more than half of the list would be removed, more rules added than it has, or more than half of its addresses changed (\`addresses\`).`,
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
      409: 'Most of the list would be removed, most of its addresses changed, or the file contains whole countries and ASNs',
      413: `The file exceeds the limit of an import, ${MOST_IMPORTED} entries`,
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
      // A parsed file needs several times its size: one at a time per workspace.
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
