/** SPEC D28. */
import { answerOf, type Fields, flagField, listOf, nullable, Type } from '../../json/schema.ts';
import type { FieldFault } from '../../signal/validate.ts';
import type { ManageContext } from '../context.ts';
import { fieldFaults, type Operation, operation, type Touched } from '../operation.ts';
import { isDescriptive } from '../operations/settings.ts';
import type { Outcome } from '../outcome.ts';
import type { Applied } from './apply.ts';
import type { AboutFile } from './file-port.ts';
import { FILE_FIELDS, FILE_SCHEMA, MOST_BYTES } from './schema.ts';

const EXAMPLE = {
  workspace: { protect: ['private'], min_prefix_v4: 8 },
  lists: [{ name: 'scanners', description: 'hosts that scan us' }],
  feeds: [{ name: 'fw-berlin', lists: ['scanners'], target: 'pan-os', max_entries: 20_000 }],
  keys: [{ name: 'berlin firewall', permissions: ['feed:read'], feed: 'fw-berlin' }],
};

const value = { description: 'As in the file; null: not set.' };
const CHANGE = {
  kind: ['feed', 'One of workspace, list, source, feed, key, webhook.'],
  name: 'fw-berlin',
  what: ['change', Type.Enum(['add', 'change', 'remove'])],
  text: '~ feed fw-berlin: max_entries 10000 → 20000',
  takes: [false, 'Whether it deletes something that the file does not name: only with prune, and only if confirmed.'],
  fields: listOf({
    field: 'max_entries',
    before: [10_000, Type.Unknown(value)],
    after: [20_000, Type.Unknown(value)],
  }),
  goes: [
    null,
    nullable(Type.Object({}, { additionalProperties: true }), {
      description: 'The loss caused by a deletion: the preview of the deletion, or the recent users of a key. For the first 100 deletions.',
    }),
  ],
  goes_text: [null, nullable(Type.String())],
} as const satisfies Fields;

const AppliedAnswer = answerOf('Applied', {
  changed: [true, 'Whether the workspace differs from the file, or did before it was applied.'],
  applied: [true, 'Whether the workspace now matches the file.'],
  act: [
    '0195a3c0-0000-7000-8000-00000000000a',
    nullable(Type.String(), { description: 'Groups the rows of the audit log; null: nothing was changed.' }),
  ],
  changes: listOf(CHANGE, { description: 'In the order in which they are applied.' }),
  keys: listOf(
    { name: 'berlin firewall', id: '0195a3c0-0000-7000-8000-000000000002', key: 'weir_Ab3dEfGh1jKlMnOpQrStUvWxYz0123456789abcdefg' },
    { description: 'The created keys. Their texts are returned only once.' },
  ),
  tag: ['"Ju3VgNEgCQ0bPzPQ3aGpYA"', 'Identifies the state that was compared.'],
});

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

/** One file at a time per workspace. */
const inTurn = <T>(context: ManageContext, work: () => Promise<T>): Promise<T> =>
  context.inTurn(() => context.pause().then(work), `file ${context.workspaceId}`);

/** A file that changes the limits of approvals always waits: their order is not compared. */
function touchedBy({ changes, tag: of }: Applied): Touched {
  const fieldsOf = (kind: string) => changes.filter((each) => each.kind === kind).flatMap(({ fields }) => fields.map(({ field }) => field));
  const ofWorkspace = fieldsOf('workspace');
  const refusal = changes.some(({ kind, what }) => kind === 'key' && what === 'add') && { refusal: NO_KEYS };
  if (ofWorkspace.some((field) => field.startsWith('approval'))) return { why: 'other changes would need approval', of, ...refusal };
  const changed = changes.filter(({ kind, what, fields }) => {
    if (!['list', 'feed', 'source'].includes(kind) || what === 'add') return false;
    return what === 'remove' || !isDescriptive(fields.map(({ field }) => field));
  });
  if (changed.length === 0 && ofWorkspace.every((field) => field === 'people' || /^(large|canary)/.test(field))) return null;
  return { lists: undefined, of, ...refusal };
}
const NO_KEYS = 'the file creates keys, whose texts are returned only once: create the keys first, with a file that only has keys';

/** The body is already JSON. */
const respond = (json: string): Outcome => ({ body: {}, json });

const DESCRIPTION = `Sections, entries and fields that the file does not contain stay; null unsets a field. With \`prune\`, everything that the file does not name in its sections is deleted, which has to be
\`confirmed\`. All changes are one transaction and share one \`act\` in the audit log. Applying the file again changes nothing.`;

export const FILE_OPERATIONS: readonly Operation[] = [
  operation('getWorkspaceFile', 'GET /workspace/file', 'manage', {
    summary: 'Export the workspace as a file, without rules, secrets and ids',
    role: 'admin',
    answer: Type.Object(FILE_FIELDS, { title: 'WorkspaceFile', examples: [{ version: 1, ...EXAMPLE }] }),
    run: (context) => inTurn(context, () => context.files.exported(aboutFile(context))),
    show: respond,
  }),
  operation('getFileSchema', 'GET /workspace/schema', null, {
    summary: 'Get the JSON Schema of the workspace file',
    answer: Type.Object({}, { title: 'FileSchema', additionalProperties: true, examples: [{ type: 'object', properties: {} }] }),
    run: async () => fileSchema(),
  }),
  operation('applyWorkspaceFile', 'POST /workspace/apply', 'manage', {
    summary: 'Apply a workspace file',
    description: DESCRIPTION,
    role: 'admin',
    query: Type.Object({
      dry_run: flagField('true: preview only.'),
      prune: flagField('true: delete what the file does not name, in the sections that it has.'),
      confirmed: flagField('true: confirms the deletions.'),
    }),
    body: Type.Object(FILE_FIELDS),
    validatesOwnBody: true,
    bodyBytes: MOST_BYTES,
    answer: AppliedAnswer,
    audit: 'settings applied',
    refusals: {
      409: 'the file would delete or unset: - key old and 2 more; see all with dry_run, apply with confirmed',
    },
    examples: [EXAMPLE],
    async touches(context, { query, bytes }) {
      if (query.dry_run) return null;
      const planned = await inTurn(context, () =>
        context.files.applied(aboutFile(context), { bytes, request: { ...query, dryRun: true } }),
      );
      return 'json' in planned ? touchedBy(JSON.parse(planned.json) as Applied) : null;
    },
    async run(context, { query: { dry_run: dryRun, prune, confirmed }, bytes }) {
      const request = { dryRun, prune, confirmed };
      const done = await inTurn(context, () => context.files.applied(aboutFile(context), { bytes, request }));
      if ('json' in done) return done.json;
      throw fieldFaults(done.faults as [FieldFault, ...FieldFault[]]);
    },
    show: respond,
  }),
];

export const fileSchema = () => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Settings of a weir workspace',
  ...FILE_SCHEMA,
});
