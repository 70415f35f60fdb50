/** What is asked of the store about senders, steps, batches and undos of rules. Types only. */
import type { Network } from '@weir/network/network.ts';
import type { AccessAction, GeoTarget, Target } from '../../rule.ts';
import type { StoredRule } from './stored-rule.ts';

/**
 * Where `ruleStep` goes on: behind an access rule (0: the first) of a list, which is known by its number in the order of lists, so that it
 * may be deleted meanwhile; or behind `order` and `ruleRef` of another.
 */
export type StepPlace = { readonly list: number; readonly id: number } | { readonly order: number | null; readonly ruleRef: string };

/** What `senderStep` counts: rules with this action that are active at `at` (ms). */
export interface SenderStepRequest {
  readonly action: AccessAction;
  readonly at: number;
  /** `next` of the step before; undefined: from the beginning. */
  readonly after?: SenderPlace | undefined;
  /** Rules that are looked at. */
  readonly limit: number;
}

/** Behind which rule of which list, by the store's own numbers, `senderStep` goes on. */
export interface SenderPlace {
  readonly list: number;
  readonly below: number;
}

/** Rules of a list that came from one sender and cost the same. */
export interface SenderCount {
  readonly list: { readonly id: string; readonly name: string };
  /** The key (`name` null: it is gone); null: no key (a command, another producer); undefined: its batch has been forgotten. */
  readonly sender: { readonly id: string; readonly name: string | null } | null | undefined;
  /** Of their networks; null for a country or an ASN. */
  readonly family: 4 | 6 | null;
  readonly geo: GeoTarget | null;
  readonly rules: number;
}

export interface SenderStep {
  readonly counts: readonly SenderCount[];
  readonly next: SenderPlace | null;
}

/**
 * Access rules by their target. `exact`: that target. `covering`: networks that hold all of this one; `covered`: networks that lie in it;
 * both with the network itself. `geo`: countries and ASNs.
 */
export type RuleMatch =
  | { readonly how: 'exact'; readonly target: Target }
  | { readonly how: 'covering' | 'covered'; readonly network: Network }
  | { readonly how: 'geo' };

/** Rules that are active at `now` (ms), `limit` of them at most. */
export interface ActiveRules {
  readonly now: number;
  readonly limit: number;
}

/** A rule behind which reading goes on: `id` and list of an access rule, `ruleRef` of another. */
export type RulePosition = Pick<StoredRule, 'id' | 'listId'> & { readonly ruleRef: string | null };
