/** SPEC D21. */

import { NO_SAMPLE, SAMPLE_RULES, type SampleInfo, type SampleLimit, sampleJson, sampleLimit } from '../../account/sample.ts';
import { stateTag } from '../../account/tag.ts';
import { answerOf, Type } from '../../json/schema.ts';
import { changeOptions, type ManageContext } from '../context.ts';
import { type Operation, operation } from '../operation.ts';

const WORKSPACE = '0195a3c0-0000-7000-8000-000000000000';
const LIMIT = {
  max_sample_share: Type.Unsafe<number | null>({
    type: ['number', 'null'],
    minimum: 0,
    maximum: 1,
    description: 'The share of the sample that a rule may block; null: no limit, reported in dry runs only.',
  }),
  sample_rules: Type.Enum([...SAMPLE_RULES], { description: 'The rules that the limit applies to.' }),
};

const SampleAnswer = answerOf('Sample', {
  workspace_id: WORKSPACE,
  requests: [10_000, '0: there is no sample.'],
  bytes: [4_812_331, 'Size of the requests as text.'],
  taken_at: ['2026-11-20T10:00:00.000Z', Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' })],
  max_sample_share: [0.001, LIMIT.max_sample_share],
  sample_rules: ['generated', LIMIT.sample_rules],
});

const respond = (sample: SampleInfo, { workspaceId }: ManageContext) => ({
  body: { workspace_id: workspaceId, ...sampleJson(sample) },
  tag: stateTag(sampleLimit(sample)),
});

export const SAMPLE_OPERATIONS: readonly Operation[] = [
  operation('getSample', 'GET /sample', 'rules:read', {
    summary: 'Get the sample of good traffic for testing rules',
    answer: SampleAnswer,
    run: async ({ store, workspaceId }) => (await store.sample(workspaceId)) ?? NO_SAMPLE,
    show: respond,
  }),
  operation('limitSample', 'PATCH /sample', 'manage', {
    summary: 'Change the share of the sample that a rule may block',
    body: Type.Object(Object.fromEntries(Object.entries(LIMIT).map(([field, schema]) => [field, Type.Optional(schema)]))),
    answer: SampleAnswer,
    audit: 'sample changed',
    edits: true,
    examples: [{ max_sample_share: 0.001 }],
    run: (context, { body }) => context.store.limitSample(context.workspaceId, patchOf(body), changeOptions(context)),
    show: respond,
  }),
  operation('deleteSample', 'DELETE /sample', 'manage', {
    summary: 'Delete the sample: rules are no longer tested',
    answer: answerOf('SampleDeleted', { workspace_id: WORKSPACE, deleted: true }),
    audit: 'sample deleted',
    run: async ({ store, workspaceId, by }) => ({ workspace_id: workspaceId, deleted: await store.deleteSample(workspaceId, by) }),
  }),
];

function patchOf({ max_sample_share: maxShare, sample_rules: rules }: Readonly<Record<string, unknown>>): Partial<SampleLimit> {
  return Object.fromEntries(Object.entries({ maxShare, rules }).filter(([, value]) => value !== undefined));
}
