/** What bouncers are told now, and of which lists. */
import type { DecisionNetworks } from './covered-networks.ts';
import { type DecisionKey, decisionKey, keyAt } from './network-key.ts';

export interface PublishedNetworks extends Omit<DecisionNetworks, 'coverage'> {
  /** Until when bouncers are told to hold each, whole seconds. */
  readonly until: Float64Array;
  readonly lists: Int32Array;
  /** What the lists are called that bouncers are told of, by number, from 1 on; empty where they are not told of any (SPEC D31.1). */
  readonly names: readonly string[];
}

/** The network at an index, as bouncers are told it. */
export const decisionKeyAt = (networks: PublishedNetworks, index: number): DecisionKey =>
  decisionKey(keyAt(networks, index), nameAt(networks, index));
/** What the list is called that it is told to be of; empty where nobody is told of one. */
export const nameAt = ({ lists, names }: PublishedNetworks, index: number) => names[lists[index] - 1] ?? '';
