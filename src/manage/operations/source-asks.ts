/** What is asked of a source, and what its refreshes did (SPEC D23.13, D23.17). The process that refreshes it does it, within seconds. */

import { RUN_OUTCOMES, type SourceRun } from '../../account/source.ts';
import { isoTime } from '../../clock.ts';
import { answerOf, listOf, nullable, Type } from '../../json-schema.ts';
import { type Operation, operation } from '../operation.ts';
import { Source, sourceJson } from '../sources/source-json.ts';
import { askOf, findSource } from '../sources/sources.ts';

const UNKNOWN = 'there is no source "spamhaus-drop"';

/** What each asks for. */
const ASKS = {
  refresh: {
    name: 'refreshSource',
    summary: 'Fetch a source at once, whatever its interval; also one that its origin has refused',
    audit: 'source refresh asked',
    refusal: 'the source "spamhaus-drop" is paused: resume it',
  },
  accept: {
    name: 'acceptSource',
    summary: 'Apply the refresh of a source that is held back, as it was fetched',
    audit: 'source accepted',
    refusal: 'no refresh of the source "spamhaus-drop" is held back',
  },
  discard: {
    name: 'discardSource',
    summary: 'Drop the refresh of a source that is held back; that content is not asked about again',
    audit: 'source discarded',
    refusal: 'no refresh of the source "spamhaus-drop" is held back',
  },
} as const;

const asking = (what: keyof typeof ASKS) => {
  const { name, summary, audit, refusal } = ASKS[what];
  return operation(name, `POST /sources/{source}/${what}`, {
    summary,
    description: '`asked` of the answer says so until it is done.',
    permission: 'rules:write',
    body: Type.Object({}),
    answer: Source,
    audit,
    refusals: { 404: UNKNOWN, 409: refusal },
    examples: [{}],
    run: (context, { params }) => askOf(context, params.source!, what),
    show: (record, { now }) => ({ status: 202, body: sourceJson(record, now()) }),
  });
};

export const runJson = ({ at, ...run }: SourceRun) => ({ at: isoTime(at), ...run });

const RUNS = listOf({
  at: '2026-11-23T06:00:12.000Z',
  outcome: ['applied', Type.Enum([...RUN_OUTCOMES])],
  ms: 412,
  bytes: 81_234,
  entries: 1692,
  added: 12,
  removed: 3,
  refused: 0,
  faults: 0,
  replacement: ['0195a3c0-0000-7000-8000-000000000009', nullable(Type.String({ description: 'Undoes it, as the id of a batch does.' }))],
  text: ['', 'Why it was held, or failed.'],
});

export const SOURCE_ASKS: readonly Operation[] = [
  asking('refresh'),
  asking('accept'),
  asking('discard'),
  operation('listSourceRuns', 'GET /sources/{source}/runs', {
    summary: 'The last refreshes of a source, newest first; twenty at most',
    permission: 'rules:read',
    answer: answerOf('SourceRuns', { runs: RUNS }),
    refusals: { 404: UNKNOWN },
    async run({ store, workspaceId }, { params }) {
      const { source } = await findSource(store, workspaceId, params.source!);
      return { runs: (await store.sourceRuns(workspaceId, source.id)).map(runJson) };
    },
  }),
];
