/** Columns have the same names and meanings in both dialects. */
import type { Caller } from '../account/caller.ts';
import { type FeedProfile, workspaceProfile } from '../account/feed.ts';
import type { GuardRails } from '../account/guard-rails.ts';
import type { KeyInfo, SavedKey } from '../account/key.ts';
import { largeSettingsOf } from '../account/large.ts';
import { type AccessList, settingsOf } from '../account/list.ts';
import type { Permission } from '../account/permission.ts';
import type { GroupRole } from '../account/person.ts';
import type { SampleInfo } from '../account/sample.ts';
import type { Organization, Subscription, Workspace, WorkspaceSettings } from '../account/workspace.ts';
import { levelsOf } from '../feed/levels.ts';
import type { DeadLetter } from '../ports/landing.ts';
import type { NamedRule } from '../ports/stored/rule-store.ts';
import type { Workplace } from '../ports/stored/session-store.ts';
import type { RuleState, StoredRule } from '../ports/stored/stored-rule.ts';
import { isExpressionKind, type JsonObject, type Kind, type RuleType } from '../rule.ts';
import { actionOf, targetOf } from './columns.ts';

/** Column name to driver value; 64-bit integers may be text. */
export type Row = Record<string, unknown>;

export const textOrNull = (value: unknown) => (value === null || value === undefined ? null : String(value));
/** Separated by spaces. */
const words = (value: unknown): string[] => (value === '' ? [] : String(value).split(' '));
export const numberOrNull = (value: unknown) => (value === null || value === undefined ? null : Number(value));
export const jsonOrNull = (value: unknown) => (value === null || value === undefined ? null : (JSON.parse(String(value)) as JsonObject));

export const organizationOf = (row: Row): Organization => ({
  id: String(row.id),
  name: String(row.name),
  subscription: row.subscription as Subscription,
  createdAt: Number(row.created_at),
});

/** Needs `organization_id`. */
export function workspaceOf(row: Row): Workspace {
  const { id, name, organization_id: organizationId, created_at: createdAt } = row;
  return {
    ...workspaceSettingsOf(row),
    id: String(id),
    organizationId: String(organizationId),
    name: String(name),
    createdAt: Number(createdAt),
  };
}

const groupRolesOf = (text: unknown): GroupRole[] => JSON.parse(String(text)) as GroupRole[];

const subtractAllowOf = (row: Row) => row.subtract_allow as WorkspaceSettings['subtractAllow'];

const workspaceSettingsOf = (row: Row): WorkspaceSettings => ({
  ...guardRailsOf(row),
  ...largeSettingsOf(row),
  people: groupRolesOf(row.people),
  subtractAllow: subtractAllowOf(row),
});

export const guardRailsOf = ({ protect, min_prefix_v4, min_prefix_v6, peers, approval }: Row): GuardRails => ({
  protect: protect === '' ? [] : String(protect).split(','),
  minPrefixV4: Number(min_prefix_v4),
  minPrefixV6: Number(min_prefix_v6),
  ...(peers !== '' && { peers: String(peers) }),
  ...(approval === 'all' && { signalsWait: true }),
});

export const workspaceProfileOf = (row: Row): FeedProfile =>
  workspaceProfile({ name: String(row.name), subtractAllow: subtractAllowOf(row) });

export const profileOf = (row: Row): FeedProfile => ({
  name: String(row.name),
  ...settingsOf(row),
});

export const listOf = (row: Row, workspaceId: string): AccessList => ({
  id: String(row.id),
  workspaceId,
  ...profileOf(row),
  isDefault: Number(row.is_default) === 1,
  sourceId: textOrNull(row.source_id),
  revision: Number(row.revision),
});

export const keyOf = (row: Row, workspaceId: string): KeyInfo => ({
  id: String(row.id),
  workspaceId,
  name: textOrNull(row.name),
  prefix: String(row.prefix),
  permissions: String(row.permissions).split(' ') as Permission[],
  listId: textOrNull(row.list_id),
  feedId: textOrNull(row.feed_id),
  networks: words(row.networks),
  createdAt: Number(row.created_at),
  expiresAt: numberOrNull(row.expires_at),
  revokedAt: numberOrNull(row.revoked_at),
  lastUsedAt: numberOrNull(row.last_used_at),
});

export function savedKeyOf(row: Row): SavedKey {
  const { workspaceId: _, ...key } = keyOf(row, '');
  return { ...key, hash: row.hash as Uint8Array };
}

export const deadLetterOf = (row: Row): DeadLetter => ({
  id: Number(row.id),
  at: Number(row.at),
  reason: String(row.reason),
  streamId: String(row.stream_id),
  partition: Number(row.partition),
  offset: Number(row.record_offset),
  timestamp: Number(row.timestamp),
  key: String(row.key),
  headers: jsonOrNull(row.headers) as unknown as Record<string, string>,
  value: String(row.value),
});

/** Access rules need `list_id`, as a column or argument. */
export function ruleOf(kind: Kind, row: Row, listId: unknown = row.list_id): StoredRule {
  const base = {
    name: textOrNull(row.name),
    reason: textOrNull(row.reason),
    labels: jsonOrNull(row.labels),
    config: jsonOrNull(row.config),
    expiresAt: numberOrNull(row.expires_at),
  };
  const stored = { id: Number(row.id), kind, createdAt: Number(row.created_at), updatedAt: Number(row.updated_at), seq: Number(row.seq) };
  if (isExpressionKind(kind)) {
    const rule = {
      ...base,
      ruleRef: String(row.rule_ref),
      type: row.type as RuleType,
      expression: String(row.expression),
      action: String(row.action),
      order: numberOrNull(row.order),
      shortDescription: textOrNull(row.short_description),
    };
    return { ...stored, listId: null, rule };
  }
  const rule = {
    ...base,
    ruleRef: textOrNull(row.rule_ref),
    action: actionOf(row.action),
    target: targetOf(String(row.target)),
    ...levelsOf(Number(row.levels)),
  };
  return { ...stored, listId: String(listId), rule };
}

/** Columns: id, action, target, expires_at. */
export const ruleStateOf = (row: Row): RuleState => ({
  id: Number(row.id),
  action: actionOf(row.action),
  target: targetOf(String(row.target)),
  expires: row.expires_at === null ? 0 : Math.ceil(Number(row.expires_at) / 1000),
});

/** Columns: id, rule_ref, action, target. */
export const namedRuleOf = (row: Row): NamedRule => ({
  id: Number(row.id),
  ruleRef: textOrNull(row.rule_ref),
  action: actionOf(row.action),
  target: String(row.target),
});

export const sampleInfo = (row: Row): SampleInfo => ({
  revision: Number(row.revision),
  maxShare: numberOrNull(row.max_share),
  rules: row.rules as SampleInfo['rules'],
  requests: Number(row.requests),
  bytes: Number(row.bytes),
  readAt: Number(row.taken_at),
});

const ofWorkspace = (row: Row) => ({
  workspaceId: String(row.workspace_id),
  organizationId: String(row.organization_id),
  subscription: row.subscription as Subscription,
  guardRails: guardRailsOf(row),
  sample: row.sample_revision === null ? null : sampleInfo({ ...row, revision: row.sample_revision }),
});

/** Columns: WORKPLACE (account-tables.ts). */
export const workplaceOf = (row: Row): Workplace => ({ ...ofWorkspace(row), name: String(row.name), people: groupRolesOf(row.people) });

/** Columns: CALLER (account-tables.ts). */
export const callerOf = (row: Row): Caller => ({
  ...ofWorkspace(row),
  keyId: String(row.id),
  permissions: String(row.permissions).split(' ') as Permission[],
  listId: textOrNull(row.list_id),
  ...(textOrNull(row.list_source_id) !== null && { listSourceId: String(row.list_source_id) }),
  feedId: textOrNull(row.feed_id),
  networks: words(row.networks),
  expiresAt: numberOrNull(row.expires_at),
});
