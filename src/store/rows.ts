/** Rows of either dialect as the nouns of rule.ts. Columns have the same names and meanings in every dialect. */
import type { KeyInfo, SavedKey } from '../account/key.ts';
import { type AccessList, settingsOf } from '../account/list.ts';
import type { Organization, Subscription } from '../account/organization.ts';
import type { Permission } from '../account/permission.ts';
import type { Workspace } from '../account/workspace.ts';
import type { DeadLetter, StoredRule } from '../ports/rule-store.ts';
import { ACCESS_ACTIONS, type AccessAction, type JsonObject, type Kind } from '../rule.ts';
import { parseTarget } from './columns.ts';
import { levelsOf } from './levels.ts';

/** One row: column name → value as a driver gives it (64-bit integers may come as text). */
export type Row = Record<string, unknown>;

/** The table behind each kind of rule. */
export const RULE_TABLES: Record<Kind, string> = {
  access_rule: 'access_rules',
  waf_rule: 'waf_rules',
  smart_firewall_rule: 'smart_firewall_rules',
};

/** Counts the rules of a workspace; `now` and `id` are a dialect's placeholders, which stand in this order. */
export function ruleCount(now: string, id: string): string {
  const active = '(r.expires_at IS NULL OR r.expires_at > at.now)';
  const counts = Object.values(RULE_TABLES).map((table) =>
    table === RULE_TABLES.access_rule
      ? `(SELECT count(*) FROM lists l JOIN ${table} r ON r.list_pk = l.pk WHERE l.workspace_pk = w.pk AND ${active})`
      : `(SELECT count(*) FROM ${table} r WHERE r.workspace_pk = w.pk AND ${active})`,
  );
  return `SELECT ${counts.join(' + ')} AS rules FROM workspaces w, (SELECT CAST(${now} AS BIGINT) AS now) at WHERE w.id = ${id}`;
}

const text = (value: unknown) => (value === null || value === undefined ? null : String(value));
const integer = (value: unknown) => (value === null || value === undefined ? null : Number(value));
const json = (value: unknown) => (value === null || value === undefined ? null : (JSON.parse(String(value)) as JsonObject));

/** Stored code of an access action: its place in ACCESS_ACTIONS. */
export const actionCode = (action: AccessAction): number => ACCESS_ACTIONS.indexOf(action);
export const actionOf = (code: unknown): AccessAction => ACCESS_ACTIONS[Number(code)];

export function organizationOf(row: Row): Organization {
  return { id: String(row.id), name: String(row.name), subscription: row.subscription as Subscription, createdAt: Number(row.created_at) };
}

/** Needs the column `organization_id`. */
export function workspaceOf(row: Row): Workspace {
  return { id: String(row.id), organizationId: String(row.organization_id), name: String(row.name), createdAt: Number(row.created_at) };
}

export function listOf(row: Row, workspaceId: string): AccessList {
  return {
    id: String(row.id),
    workspaceId,
    name: String(row.name),
    description: text(row.description),
    isDefault: Number(row.is_default) === 1,
    ...settingsOf(row),
    revision: Number(row.revision),
  };
}

export function keyOf(row: Row, workspaceId: string): KeyInfo {
  return {
    id: String(row.id),
    workspaceId,
    name: text(row.name),
    prefix: String(row.prefix),
    permissions: String(row.permissions).split(' ') as Permission[],
    listId: text(row.list_id),
    createdAt: Number(row.created_at),
    expiresAt: integer(row.expires_at),
    revokedAt: integer(row.revoked_at),
    lastUsedAt: integer(row.last_used_at),
  };
}

export function savedKeyOf(row: Row): SavedKey {
  const { workspaceId: _, ...key } = keyOf(row, '');
  return { ...key, hash: row.hash as Uint8Array };
}

export function deadLetterOf(row: Row): DeadLetter {
  return {
    id: Number(row.id),
    at: Number(row.at),
    reason: String(row.reason),
    streamId: String(row.stream_id),
    partition: Number(row.partition),
    offset: Number(row.record_offset),
    timestamp: Number(row.timestamp),
    key: String(row.key),
    headers: json(row.headers) as unknown as Record<string, string>,
    value: String(row.value),
  };
}

/** Access rules need the column `list_id`. */
export function ruleOf(kind: Kind, row: Row): StoredRule {
  const base = {
    name: text(row.name),
    reason: text(row.reason),
    labels: json(row.labels),
    config: json(row.config),
    expiresAt: integer(row.expires_at),
  };
  const stored = { id: Number(row.id), kind, createdAt: Number(row.created_at), updatedAt: Number(row.updated_at) };
  if (kind === 'access_rule') {
    const rule = {
      ...base,
      ruleRef: text(row.rule_ref),
      action: actionOf(row.action),
      target: parseTarget(String(row.target)),
      ...levelsOf(Number(row.levels)),
    };
    return { ...stored, listId: String(row.list_id), rule };
  }
  const rule = {
    ...base,
    ruleRef: String(row.rule_ref),
    type: row.type as 'custom' | 'generated',
    expression: String(row.expression),
    action: String(row.action),
    order: integer(row.order),
    shortDescription: text(row.short_description),
  };
  return { ...stored, listId: null, rule };
}
