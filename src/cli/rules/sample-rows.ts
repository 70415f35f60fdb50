import type { sampleJson } from '../../account/sample.ts';
import { without } from '../account/settings.ts';
import { type AnyRow, row } from '../rows/row.ts';
import { readShare, sampleText } from './sample.ts';

type Sample = ReturnType<typeof sampleJson>;

export const SAMPLE_ROWS: readonly AnyRow[] = [
  row<Sample>({
    words: 'sample limit',
    operation: 'limitSample',
    summary: 'change what share of the sample a rule may block',
    options: {
      max_sample_share: {
        as: 'max-share',
        help: 'the share of the sample that a rule may block, such as 0.1%; none: it is reported in dry runs only',
        unset: 'none',
        read: readShare,
      },
      sample_rules: { as: 'rules', help: 'which rules the limit is for: generated expression rules, or all that block' },
    },
    json: (sample) => without(sample, 'workspace_id'),
    show: sampleText,
  }),
  row<Sample, Sample | null>({
    words: 'sample show',
    operation: 'getSample',
    summary: 'show the sample of a workspace',
    json: (sample) => (sample.taken_at === null && sample.max_sample_share === null ? null : without(sample, 'workspace_id')),
    show: (sample) => (sample === null ? 'the workspace has no sample' : sampleText(sample)),
  }),
  row<{ readonly deleted: boolean }>({
    words: 'sample delete',
    operation: 'deleteSample',
    summary: 'delete the sample of a workspace; rules are no longer tested',
    json: ({ deleted }) => ({ deleted }),
    show: ({ deleted }) => (deleted ? 'the sample is deleted' : 'the workspace has no sample'),
  }),
];
