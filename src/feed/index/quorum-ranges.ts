/**
 * The addresses on which the lists of a feed agree (SPEC D29), kept from one build to the next: where little has changed in the lists, only
 * the places that changed are gone over.
 */

import { V4Ranges, V6Ranges } from '@weir/network/ranges.ts';
import { agreedAgain, type Quorum, quorumV4, quorumV6 } from '@weir/network/sets/agree.ts';

/** What the lists have, by their places, and on which of it they agree. */
interface Kept<R> {
  readonly sets: readonly R[];
  readonly ranges: R;
}

/** What one list has. */
interface ListAddresses {
  readonly v4?: V4Ranges | undefined;
  readonly v6?: V6Ranges | undefined;
}

/** Of one quorum, whose lists stay at their places. */
export class QuorumRanges {
  readonly #quorum: Quorum;
  #v4: Kept<V4Ranges> | undefined;
  #v6: Kept<V6Ranges> | undefined;

  constructor(quorum: Quorum) {
    this.#quorum = quorum;
  }

  /** What has not changed since the last call is the same object. */
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
