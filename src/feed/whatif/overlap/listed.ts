/** What a list blocks, and what it has in common with others (SPEC D30.2, D23.41). */
import { type AddressSet, addressSet } from '@weir/network/address-set.ts';
import { commonCount, Entries } from '@weir/network/sets/common.ts';
import type { GeoDatabase } from '../../../ports/geo.ts';
import type { GeoTarget } from '../../../rule.ts';

/** How much of a list there is in a set of addresses. */
export interface Share {
  /** Entries of the list that have an address there. A country or ASN is one. */
  readonly entries: number;
  /** Addresses that both have; of IPv6 as near as a double tells it. */
  readonly v4: number;
  readonly v6: number;
}

/** The entries of a list with one action, and their addresses. */
export class Listed {
  readonly addresses: AddressSet = addressSet([]);
  readonly #entries: Entries;
  /** The addresses of each country and ASN. */
  readonly #wide: AddressSet[] = [];

  /** `direct`: its networks, not merged since they were added. It is this list's from now on. */
  constructor(direct: AddressSet, targets: readonly GeoTarget[], geo: GeoDatabase) {
    this.#entries = new Entries(direct);
    this.addresses = direct;
    for (const target of targets) {
      const ranges = addressSet([]);
      pushRanges(ranges, geo.ranges(target));
      pushRanges(this.addresses, geo.ranges(target));
      this.#wide.push(ranges);
    }
  }

  get entries(): number {
    return this.#entries.length + this.#wide.length;
  }

  /** What of it is in a set. Merges the set in place. */
  shareIn(set: AddressSet): Share {
    const common = commonCount(this.addresses, set);
    if (common.v4 + common.v6 === 0) return { entries: 0, v4: 0, v6: 0 };
    return { entries: this.entriesIn(set), ...common };
  }

  /** How many entries have an address in a set. Merges it in place. */
  entriesIn(set: AddressSet): number {
    const wide = this.#wide.filter((ranges) => {
      const { v4, v6 } = commonCount(ranges, set);
      return v4 + v6 > 0;
    });
    return this.#entries.countIn(set) + wide.length;
  }
}

export function pushRanges(set: AddressSet, { v4, v6 }: { readonly v4: Uint32Array; readonly v6: Uint32Array }): void {
  set.v4.pushAll(v4);
  set.v6.pushAll(v6);
}
