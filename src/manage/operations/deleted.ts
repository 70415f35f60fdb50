/** Lists and feeds that were deleted and can be brought back. */

import { answerOf, type Fields, flagField, listOf, nullable, Type } from '../../json/schema.ts';
import type { RestoredFeed } from '../../ports/stored/account-store.ts';
import { DELETED_KEPT } from '../../ports/stored/account-store.ts';
import { inWords } from '../../text/duration.ts';
import { DELETION_PREVIEW, type Deletion, deletedJson, restoreNamed } from '../deletion.ts';
import { LATELY_WORDS } from '../devices/recent-use.ts';
import { type Operation, operation } from '../operation.ts';
import { Name } from './settings.ts';

const kind = Type.Enum(['list', 'composed']);
const DELETED = {
  kind: ['list', kind],
  id: '0195a3c0-0000-7000-8000-000000000001',
  name: 'edge',
  deleted_at: '2026-11-22T09:59:31.000Z',
  restorable_until: '2026-11-29T09:59:31.000Z',
  keys: [2, 'Keys that were revoked with it, and would be valid again.'],
} as const satisfies Fields;
const Restorable = answerOf('DeletedFeeds', { deleted: listOf(DELETED) });
const Restored = answerOf('Restored', { kind: DELETED.kind, id: DELETED.id, name: 'edge', keys: 2, feeds: DELETION_PREVIEW.feeds });

/** The parameters of a deletion. */
export const DELETE_QUERY = {
  preview: flagField('true: tells what goes with it, and deletes nothing.'),
  confirmed: flagField('true: what goes with it is meant.'),
  for_good: flagField('true: it cannot be brought back, and its rules do not count any more.'),
};

/** How it is confirmed, for API documents. */
export const DELETION_WORDS = `Where rules, feeds or keys go with it, or somebody has pulled it ${LATELY_WORDS}, 409 until confirmed says that this is meant. It can be brought back for ${inWords(DELETED_KEPT)}. What has keys needs keys:write besides.`;

/** The fields of the answer to a deletion. */
export const DELETION_FIELDS = {
  id: DELETED.id,
  deleted: true,
  ...DELETION_PREVIEW,
  restorable_until: ['2026-11-29T09:59:31.000Z', nullable(Type.String(), { description: 'Until when it can be brought back.' })],
} as const satisfies Fields;
export const DELETION = answerOf('Deletion', DELETION_FIELDS);

/** The body of a deletion: first of all what it is, and whether it is gone. */
export const deletionBody = ({ id, deleted, ...told }: Deletion) => ({ id, deleted, ...told });

const restoring = (kind: 'list' | 'composed', group: 'lists' | 'feeds', param: string) =>
  operation(kind === 'list' ? 'restoreList' : 'restoreFeed', `POST /${group}/{${param}}/restore`, 'manage', {
    summary: `Bring back a ${kind === 'list' ? 'list' : 'feed'} that was deleted in the last ${inWords(DELETED_KEPT)}`,
    description:
      'By id, or by the name that it had: with its rules, settings, memberships, and the keys that were revoked with it, which needs keys:write; a key restores no key that may do more than itself (403). A feed whose lists were set after the deletion stays as it is; `feeds` names the feeds that have the list again.',
    body: Type.Object({ name: Type.Optional(Name) }),
    answer: Restored,
    audit: kind === 'list' ? 'list restored' : 'feed restored',
    refusals: {
      404: `no ${kind === 'list' ? 'list' : 'feed'} "edge" was deleted in the last ${inWords(DELETED_KEPT)}, or it was for good`,
      409: 'the workspace has a list called "edge"; lists and feeds share their names: give it another with name',
    },
    examples: [{}, { name: 'edge-2' }],
    run: (context, { params, body }) => restoreNamed(context, kind, params[param]!, body.name),
    show: (body: RestoredFeed) => ({ body }),
  });

export const DELETED_OPERATIONS: readonly Operation[] = [
  operation('listDeleted', 'GET /deleted', 'rules:read', {
    summary: `Lists and feeds that were deleted in the last ${inWords(DELETED_KEPT)} and can be brought back, newest first`,
    answer: Restorable,
    run: async ({ store, workspaceId }) => store.deletedFeeds(workspaceId, await store.ping()),
    show: (deleted) => ({ body: { deleted: deleted.map(deletedJson) } }),
  }),
  restoring('list', 'lists', 'list'),
  restoring('composed', 'feeds', 'feed'),
];
