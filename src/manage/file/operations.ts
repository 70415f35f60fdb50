/** The workspace as a file: what is set in it, and making it so (SPEC D28). */
import { answerOf, type Fields, flagField, listOf, nullable, Type } from '../../json/schema.ts';
import type { FieldFault } from '../../signal/validate.ts';
import type { ManageContext } from '../context.ts';
import { fieldFaults, type Operation, operation } from '../operation.ts';
import type { Outcome } from '../outcome.ts';
import type { AboutFile } from './file-port.ts';
import { FILE_FIELDS, FILE_SCHEMA, MOST_BYTES } from './schema.ts';

const EXAMPLE = {
  workspace: { protect: ['private'], min_prefix_v4: 8 },
  lists: [{ name: 'scanners', description: 'hosts that scan us' }],
  feeds: [{ name: 'fw-berlin', lists: ['scanners'], target: 'pan-os', max_entries: 20_000 }],
  keys: [{ name: 'berlin firewall', permissions: ['feed:read'], feed: 'fw-berlin' }],
};

const value = { description: 'As the file has it; null: none.' };
const CHANGE = {
  kind: ['feed', 'What it is: workspace, list, source, feed, key, webhook.'],
  name: 'fw-berlin',
  what: ['change', Type.Enum(['add', 'change', 'remove'])],
  text: '~ feed fw-berlin: max_entries 10000 → 20000',
  takes: [false, 'Whether something goes that the file does not name: with prune, and then it has to be confirmed.'],
  fields: listOf({
    field: 'max_entries',
    before: [10_000, Type.Unknown(value)],
    after: [20_000, Type.Unknown(value)],
  }),
  goes: [
    null,
    nullable(Type.Object({}, { additionalProperties: true }), {
      description:
        'Of what is taken away: what goes with it, as a preview of deleting it tells, or who has used the key lately. Of 100 at most.',
    }),
  ],
  goes_text: [null, nullable(Type.String())],
} as const satisfies Fields;

const AppliedAnswer = answerOf('Applied', {
  changed: [true, 'Whether the workspace differs from the file; of what was applied: differed.'],
  applied: [true, 'Whether it is as the file says now.'],
  act: [
    '0195a3c0-0000-7000-8000-00000000000a',
    nullable(Type.String(), { description: 'Groups the rows of the audit log; null: nothing was done.' }),
  ],
  changes: listOf(CHANGE, { description: 'In the order in which they are made.' }),
  keys: listOf(
    { name: 'berlin firewall', id: '0195a3c0-0000-7000-8000-000000000002', key: 'weir_Ab3dEfGh1jKlMnOpQrStUvWxYz0123456789abcdefg' },
    { description: 'The keys that were made, with their texts, which are shown this once.' },
  ),
  tag: ['"Ju3VgNEgCQ0bPzPQ3aGpYA"', 'Names the state that it was compared with.'],
});

/** Whose file it is, and who asks. */
const aboutFile = ({
  workspaceId,
  by,
  keyExpiresAt,
  keyNetworks,
  caller,
  maxLists,
  maxFeeds,
  maxKeys,
  maxSources,
}: ManageContext): AboutFile => ({
  workspaceId,
  by,
  keyExpiresAt,
  keyNetworks,
  callerKeyId: caller.keyId,
  most: { maxLists, maxFeeds, maxKeys, maxSources },
});

/** Of a workspace one file is worked on at a time, and none for who has gone meanwhile. */
const inTurn = <T>(context: ManageContext, work: () => Promise<T>): Promise<T> =>
  context.inTurn(() => context.pause().then(work), `file ${context.workspaceId}`);

/** What is JSON already is sent as it is. */
const shown = (json: string): Outcome => ({ body: {}, json });

const DESCRIPTION = `What the file does not name stays: kinds, things, fields; null unsets. With \`prune\`, of the kinds that it has, what it does not name goes, and that has to
be \`confirmed\`. All changes are one transaction, and have one \`act\` in the audit log. Applied again, nothing changes.`;

export const FILE_OPERATIONS: readonly Operation[] = [
  operation('getWorkspaceFile', 'GET /workspace/file', 'manage', {
    summary: 'What is set in the workspace, as a file: without rules, secrets and ids',
    role: 'admin',
    answer: Type.Object(FILE_FIELDS, { title: 'WorkspaceFile', examples: [{ version: 1, ...EXAMPLE }] }),
    run: (context) => inTurn(context, () => context.files.exported(aboutFile(context))),
    show: shown,
  }),
  operation('getFileSchema', 'GET /workspace/schema', null, {
    summary: 'The JSON Schema of that file',
    answer: Type.Object({}, { title: 'FileSchema', additionalProperties: true, examples: [{ type: 'object', properties: {} }] }),
    run: async () => fileSchema(),
  }),
  operation('applyWorkspaceFile', 'POST /workspace/apply', 'manage', {
    summary: 'Make the workspace as a file says',
    description: DESCRIPTION,
    role: 'admin',
    query: Type.Object({
      dry_run: flagField('true: tells what would change, and changes nothing.'),
      prune: flagField('true: what the file does not name goes, of the kinds that it has.'),
      confirmed: flagField('true: what goes was seen, and is meant.'),
    }),
    body: Type.Object(FILE_FIELDS),
    isReadWhereItRuns: true,
    bodyBytes: MOST_BYTES,
    answer: AppliedAnswer,
    audit: 'settings applied',
    refusals: {
      409: 'the file does not name what would go: - key old and 2 more; with dry_run it is told in full, with confirmed it is done',
    },
    examples: [EXAMPLE],
    async run(context, { query: { dry_run: dryRun, prune, confirmed }, bytes }) {
      const request = { dryRun, prune, confirmed };
      const done = await inTurn(context, () => context.files.applied(aboutFile(context), { bytes, request }));
      if ('json' in done) return done.json;
      throw fieldFaults(done.faults as [FieldFault, ...FieldFault[]]);
    },
    show: shown,
  }),
];

/** The schema of a file, for editors and others. */
export const fileSchema = () => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'What is set in a workspace of weir',
  ...FILE_SCHEMA,
});
