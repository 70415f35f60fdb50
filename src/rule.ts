/**
 * The nouns of weir: what a rule is, whatever the wire or the engine.
 * Times are milliseconds since 1970 unless a name says otherwise.
 */
import type { Network } from './network/network.ts';

/** What a rule asks the enforcement point to do with an access-rule target (spec 2.3). */
export const ACCESS_ACTIONS = ['block', 'allow'] as const;
export type AccessAction = (typeof ACCESS_ACTIONS)[number];

/** The three kinds of rule (spec 2.2). */
export const KINDS = ['access_rule', 'waf_rule', 'smart_firewall_rule'] as const;
export type Kind = (typeof KINDS)[number];
/** The kinds whose body holds a filter expression (spec 2.4). */
export type ExpressionKind = 'waf_rule' | 'smart_firewall_rule';

/** Confidence and severity, in rank order (spec 4.5, csv_indicator). */
export const LEVELS = ['low', 'medium', 'high', 'critical'] as const;
export type Level = (typeof LEVELS)[number];

/** What an access rule is about: exactly one of a network, an ASN, a country (spec 2.1). */
export type Target =
  | { readonly kind: 'ip'; readonly network: Network }
  | { readonly kind: 'asn'; readonly asn: number }
  | { readonly kind: 'country'; readonly country: string };

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

/** A WAF or smart firewall rule (spec 2.4). `config.phase` holds the phase when the caller gave one. */
export interface ExpressionRule extends RuleBase {
  readonly ruleRef: string;
  readonly type: 'custom' | 'generated';
  readonly expression: string;
  readonly action: string;
  readonly order: number | null;
  readonly shortDescription: string | null;
}
export type WafRule = ExpressionRule;
export type SmartFirewallRule = ExpressionRule;

/**
 * What one accepted signal does to the rules of its workspace. Entries take effect in stream order.
 * `delete_by_value` removes every access rule of the list with that target and action, with or without
 * a rule_ref (decisions on identity: who unblocks an address expects it to be unblocked).
 */
export type RuleChange =
  | { readonly change: 'upsert'; readonly kind: 'access_rule'; readonly rule: AccessRule }
  | { readonly change: 'upsert'; readonly kind: ExpressionKind; readonly rule: ExpressionRule }
  | { readonly change: 'delete'; readonly kind: Kind; readonly ruleRef: string }
  | { readonly change: 'delete_by_value'; readonly kind: 'access_rule'; readonly action: AccessAction; readonly target: Target };
