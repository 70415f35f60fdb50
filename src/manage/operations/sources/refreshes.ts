/** Refreshes of sources: asked for, accepted, discarded, and told (SPEC D23.17, D23.22). */

import type { SourceAsk } from '../../../account/source-run.ts';
import { isoTime } from '../../../clock.ts';
import { answerOf, nullable, Type, textField } from '../../../json/schema.ts';
import { FIRST_TOLD } from '../../../source/sync.ts';
import { type Operation, operation } from '../../operation.ts';
import { askSource, heldDifference, runJson } from '../../sources/refreshes.ts';
import { Source } from '../../sources/source-json.ts';
import { findSource } from '../../sources/sources.ts';
import { FEED_FIELDS } from '../feed-fields.ts';
import { ADDRESSES } from '../rules/addresses.ts';
import { shown, UNKNOWN } from './sources.ts';

const REPLACEMENT = '0195a3c0-0000-7000-8000-000000000006';
const NOTHING_HELD = 'nothing of the source "spamhaus-drop" is held back';
const WITHIN =
  'Answered at once (202); the process that refreshes sources does it within seconds, or when its host lets itself be asked (`waits_for`, `waits_until`), and `asked` is null again.';

const count = (example: number, description: string) => [example, description] as const;
/** What a refresh does, or would do. */
const COUNTS = {
  added: count(61, 'Entries that come.'),
  removed: count(12, 'Entries that go.'),
  refused: count(0, 'Entries that guard rails refuse.'),
};

/** What is held back changes rules, and nothing of the source: operators decide about it. */
const asking = (what: SourceAsk['what'], summary: string, audit: string, refused: string) =>
  operation(`${what}Source`, `POST /sources/{source}/${what}`, what === 'refresh' ? 'manage' : 'rules:write', {
    summary,
    description: WITHIN,
    body: Type.Object(
      what === 'refresh'
        ? {}
        : {
            replacement: textField(100, 'The refresh that was looked at (`held.replacement`): where another is held, 409.', {
              minLength: 1,
            }),
          },
    ),
    answer: Source,
    audit,
    refusals: { 404: UNKNOWN, 409: refused },
    examples: [what === 'refresh' ? {} : { replacement: REPLACEMENT }],
    async run(context, { params, body }) {
      const { replacement } = body as { readonly replacement?: string };
      const record = await askSource(context, params.source!, what, replacement);
      context.refreshSources?.();
      return record;
    },
    status: 202,
    show: shown,
  });

export const SOURCE_REFRESH_OPERATIONS: readonly Operation[] = [
  asking(
    'refresh',
    'Fetch a source now, or as soon as its host lets itself be asked',
    'source refresh asked',
    'the source "spamhaus-drop" is paused: resume it',
  ),
  asking('accept', 'Take the content that is held back', 'source accepted', NOTHING_HELD),
  asking('discard', 'Do not take the content that is held back, nor ask about it again', 'source discarded', NOTHING_HELD),
  operation('listSourceRuns', 'GET /sources/{source}/runs', 'rules:read', {
    summary: 'The last 20 refreshes of a source, newest first',
    answer: answerOf('SourceRuns', {
      runs: [
        [],
        Type.Array(
          answerOf('SourceRun', {
            at: '2026-11-20T10:00:00.000Z',
            outcome: ['applied', Type.Enum(['applied', 'unchanged', 'held', 'failed', 'stopped', 'expired', 'discarded'])],
            ms: 420,
            bytes: 41_234,
            entries: count(1692, 'Entries of the content, those that were not taken included.'),
            ...COUNTS,
            faults: count(0, 'Entries that could not be read or taken.'),
            replacement: [REPLACEMENT, nullable(Type.String({ description: 'Undoes all of it (POST /undo), or what is held.' }))],
            text: 'done',
          }),
        ),
      ],
    }),
    refusals: { 404: UNKNOWN },
    async run({ store, workspaceId }, { params }) {
      const { source } = await findSource(store, workspaceId, params.source!);
      return { runs: (await store.sourceRuns(workspaceId, source.id)).map(runJson) };
    },
  }),
  operation('getHeldRefresh', 'GET /sources/{source}/held', 'rules:read', {
    summary: 'What the refresh that is held back would do to the list and to feeds, as they are now',
    answer: answerOf(
      'HeldRefresh',
      {
        replacement: REPLACEMENT,
        since: '2026-11-20T10:00:00.000Z',
        reason: '1204 of 1692 entries would go, more than 50 %',
        present: count(1692, 'Entries that the list has.'),
        ...COUNTS,
        changed: 0,
        unchanged: 488,
        failed: count(0, 'Entries that could not be read or taken.'),
        addresses: [[], ADDRESSES],
        errors: [[], Type.Array(Type.Object({ place: Type.String(), message: Type.String() }), { description: FIRST_TOLD })],
      },
      FEED_FIELDS,
    ),
    refusals: { 404: UNKNOWN, 409: NOTHING_HELD },
    async run(context, { params }) {
      const record = await findSource(context.store, context.workspaceId, params.source!);
      const { caller, workspaceId, inTurn } = context;
      const { plan, feeds, since, ...told } = await inTurn(() => heldDifference(context, caller, record), `held ${workspaceId}`);
      const { present, added, removed, changed, unchanged, refused, failed, addresses, faults } = plan;
      const { replacement, reason } = told;
      const counts = { present, added, removed, refused, changed, unchanged, failed, addresses, errors: faults };
      return { replacement, since: isoTime(since), reason, ...counts, ...feeds };
    },
  }),
];
