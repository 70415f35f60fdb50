/** The sample of good traffic that rules are tried on (SPEC D21). */

import { SAMPLE_RULES, type SampleInfo, type SampleLimit, sampleJson } from '../../account/sample.ts';
import { WeirError } from '../../errors.ts';
import { Type } from '../../json-schema.ts';
import { type Operation, operation } from '../operation.ts';

const LIMIT = {
  max_sample_share: Type.Unsafe<number | null>({
    type: ['number', 'null'],
    minimum: 0,
    maximum: 1,
    description: 'The share of the sample that a rule may block; null: what it would block is told in dry runs only.',
  }),
  sample_rules: Type.Enum([...SAMPLE_RULES], { description: 'Which rules the limit is for.' }),
};

const EXAMPLE = {
  requests: 10_000,
  bytes: 4_812_331,
  taken_at: '2026-11-20T10:00:00.000Z',
  max_sample_share: 0.001,
  sample_rules: 'generated',
};

const SampleAnswer = Type.Object(
  {
    requests: Type.Integer(),
    bytes: Type.Integer({ description: 'Of the requests as text.' }),
    taken_at: Type.String({ format: 'date-time' }),
    ...LIMIT,
  },
  { title: 'Sample', examples: [EXAMPLE] },
);

const shown = (sample: SampleInfo) => ({ body: sampleJson(sample) });
const none = () => new WeirError('NOT_FOUND', 'the workspace has no sample: weir sample set makes one');

export const SAMPLE_OPERATIONS: readonly Operation[] = [
  operation({
    name: 'getSample',
    summary: 'The sample of good traffic that rules are tried on',
    method: 'GET',
    path: '/sample',
    permission: 'rules:read',
    answer: SampleAnswer,
    audit: null,
    refusals: { 404: 'the workspace has no sample' },
    async run({ store, workspaceId }) {
      const sample = await store.sample(workspaceId);
      if (sample === undefined) throw none();
      return sample;
    },
    show: shown,
  }),
  operation({
    name: 'limitSample',
    summary: 'Change what share of the sample a rule may block',
    method: 'PATCH',
    path: '/sample',
    permission: 'manage',
    body: Type.Object(Object.fromEntries(Object.entries(LIMIT).map(([field, schema]) => [field, Type.Optional(schema)]))),
    answer: SampleAnswer,
    audit: 'sample changed',
    refusals: { 404: 'the workspace has no sample' },
    examples: [{ max_sample_share: 0.001 }],
    run: ({ store, workspaceId, by }, { body }) => store.limitSample(workspaceId, patchOf(body), by),
    show: shown,
  }),
  operation({
    name: 'deleteSample',
    summary: 'Delete the sample; no rule is tried any more',
    method: 'DELETE',
    path: '/sample',
    permission: 'manage',
    answer: Type.Object({ deleted: Type.Boolean() }, { title: 'SampleDeleted', examples: [{ deleted: true }] }),
    audit: 'sample deleted',
    refusals: { 404: 'the workspace has no sample' },
    async run({ store, workspaceId, by }) {
      if (!(await store.deleteSample(workspaceId, by))) throw none();
      return { deleted: true };
    },
    show: (body) => ({ body }),
  }),
];

function patchOf({ max_sample_share: maxShare, sample_rules: rules }: Readonly<Record<string, unknown>>): Partial<SampleLimit> {
  return Object.fromEntries(Object.entries({ maxShare, rules }).filter(([, value]) => value !== undefined));
}
