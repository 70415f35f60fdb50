/** The domain's nouns, independent of wire and engine. Times are ms since 1970 unless a name says otherwise. */
import type { Network } from '@weir/network/network.ts';

/** spec 2.3. */
export const ACCESS_ACTIONS = ['block', 'allow'] as const;
export type AccessAction = (typeof ACCESS_ACTIONS)[number];

/**
 * Use of an access rule: its action, for the feed of that action; `exception`, a never-block rule of any list of the workspace, to subtract
 * from a block feed (SPEC D7.6).
 */
export const RULE_ROLES = [...ACCESS_ACTIONS, 'exception'] as const;
export type RuleRole = (typeof RULE_ROLES)[number];

/** Author of an expression rule: a person or playbook, or a classifier (spec 2.4). */
export const RULE_TYPES = ['custom', 'generated'] as const;
export type RuleType = (typeof RULE_TYPES)[number];

/** Confidence and severity, ascending (spec 4.5, csv_indicator). */
export const LEVELS = ['low', 'medium', 'high', 'critical'] as const;
export type Level = (typeof LEVELS)[number];

/** spec 2.1. */
export type Target = { readonly kind: 'ip'; readonly network: Network } | GeoTarget;

/** Resolved to networks by geo data. */
export type GeoTarget = { readonly kind: 'asn'; readonly asn: number } | { readonly kind: 'country'; readonly country: string };

/** As sent by the caller (labels, config). */
type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** `expiresAt`: a whole second; null: never. */
interface RuleBase {
  readonly name: string | null;
  readonly reason: string | null;
  readonly labels: JsonObject | null;
  readonly config: JsonObject | null;
  readonly expiresAt: number | null;
}

/** spec 2.3. Without `ruleRef` its identity is its value. */
export interface AccessRule extends RuleBase {
  readonly ruleRef: string | null;
  readonly action: AccessAction;
  readonly target: Target;
  readonly confidence: Level | null;
  readonly severity: Level | null;
}

/** A rule of an expression kind (spec 2.4). `config.phase` is optional. */
export interface ExpressionRule extends RuleBase {
  readonly ruleRef: string;
  readonly type: RuleType;
  readonly expression: string;
  readonly action: string;
  readonly order: number | null;
  readonly shortDescription: string | null;
}

interface KindRow {
  /**
   * Determines the identity of a rule in its scope (spec 2.3, 2.4, D3.10): its `rule_ref`, else, for a target, action and target. The
   * fields of an expression are in the scheme of the kind (expression/schemes.json).
   */
  readonly holds: 'target' | 'expression';
  /** Owner of the rules. A key bound to a list cannot write to the workspace. */
  readonly scope: 'list' | 'workspace';
  readonly table: string;
  readonly actions: readonly string[];
  readonly called: string;
}
interface TargetKindRow extends KindRow {
  readonly holds: 'target';
  readonly scope: 'list';
}
interface ExpressionKindRow extends KindRow {
  readonly holds: 'expression';
  readonly scope: 'workspace';
  readonly hasPhase: boolean;
  readonly example: Pick<ExpressionRule, 'ruleRef' | 'type' | 'expression' | 'action'> & Partial<Pick<ExpressionRule, 'name' | 'order'>>;
}

/** One row per kind (spec 2.2); all differences derive from it. */
export const RULE_KINDS = {
  access_rule: {
    holds: 'target',
    scope: 'list',
    table: 'access_rules',
    actions: ACCESS_ACTIONS,
    called: 'access rules',
  },
  waf_rule: {
    holds: 'expression',
    scope: 'workspace',
    table: 'waf_rules',
    actions: ['block', 'challenge', 'ratelimit', 'allow'],
    called: 'WAF rules',
    hasPhase: true,
    example: {
      ruleRef: 'waf-login',
      name: 'login guard',
      type: 'custom',
      expression: 'http.request.method eq "POST" and http.request.path contains "/login"',
      action: 'challenge',
      order: 10,
    },
  },
  smart_firewall_rule: {
    holds: 'expression',
    scope: 'workspace',
    table: 'smart_firewall_rules',
    actions: ['block', 'allow'],
    called: 'Smart Firewall rules',
    hasPhase: false,
    example: { ruleRef: 'fw-1', type: 'generated', expression: 'ip.src in {198.51.100.0/24}', action: 'block' },
  },
} as const satisfies Record<string, TargetKindRow | ExpressionKindRow>;

export type Kind = keyof typeof RULE_KINDS;
export type ExpressionKind = { [K in Kind]: (typeof RULE_KINDS)[K]['holds'] extends 'expression' ? K : never }[Kind];
export const KINDS = Object.keys(RULE_KINDS) as readonly Kind[];
export const EXPRESSION_KINDS = KINDS.filter(isExpressionKind);

export function isExpressionKind(kind: Kind): kind is ExpressionKind {
  return RULE_KINDS[kind].holds === 'expression';
}

export function perKind<K extends Kind, T>(kinds: readonly K[], make: (kind: K) => T): Record<K, T> {
  return Object.fromEntries(kinds.map((kind) => [kind, make(kind)])) as Record<K, T>;
}

/**
 * The effect of an accepted signal, applied in stream order. `delete_by_value` removes every access rule of the list with that target and
 * action, with or without a rule_ref: an unblock must unblock the address (SPEC D3.11).
 */
export type RuleChange =
  | { readonly change: 'upsert'; readonly kind: 'access_rule'; readonly rule: AccessRule }
  | { readonly change: 'upsert'; readonly kind: ExpressionKind; readonly rule: ExpressionRule }
  | { readonly change: 'delete'; readonly kind: Kind; readonly ruleRef: string }
  | { readonly change: 'delete_by_value'; readonly kind: 'access_rule'; readonly action: AccessAction; readonly target: Target };

/**
 * A person's change of rules, through the stream like all others (SPEC D9). `delete_rules` deletes by store ids, access rules from the
 * message's list; `set_rules` changes expiry or reason of active ones. `undo` restores rules replaced or deleted by a batch and removes
 * those it added.
 */
export type RuleOperation =
  | { readonly change: 'delete_rules'; readonly kind: Kind; readonly ids: readonly number[] }
  | ({ readonly change: 'set_rules'; readonly kind: Kind; readonly ids: readonly number[] } & RuleSetting)
  | { readonly change: 'undo'; readonly batchId: string };

export interface RuleSetting {
  /** ms since 1970; null: never. */
  readonly expiresAt?: number | null | undefined;
  readonly reason?: string | null | undefined;
}

export const isOperation = (change: RuleChange | RuleOperation): change is RuleOperation =>
  change.change === 'undo' || change.change === 'delete_rules' || change.change === 'set_rules';

export const hasLabel = (labels: JsonObject | null, name: string, value: string): boolean =>
  labels !== null && Object.hasOwn(labels, name) && String(labels[name]) === value;

/** `name:value`; undefined: invalid. */
export function readLabel(text: string): [string, string] | undefined {
  const at = text.indexOf(':');
  return at < 1 ? undefined : [text.slice(0, at), text.slice(at + 1)];
}
