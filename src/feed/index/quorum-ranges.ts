/**
 * The addresses of a feed with a quorum (SPEC D29), cached between builds: after small changes only the changed places are recalculated.
 */

import { V4Ranges, V6Ranges } from '@weir/network/ranges.ts';
import { agreedAgain, type Quorum, quorumV4, quorumV6 } from '@weir/network/sets/agree.ts';

interface Cached<R> {
  readonly sets: readonly R[];
  readonly ranges: R;
}

interface ListAddresses {
  readonly v4?: V4Ranges | undefined;
  readonly v6?: V6Ranges | undefined;
}

export class QuorumRanges {
  readonly #quorum: Quorum;
  #v4: Cached<V4Ranges> | undefined;
  #v6: Cached<V6Ranges> | undefined;

  constructor(quorum: Quorum) {
    this.#quorum = quorum;
  }

  /** Unchanged results are identical objects. */
  of(lists: readonly ListAddresses[]): { readonly v4: V4Ranges; readonly v6: V6Ranges } {
    const [v4, v6] = [lists.map((each) => each.v4 ?? new V4Ranges()), lists.map((each) => each.v6 ?? new V6Ranges())];
    const quorum = this.#quorum;
    this.#v4 = {
      sets: v4,
      ranges: agreedAgain(
        v4,
        this.#v4,
        (sets) => quorumV4(sets, quorum),
        () => new V4Ranges(),
      ),
    };
    this.#v6 = {
      sets: v6,
      ranges: agreedAgain(
        v6,
        this.#v6,
        (sets) => quorumV6(sets, quorum),
        () => new V6Ranges(),
      ),
    };
    return { v4: this.#v4.ranges, v6: this.#v6.ranges };
  }
}
