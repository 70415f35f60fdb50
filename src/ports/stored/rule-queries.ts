import type { Network } from '@weir/network/network.ts';
import type { AccessAction, GeoTarget, Target } from '../../rule.ts';
import type { StoredRule } from './stored-rule.ts';

/** After an access rule (0: the first) of a list, by number because it may be deleted meanwhile; or after `order` and `ruleRef`. */
export type StepPlace = { readonly list: number; readonly id: number } | { readonly order: number | null; readonly ruleRef: string };

/** With this action, active at `at` (ms). */
export interface SenderStepRequest {
  readonly action: AccessAction;
  readonly at: number;
  /** undefined: the start. */
  readonly after?: SenderPlace | undefined;
  /** Rules to examine. */
  readonly limit: number;
}

/** Store-internal numbers of the last examined rule and its list. */
export interface SenderPlace {
  readonly list: number;
  readonly below: number;
}

/** From one sender, in one list. */
export interface SenderCount {
  readonly list: { readonly id: string; readonly name: string };
  /** `name` null: the key is deleted. null: no key (a command, another producer); undefined: the batch is no longer stored. */
  readonly sender: { readonly id: string; readonly name: string | null } | null | undefined;
  /** null: a country or an ASN. */
  readonly family: 4 | 6 | null;
  readonly geo: GeoTarget | null;
  readonly rules: number;
}

export interface SenderStep {
  readonly counts: readonly SenderCount[];
  readonly next: SenderPlace | null;
}

/** `covering`: networks that contain this one; `covered`: networks within it; both include it. `geo`: countries and ASNs. */
export type RuleMatch =
  | { readonly how: 'exact'; readonly target: Target }
  | { readonly how: 'covering' | 'covered'; readonly network: Network }
  | { readonly how: 'geo' };

/** Rules active at `now` (ms). */
export interface ActiveRules {
  readonly now: number;
  readonly limit: number;
}

/** `id` and list of an access rule, `ruleRef` of any other. */
export type RulePosition = Pick<StoredRule, 'id' | 'listId'> & { readonly ruleRef: string | null };
