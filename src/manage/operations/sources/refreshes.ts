/** SPEC D23.17, D23.22. */

import type { SourceAsk } from '../../../account/source-run.ts';
import { isoTime } from '../../../clock.ts';
import { answerOf, nullable, Type, textField } from '../../../json/schema.ts';
import { FIRST_FAULTS } from '../../../source/sync.ts';
import { type Operation, operation } from '../../operation.ts';
import { addressesOnHold } from '../../sources/held-addresses.ts';
import { askSource, onHoldDifference, runJson } from '../../sources/refreshes.ts';
import { Source } from '../../sources/source-json.ts';
import { findSource } from '../../sources/sources.ts';
import { FEED_FIELDS } from '../feed-fields.ts';
import { ADDRESSES } from '../rules/addresses.ts';
import { respond, UNKNOWN } from './sources.ts';

const REPLACEMENT = '0195a3c0-0000-7000-8000-000000000006';
const NOTHING_ON_HOLD = 'the source "spamhaus-drop" has no refresh on hold';
const WITHIN =
  'Responds immediately (202). The process that refreshes sources acts within seconds, or when the host allows the next fetch (`waits_for`, `waits_until`); then `asked` is null again.';

const count = (example: number, description: string) => [example, description] as const;
const COUNTS = {
  added: count(61, 'Entries added.'),
  removed: count(12, 'Entries removed.'),
  refused: count(0, 'Entries refused by guard rails.'),
};

const MOST_NETWORKS = 100_000;
const USUAL_NETWORKS = 20;
const networksField = (about: string, networks: readonly string[]) => ({
  count: count(networks.length, `Networks ${about}, neighbours merged.`),
  networks: [networks, Type.Array(Type.String(), { description: 'The first of them.' })] as const,
  detections: count(1, 'Active block rules with an address in them, of lists without a source.'),
});

/** Changes rules, not settings: operators may do it. */
const asking = (what: SourceAsk['what'], summary: string, audit: string, refused: string) =>
  operation(`${what}Source`, `POST /sources/{source}/${what}`, what === 'refresh' ? 'manage' : 'rules:write', {
    summary,
    description: WITHIN,
    body: Type.Object(
      what === 'refresh'
        ? {}
        : {
            replacement: textField(100, 'The reviewed refresh (`held.replacement`); 409 if another one is on hold.', {
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
    show: respond,
  });

export const SOURCE_REFRESH_OPERATIONS: readonly Operation[] = [
  asking(
    'refresh',
    'Fetch a source now, or as soon as its host allows',
    'source refresh asked',
    'the source "spamhaus-drop" is paused: resume it',
  ),
  asking('accept', 'Accept the refresh on hold', 'source accepted', NOTHING_ON_HOLD),
  asking('discard', 'Discard the refresh on hold', 'source discarded', NOTHING_ON_HOLD),
  operation('listSourceRuns', 'GET /sources/{source}/runs', 'rules:read', {
    summary: 'List the last 20 refreshes of a source, newest first',
    answer: answerOf('SourceRuns', {
      runs: [
        [],
        Type.Array(
          answerOf('SourceRun', {
            at: '2026-11-20T10:00:00.000Z',
            outcome: ['applied', Type.Enum(['applied', 'unchanged', 'held', 'failed', 'stopped', 'expired', 'discarded'])],
            ms: 420,
            bytes: 41_234,
            entries: count(1692, 'Entries of the content, including invalid ones.'),
            ...COUNTS,
            faults: count(0, 'Unreadable or invalid entries.'),
            replacement: [
              REPLACEMENT,
              nullable(Type.String({ description: 'Undoes the refresh (POST /undo), or identifies the refresh on hold.' })),
            ],
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
    summary: 'Preview the refresh on hold',
    answer: answerOf(
      'RefreshOnHold',
      {
        replacement: REPLACEMENT,
        since: '2026-11-20T10:00:00.000Z',
        reason: 'it would remove 1204 of 1692 entries, more than 50 %',
        present: count(1692, 'Current entries of the list.'),
        ...COUNTS,
        changed: 0,
        unchanged: 488,
        failed: count(0, 'Unreadable or invalid entries.'),
        addresses: [[], ADDRESSES],
        errors: [[], Type.Array(Type.Object({ place: Type.String(), message: Type.String() }), { description: FIRST_FAULTS })],
      },
      FEED_FIELDS,
    ),
    refusals: { 404: UNKNOWN, 409: NOTHING_ON_HOLD },
    async run(context, { params }) {
      const record = await findSource(context.store, context.workspaceId, params.source!);
      const { caller, workspaceId, inTurn } = context;
      const { plan, feeds, since, ...told } = await inTurn(() => onHoldDifference(context, caller, record), `held ${workspaceId}`);
      const { present, added, removed, changed, unchanged, refused, failed, addresses, faults } = plan;
      const { replacement, reason } = told;
      const counts = { present, added, removed, refused, changed, unchanged, failed, addresses, errors: faults };
      return { replacement, since: isoTime(since), reason, ...counts, ...feeds };
    },
  }),
  operation('getHeldAddresses', 'GET /sources/{source}/held/addresses', 'rules:read', {
    summary: 'Get the addresses that the refresh on hold would add and remove',
    query: Type.Object({
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: MOST_NETWORKS, description: `Networks of each. Default ${USUAL_NETWORKS}.` }),
      ),
    }),
    answer: answerOf('AddressesOnHold', {
      replacement: REPLACEMENT,
      added: networksField('added', ['192.0.2.0/24']),
      removed: networksField('removed', ['198.51.100.7/32']),
    }),
    refusals: { 404: UNKNOWN, 409: NOTHING_ON_HOLD },
    async run(context, { params, query: { limit = USUAL_NETWORKS } }) {
      const { caller, workspaceId, inTurn, store } = context;
      const record = await findSource(store, workspaceId, params.source!);
      return inTurn(() => addressesOnHold(context, caller, record, limit), `held ${workspaceId}`);
    },
  }),
];
