/**
 * The nouns of weir: what a rule is, whatever the wire or the engine.
 * Times are milliseconds since 1970 unless a name says otherwise.
 */
import type { Network } from '@weir/network/network.ts';

/** What a rule asks the enforcement point to do with an access-rule target (spec 2.3). */
export const ACCESS_ACTIONS = ['block', 'allow'] as const;
export type AccessAction = (typeof ACCESS_ACTIONS)[number];

/**
 * What an access rule is read for: its action, for the feed of that action; `exception`, a never-block rule of any list of the workspace,
 * to be cut out of a block feed (SPEC D7.6).
 */
export const RULE_ROLES = [...ACCESS_ACTIONS, 'exception'] as const;
export type RuleRole = (typeof RULE_ROLES)[number];

/** Who wrote an expression rule: a person or a playbook, or a classifier (spec 2.4). */
export const RULE_TYPES = ['custom', 'generated'] as const;
export type RuleType = (typeof RULE_TYPES)[number];

/** Confidence and severity, in rank order (spec 4.5, csv_indicator). */
export const LEVELS = ['low', 'medium', 'high', 'critical'] as const;
export type Level = (typeof LEVELS)[number];

/** What an access rule is about: exactly one of a network, an ASN, a country (spec 2.1). */
export type Target = { readonly kind: 'ip'; readonly network: Network } | GeoTarget;

/** What geo data has the networks of. */
export type GeoTarget = { readonly kind: 'asn'; readonly asn: number } | { readonly kind: 'country'; readonly country: string };

/** JSON data as a caller sent it (labels, config). */
type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** What every rule carries. `expiresAt` is null for a rule without expiry; it always is a whole second. */
interface RuleBase {
  readonly name: string | null;
  readonly reason: string | null;
  readonly labels: JsonObject | null;
  readonly config: JsonObject | null;
  readonly expiresAt: number | null;
}

/** A block or never-block rule on one target (spec 2.3). Without `ruleRef` its identity is its value. */
export interface AccessRule extends RuleBase {
  readonly ruleRef: string | null;
  readonly action: AccessAction;
  readonly target: Target;
  readonly confidence: Level | null;
  readonly severity: Level | null;
}

/** A rule of any expression kind (spec 2.4). `config.phase` holds the phase when the caller gave one. */
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
   * What the rule body holds (spec 2.3, 2.4), which decides what identifies a rule in its scope (D3.10).
   * target: its `rule_ref`, or without one its action and target. expression: its `rule_ref`; the scheme of the kind
   * (expression/schemes.json) says which fields the expression may use.
   */
  readonly holds: 'target' | 'expression';
  /** Where its rules live: in a list, or in the workspace, which a key that is bound to a list cannot write to. */
  readonly scope: 'list' | 'workspace';
  /** The table in both stores. */
  readonly table: string;
  readonly actions: readonly string[];
  /** The name of its rules in the API documents. */
  readonly called: string;
}
interface TargetKindRow extends KindRow {
  readonly holds: 'target';
  readonly scope: 'list';
}
interface ExpressionKindRow extends KindRow {
  readonly holds: 'expression';
  readonly scope: 'workspace';
  /** Whether its rules belong to a phase, request or response. */
  readonly hasPhase: boolean;
  /** A rule of the kind, for the API documents. */
  readonly example: Pick<ExpressionRule, 'ruleRef' | 'type' | 'expression' | 'action'> & Partial<Pick<ExpressionRule, 'name' | 'order'>>;
}

/** The kinds of rule (spec 2.2), one row each: what differs from kind to kind is derived from the row. */
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
/** The kinds whose body holds a filter expression (spec 2.4). */
export type ExpressionKind = { [K in Kind]: (typeof RULE_KINDS)[K]['holds'] extends 'expression' ? K : never }[Kind];
export const KINDS = Object.keys(RULE_KINDS) as readonly Kind[];
export const EXPRESSION_KINDS = KINDS.filter(isExpressionKind);

export function isExpressionKind(kind: Kind): kind is ExpressionKind {
  return RULE_KINDS[kind].holds === 'expression';
}

/** One value for each of these kinds. */
export function perKind<K extends Kind, T>(kinds: readonly K[], make: (kind: K) => T): Record<K, T> {
  return Object.fromEntries(kinds.map((kind) => [kind, make(kind)])) as Record<K, T>;
}

/**
 * What one accepted signal does to the rules of its workspace. Entries take effect in stream order.
 * `delete_by_value` removes every access rule of the list with that target and action, with or without
 * a rule_ref (SPEC D3.11: who unblocks an address expects it to be unblocked).
 */
export type RuleChange =
  | { readonly change: 'upsert'; readonly kind: 'access_rule'; readonly rule: AccessRule }
  | { readonly change: 'upsert'; readonly kind: ExpressionKind; readonly rule: ExpressionRule }
  | { readonly change: 'delete'; readonly kind: Kind; readonly ruleRef: string }
  | { readonly change: 'delete_by_value'; readonly kind: 'access_rule'; readonly action: AccessAction; readonly target: Target };

/**
 * What a person's command does to rules, through the stream like everything that changes them (SPEC D9). `delete_rules` removes rules by
 * the store's ids, access rules from the message's list; `set_rules` gives those of them that are active another expiry or reason. `undo`
 * puts back what a batch replaced or deleted and removes what it made.
 */
export type RuleOperation =
  | { readonly change: 'delete_rules'; readonly kind: Kind; readonly ids: readonly number[] }
  | ({ readonly change: 'set_rules'; readonly kind: Kind; readonly ids: readonly number[] } & RuleSetting)
  | { readonly change: 'undo'; readonly batchId: string };

/** What of rules is set in place; what is not given stays. */
export interface RuleSetting {
  /** ms since 1970; null: never. */
  readonly expiresAt?: number | null | undefined;
  /** null: none. */
  readonly reason?: string | null | undefined;
}

/** Whether a change is one that no signal asks for. */
export const isOperation = (change: RuleChange | RuleOperation): change is RuleOperation =>
  change.change === 'undo' || change.change === 'delete_rules' || change.change === 'set_rules';

/** Whether labels have one of this name and value. */
export const hasLabel = (labels: JsonObject | null, name: string, value: string): boolean =>
  labels !== null && Object.hasOwn(labels, name) && String(labels[name]) === value;

/** A label as addresses and forms have it, `name:value`; undefined when the text is none. */
export function readLabel(text: string): [string, string] | undefined {
  const at = text.indexOf(':');
  return at < 1 ? undefined : [text.slice(0, at), text.slice(at + 1)];
}
