import { firstAddressV4, lastAddressV4, lastAddressV6, maskHostBits } from '@weir/network/bounds.ts';
import type { Network } from '@weir/network/network.ts';
import type { Widening } from '../widening.ts';
import type { RuleTable } from './rule-table.ts';

/** With `widening`, hosts as networks. */
export class ServedRows {
  /** First and last address of the row read last: a word each for IPv4, four words each for IPv6. */
  readonly ends: Uint32Array;
  prefix = 0;
  readonly #table: RuleTable;
  readonly #widening: Widening | undefined;

  constructor(table: RuleTable, widening: Widening | undefined) {
    this.#table = table;
    this.#widening = widening;
    this.ends = new Uint32Array(2 * table.width);
  }

  /** Whether the IPv4 network of a row may have an address of the range; fast, for loops over all rows. */
  mayOverlapV4(row: number, first: number, last: number): boolean {
    if (this.#widening !== undefined) return true;
    const { words, prefixes } = this.#table;
    return words[row] <= last && lastAddressV4(words[row], prefixes[row]) >= first;
  }

  /** As `mayOverlapV4`, by the first words of the range. No widening changes the first word of a network. */
  mayOverlapV6(row: number, last: number): boolean {
    return this.#table.words[4 * row] <= last;
  }

  read(row: number): void {
    const { ends } = this;
    const { width, words, prefixes } = this.#table;
    const given = prefixes[row];
    if (width === 1) {
      const prefix = this.#widening?.v4(words[row], given) ?? given;
      ends[0] = firstAddressV4(words[row], prefix);
      ends[1] = lastAddressV4(words[row], prefix);
      this.prefix = prefix;
      return;
    }
    const prefix = this.#widening?.v6(words, 4 * row, given) ?? given;
    for (let word = 0; word < 4; word++) ends[word] = words[4 * row + word];
    if (prefix !== given) maskHostBits(ends, 0, prefix);
    lastAddressV6(ends, 0, prefix, ends, 4);
    this.prefix = prefix;
  }

  network(row: number): Network {
    this.read(row);
    const { prefix, ends } = this;
    if (ends.length === 2) return { family: 4, address: ends[0], prefix };
    const [a, b, c, d] = ends;
    return { family: 6, address: [a, b, c, d], prefix };
  }
}
