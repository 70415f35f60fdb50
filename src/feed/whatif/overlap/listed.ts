/** A list's entries, and their overlap with others (SPEC D30.2, D23.41). */
import { type AddressSet, addressSet } from '@weir/network/address-set.ts';
import { commonCount, Entries } from '@weir/network/sets/common.ts';
import type { GeoDatabase } from '../../../ports/geo.ts';
import type { GeoTarget } from '../../../rule.ts';

export interface Share {
  /** Overlapping entries. A country or ASN counts once. */
  readonly entries: number;
  /** Addresses in common; IPv6 in double precision. */
  readonly v4: number;
  readonly v6: number;
}

export class Listed {
  readonly addresses: AddressSet = addressSet([]);
  readonly #entries: Entries;
  readonly #geoEntries: AddressSet[] = [];

  /** `direct`: its networks, not merged; ownership passes to this object. */
  constructor(direct: AddressSet, targets: readonly GeoTarget[], geo: GeoDatabase) {
    this.#entries = new Entries(direct);
    this.addresses = direct;
    for (const target of targets) {
      const ranges = addressSet([]);
      pushRanges(ranges, geo.ranges(target));
      pushRanges(this.addresses, geo.ranges(target));
      this.#geoEntries.push(ranges);
    }
  }

  get entries(): number {
    return this.#entries.length + this.#geoEntries.length;
  }

  shareIn(set: AddressSet): Share {
    const common = commonCount(this.addresses, set);
    if (common.v4 + common.v6 === 0) return { entries: 0, v4: 0, v6: 0 };
    return { entries: this.entriesIn(set), ...common };
  }

  entriesIn(set: AddressSet): number {
    const geoEntries = this.#geoEntries.filter((ranges) => {
      const { v4, v6 } = commonCount(ranges, set);
      return v4 + v6 > 0;
    });
    return this.#entries.countIn(set) + geoEntries.length;
  }
}

function pushRanges(set: AddressSet, { v4, v6 }: { readonly v4: Uint32Array; readonly v6: Uint32Array }): void {
  set.v4.pushAll(v4);
  set.v6.pushAll(v6);
}
