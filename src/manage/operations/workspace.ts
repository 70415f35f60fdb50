import { type GuardRails, MOST_PROTECTED, NETWORK_SETS, protectedWord, protectsPeers, readPeers } from '../../account/guard-rails.ts';
import { isLooser, LARGE_SETTINGS } from '../../account/large.ts';
import { type GroupRole, MOST_GROUP_ROLES, readGroupRole, writeGroupRole } from '../../account/person.ts';
import { ROLES } from '../../account/role.ts';
import { stateTag } from '../../account/tag.ts';
import { type Workspace, type WorkspacePatch, workspaceSettingsJson } from '../../account/workspace.ts';
import { isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import { answerOf, listOf, objectOf, Type } from '../../json/schema.ts';
import { formatTarget } from '../../signal/target.ts';
import { type ChangeContext, changeOptions, type ManageContext } from '../context.ts';
import { FEED_STATE, feedStateJson } from '../feed-state.ts';
import { refuseMore, refusePeopleElsewhere } from '../keys/bounds.ts';
import { type Operation, operation } from '../operation.ts';
import type { Outcome } from '../outcome.ts';
import { namesIn } from '../rules/rule-json.ts';
import { visitRules } from '../rules/rule-selections.ts';
import { settable, settingFields, settingsPatch } from './settings.ts';

/** Absent fields stay. Rejects with FORBIDDEN for a role that exceeds the caller. */
export async function changeWorkspace(context: ChangeContext, patch: WorkspacePatch): Promise<Workspace> {
  if (patch.people !== undefined) await refuseMorePeople(context, patch.people);
  return context.store.updateWorkspace(context.workspaceId, canonicalSettings(patch), changeOptions(context));
}

/** Without duplicates. */
export const canonicalSettings = ({ protect, ...patch }: WorkspacePatch): WorkspacePatch => ({
  ...patch,
  ...(protect !== undefined && { protect: [...new Set(protect.map((word) => protectedWord(word) ?? word))] }),
});

async function refuseMorePeople(context: ChangeContext, people: readonly GroupRole[]): Promise<void> {
  const before = (await context.store.workspace(context.workspaceId))?.people ?? [];
  const written = (rows: readonly GroupRole[]) => new Set(rows.map(writeGroupRole));
  const [after, prior] = [written(people), written(before)];
  for (const row of after.symmetricDifference(prior)) refuseMore(context, ROLES[readGroupRole(row)!.role], 'role');
  refusePeopleElsewhere(context, after.difference(prior));
}

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

const peersJson = (own: GuardRails, { guardRails }: ManageContext) =>
  [own, guardRails].some(protectsPeers)
    ? readPeers(own.peers).map(({ address, name, lastSeen }) => ({ address, name, last_seen: lastSeen }))
    : [];

const WORKSPACE_SETTINGS = {
  protect: Type.Array(Type.String({ format: 'protected' }), {
    maxItems: MOST_PROTECTED,
    description: `Networks that no block may reach, and the names ${NETWORK_SETS.join(', ')}; after warn:, blocks are only reported.`,
  }),
  min_prefix_v4: Type.Integer({ minimum: 0, maximum: 32, description: 'Shortest prefix of an IPv4 block; 0 = any.' }),
  min_prefix_v6: Type.Integer({ minimum: 0, maximum: 128, description: 'Shortest prefix of an IPv6 block; 0 = any.' }),
  subtract_allow: Type.Enum(['on', 'off'], { description: "Subtracts allow rules from the workspace's block feed." }),
  people: Type.Array(Type.String({ format: 'group_role' }), {
    maxItems: MOST_GROUP_ROLES,
    description: 'Roles for groups, such as operator=soc, or operator@keycloak=soc for one provider.',
  }),
};

export const WORKSPACE_SETTABLE = {
  ...Object.fromEntries(Object.entries(WORKSPACE_SETTINGS).map(([field, schema]) => [field, Type.Optional(schema)])),
  ...settable(LARGE_SETTINGS),
};

const { protect, min_prefix_v4: v4, min_prefix_v6: v6, subtract_allow, people } = WORKSPACE_SETTINGS;
const ofService = objectOf(
  { protect: [[], protect], min_prefix_v4: [0, v4], min_prefix_v6: [0, v6] },
  { description: 'What the service also protects in every workspace.' },
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
  people: [['operator=soc'], people],
  ...settingFields(
    {
      large: 'all',
      largeAddresses: 65_536,
      largeNetworks: null,
      largePercent: 50,
      approval: null,
      approvalAddresses: null,
      approvalRules: null,
      approvalPercent: null,
      canaryKeys: null,
      canaryMinutes: null,
    },
    LARGE_SETTINGS,
  ),
  service: [{ protect: ['private'], min_prefix_v4: 8, min_prefix_v6: 0 }, ofService],
  peers: listOf(
    { address: '203.0.113.7', name: 'key "fw-berlin"', last_seen: '2026-11-20' },
    { description: 'Own clients that `peers` protects.' },
  ),
  feed: FEED_STATE,
});

const respond = (workspace: Workspace, context: ManageContext): Outcome => ({
  body: {
    ...workspaceJson(workspace),
    service: guardRailsJson(context.guardRails),
    peers: peersJson(workspace, context),
    feed: feedStateJson(context, null),
  },
  tag: stateTag(workspaceSettingsJson(workspace)),
});

export const WORKSPACE_OPERATIONS: readonly Operation[] = [
  operation('getWorkspace', 'GET /workspace', 'rules:read', {
    summary: 'Get the settings and the feed state of the workspace',
    answer: WorkspaceAnswer,
    async run({ store, workspaceId }) {
      const workspace = await store.workspace(workspaceId);
      if (workspace === undefined) throw new WeirError('NOT_FOUND', 'the workspace was deleted');
      return workspace;
    },
    show: respond,
  }),
  operation('changeWorkspace', 'PATCH /workspace', 'manage', {
    summary: 'Change guard rails, subtract_allow, group roles, canaries or the limits of large changes and approvals',
    description: 'A key cannot give or remove a more powerful role (403).',
    body: Type.Object(WORKSPACE_SETTABLE),
    bodyBytes: 128 * 1024,
    answer: WorkspaceAnswer,
    audit: 'workspace changed',
    edits: true,
    async touches({ store, workspaceId }, { body }) {
      const before = await store.workspace(workspaceId);
      if (before !== undefined && isLooser(before, { ...before, ...workspacePatch(body) }))
        return { why: 'fewer changes would need approval', of: null };
      return Object.keys(body).every((field) => field === 'people' || /^(large|approval|canary)/.test(field))
        ? null
        : { lists: undefined, of: null };
    },
    examples: [{ protect: ['private', '203.0.113.0/24'], min_prefix_v4: 8 }],
    run: (context, { body }) => changeWorkspace(context, workspacePatch(body)),
    show: respond,
  }),
  operation('tryGuardRails', 'POST /workspace/preview', 'manage', {
    summary: 'List active rules that other guard rails would refuse; changes nothing',
    description:
      'Such rules stay until they expire or are deleted, but feeds leave out protected networks. Absent fields keep their value.',
    body: Type.Object({ protect: Type.Optional(protect), min_prefix_v4: Type.Optional(v4), min_prefix_v6: Type.Optional(v6) }),
    bodyBytes: 128 * 1024,
    answer: answerOf('RefusedRules', {
      refused: [1, 'Active blocks that only the new guard rails would refuse.'],
      first: listOf({ target: '8.0.0.0/9', list_name: 'default', why: 'is wider than /12, the widest network that may be blocked' }),
      is_whole: [true, 'false: the check stopped after 250,000 rules or 15 seconds; there may be more.'],
    }),
    examples: [{ protect: ['private'], min_prefix_v4: 12 }],
    run: (context, { body }) =>
      context.inTurn(
        () => refusedRules(context, { ...context.caller.guardRails, ...canonicalSettings(workspacePatch(body)) }),
        `rules ${context.workspaceId}`,
      ),
  }),
];

export function workspacePatch(body: Readonly<Record<string, unknown>>): WorkspacePatch {
  const { protect, min_prefix_v4: minPrefixV4, min_prefix_v6: minPrefixV6, subtract_allow: subtractAllow, people: written } = body;
  const people = (written as string[] | undefined)?.map((text) => readGroupRole(text));
  const given = Object.entries({ protect, minPrefixV4, minPrefixV6, subtractAllow, people }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), ...(settingsPatch(body, LARGE_SETTINGS) as WorkspacePatch) };
}

const NAMED = 5;

export interface RefusedRules {
  /** By the new guard rails only. */
  readonly refused: number;
  readonly first: readonly { readonly target: string; readonly list_name: string; readonly why: string }[];
  /** false: there may be more. */
  readonly is_whole: boolean;
}

/** Preview of new guard rails (SPEC D45.12). Checks networks only: countries and ASNs are trimmed in feeds. */
async function refusedRules(context: ManageContext, proposed: GuardRails): Promise<RefusedRules> {
  const { store, workspaceId, caller } = context;
  const [before, after] = [caller.guardRails, proposed].map((guardRails) => context.blockFaults({ ...caller, guardRails }));
  const conditions = { kind: 'access_rule', action: 'block', targetKind: 'ip' } as const;
  const { lists } = await namesIn(store, workspaceId);
  const first: { target: string; list_name: string; why: string }[] = [];
  let refused = 0;
  const is_whole = await visitRules(context, conditions, (rules) => {
    for (const { rule, listId } of rules) {
      if (!('target' in rule) || rule.target.kind !== 'ip') continue;
      const why = after!(rule.target.network);
      if (why.length === 0 || before!(rule.target.network).length > 0) continue;
      refused += 1;
      if (first.length < NAMED)
        first.push({ target: formatTarget(rule.target), list_name: lists.get(listId ?? '') ?? '', why: why.join('; ') });
    }
  });
  return { refused, first, is_whole };
}
