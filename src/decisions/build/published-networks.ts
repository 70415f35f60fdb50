/** Published networks with their lists. */
import type { DecisionNetworks } from './covered-networks.ts';
import { type DecisionKey, decisionKey, keyAt } from './network-key.ts';

export interface PublishedNetworks extends Omit<DecisionNetworks, 'coverage'> {
  /** Lease ends, whole seconds. */
  readonly until: Float64Array;
  readonly lists: Int32Array;
  /** Names of the announced lists by number, from 1; empty if the feed does not announce lists (SPEC D31.1). */
  readonly names: readonly string[];
}

export const decisionKeyAt = (networks: PublishedNetworks, index: number): DecisionKey =>
  decisionKey(keyAt(networks, index), nameAt(networks, index));
/** Empty if there is none. */
export const nameAt = ({ lists, names }: PublishedNetworks, index: number) => names[lists[index] - 1] ?? '';
