import { isWayBack } from '../../account/large.ts';
import { answerOf, type Fields, flagField, listOf, nullable, Type } from '../../json/schema.ts';
import { RESTORE_PERIOD, type RestoredFeed } from '../../ports/stored/account-store.ts';
import { inWords } from '../../text/duration.ts';
import { DELETION_PREVIEW, type Deletion, deletedJson, restoreNamed } from '../deletion.ts';
import { RECENTLY_WORDS } from '../devices/recent-use.ts';
import { type Operation, operation } from '../operation.ts';
import { Name } from './settings.ts';

const kind = Type.Enum(['list', 'composed']);
const DELETED = {
  kind: ['list', kind],
  id: '0195a3c0-0000-7000-8000-000000000001',
  name: 'edge',
  deleted_at: '2026-11-22T09:59:31.000Z',
  restorable_until: '2026-11-29T09:59:31.000Z',
  keys: [2, 'Keys that were revoked with it and become valid again.'],
} as const satisfies Fields;
const Restorable = answerOf('DeletedFeeds', { deleted: listOf(DELETED) });
const Restored = answerOf('Restored', { kind: DELETED.kind, id: DELETED.id, name: 'edge', keys: 2, feeds: DELETION_PREVIEW.feeds });

export const DELETE_QUERY = {
  preview: flagField('true: preview only.'),
  confirmed: flagField('true: confirms the effects.'),
  for_good: flagField('true: it cannot be restored, and its rules no longer count towards limits.'),
};

export const DELETION_WORDS = `If the deletion affects rules, feeds, keys, or clients that fetched it ${RECENTLY_WORDS}, it needs \`confirmed\` (else 409). It can be restored for ${inWords(RESTORE_PERIOD)}. If keys are bound to it, the caller also needs keys:write.`;

export const DELETION_FIELDS = {
  id: DELETED.id,
  deleted: true,
  ...DELETION_PREVIEW,
  restorable_until: ['2026-11-29T09:59:31.000Z', nullable(Type.String(), { description: 'Until when it can be restored.' })],
} as const satisfies Fields;
export const DELETION = answerOf('Deletion', DELETION_FIELDS);

export const deletionBody = ({ id, deleted, ...effects }: Deletion) => ({ id, deleted, ...effects });

const restoring = (kind: 'list' | 'composed', group: 'lists' | 'feeds', param: string) =>
  operation(kind === 'list' ? 'restoreList' : 'restoreFeed', `POST /${group}/{${param}}/restore`, 'manage', {
    summary: `Restore a ${kind === 'list' ? 'list' : 'feed'} that was deleted in the last ${inWords(RESTORE_PERIOD)}`,
    description:
      'By id or former name. Restores rules, settings, memberships, and the keys that were revoked with it, which needs keys:write; a key cannot restore a more powerful key (403). A feed whose lists were changed after the deletion stays as it is; `feeds` names the feeds that contain the list again.',
    body: Type.Object({ name: Type.Optional(Name) }),
    answer: Restored,
    audit: kind === 'list' ? 'list restored' : 'feed restored',
    refusals: {
      404: `no ${kind === 'list' ? 'list' : 'feed'} "edge" was deleted in the last ${inWords(RESTORE_PERIOD)}, or it was deleted for good`,
      409: 'the workspace has a list called "edge"; lists and feeds share their names: give it another with name',
    },
    examples: [{}, { name: 'edge-2' }],
    async touches({ store, workspaceId }, { params }) {
      const now = await store.ping();
      const found = (await store.deletedFeeds(workspaceId, now)).filter((each) => [each.id, each.name].includes(params[param]!));
      if (found.every(({ deletedAt }) => isWayBack(deletedAt, now))) return null;
      return { why: 'restores what was deleted more than a day ago', of: found.map(({ id }) => id) };
    },
    run: (context, { params, body }) => restoreNamed(context, kind, params[param]!, body.name),
    show: (body: RestoredFeed) => ({ body }),
  });

export const DELETED_OPERATIONS: readonly Operation[] = [
  operation('listDeleted', 'GET /deleted', 'rules:read', {
    summary: `List restorable lists and feeds of the last ${inWords(RESTORE_PERIOD)}`,
    answer: Restorable,
    run: async ({ store, workspaceId }) => store.deletedFeeds(workspaceId, await store.ping()),
    show: (deleted) => ({ body: { deleted: deleted.map(deletedJson) } }),
  }),
  restoring('list', 'lists', 'list'),
  restoring('composed', 'feeds', 'feed'),
];
