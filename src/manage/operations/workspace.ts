/** What is set of the workspace: its guard rails, and what its own feed leaves out. */

import { type GuardRails, MOST_PROTECTED, protectedWord } from '../../account/guard-rails.ts';
import { stateTag } from '../../account/tag.ts';
import { type Workspace, type WorkspacePatch, workspaceSettingsJson } from '../../account/workspace.ts';
import { isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import { answerOf, objectOf, Type } from '../../json-schema.ts';
import { type ChangeContext, changeOptions, type ManageContext } from '../context.ts';
import { FEED_STATE, feedStateJson } from '../feed-state.ts';
import { type Operation, operation } from '../operation.ts';
import type { Outcome } from '../outcome.ts';

/** Changes what is set of a workspace; what the patch does not name stays. Words of `protect` become canonical, each once. */
export const changeWorkspace = (context: ChangeContext, { protect, ...patch }: WorkspacePatch): Promise<Workspace> =>
  context.store.updateWorkspace(
    context.workspaceId,
    { ...patch, ...(protect !== undefined && { protect: [...new Set(protect.map((word) => protectedWord(word) ?? word))] }) },
    changeOptions(context),
  );

/** A workspace as JSON has it. */
export const workspaceJson = (workspace: Workspace) => ({
  id: workspace.id,
  organization_id: workspace.organizationId,
  name: workspace.name,
  created_at: isoTime(workspace.createdAt),
  ...workspaceSettingsJson(workspace),
});

const guardRailsJson = ({ protect, minPrefixV4, minPrefixV6 }: GuardRails) => ({
  protect,
  min_prefix_v4: minPrefixV4,
  min_prefix_v6: minPrefixV6,
});

const WORKSPACE_SETTINGS = {
  protect: Type.Array(Type.String({ format: 'protected' }), {
    maxItems: MOST_PROTECTED,
    description: 'What no block may reach: networks, and the names private, special, self.',
  }),
  min_prefix_v4: Type.Integer({ minimum: 0, maximum: 32, description: 'Shortest prefix of an IPv4 block; 0 = any.' }),
  min_prefix_v6: Type.Integer({ minimum: 0, maximum: 128, description: 'Shortest prefix of an IPv6 block; 0 = any.' }),
  subtract_allow: Type.Enum(['on', 'off'], { description: "Cuts never-block rules out of the workspace's block feed." }),
};

const { protect, min_prefix_v4: v4, min_prefix_v6: v6, subtract_allow } = WORKSPACE_SETTINGS;
const ofService = objectOf(
  { protect: [[], protect], min_prefix_v4: [0, v4], min_prefix_v6: [0, v6] },
  { description: 'What the service protects beside it, in every workspace.' },
);
const WorkspaceAnswer = answerOf('Workspace', {
  id: '0195a3c0-0000-7000-8000-000000000000',
  organization_id: '0195a3c0-0000-7000-8000-00000000000f',
  name: 'default',
  created_at: '2026-11-20T10:00:00.000Z',
  protect: [['10.0.0.0/8', 'private'], protect],
  min_prefix_v4: [8, v4],
  min_prefix_v6: [19, v6],
  subtract_allow: ['off', subtract_allow],
  service: [{ protect: ['private'], min_prefix_v4: 8, min_prefix_v6: 0 }, ofService],
  feed: FEED_STATE,
});

const shown = (workspace: Workspace, context: ManageContext): Outcome => ({
  body: { ...workspaceJson(workspace), service: guardRailsJson(context.guardRails), feed: feedStateJson(context, null) },
  tag: stateTag(workspaceSettingsJson(workspace)),
});

export const WORKSPACE_OPERATIONS: readonly Operation[] = [
  operation('getWorkspace', 'GET /workspace', 'rules:read', {
    summary: 'What is set of the workspace, and what its own feed is like',
    answer: WorkspaceAnswer,
    async run({ store, workspaceId }) {
      const workspace = await store.workspace(workspaceId);
      if (workspace === undefined) throw new WeirError('NOT_FOUND', 'the workspace is gone');
      return workspace;
    },
    show: shown,
  }),
  operation('changeWorkspace', 'PATCH /workspace', 'manage', {
    summary: 'Change the guard rails of the workspace, or what its own feed leaves out; what is not named stays',
    body: Type.Object(Object.fromEntries(Object.entries(WORKSPACE_SETTINGS).map(([field, schema]) => [field, Type.Optional(schema)]))),
    bodyBytes: 128 * 1024,
    answer: WorkspaceAnswer,
    audit: 'workspace changed',
    edits: true,
    examples: [{ protect: ['private', '203.0.113.0/24'], min_prefix_v4: 8 }],
    run: (context, { body }) => changeWorkspace(context, patchOf(body)),
    show: shown,
  }),
];

/** What a body changes; it fits WORKSPACE_SETTINGS. */
function patchOf(body: Readonly<Record<string, unknown>>): WorkspacePatch {
  const { protect, min_prefix_v4: minPrefixV4, min_prefix_v6: minPrefixV6, subtract_allow: subtractAllow } = body;
  const given = Object.entries({ protect, minPrefixV4, minPrefixV6, subtractAllow }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}
