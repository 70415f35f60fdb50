/**
 * Caches rendered text in blocks: unchanged blocks are not rendered again. Block boundaries depend only on the networks, hence every
 * replica has equal blocks.
 */
import { createHash } from 'node:crypto';
import type { CidrsV4, CidrsV6 } from '@weir/network/coalesce.ts';
import { renderV4, renderV6 } from '@weir/network/render.ts';
import { areSame } from '@weir/network/sets/same.ts';
import { compareV6 } from '@weir/network/words.ts';

/** Consecutive networks, each with its separator. */
export interface TextBlock {
  readonly length: number;
  readonly text: Uint8Array;
  readonly name: string;
}

/** On average one network in 2^11 begins a block: about 30 KB of text, the window of gzip. */
const BLOCK_BITS = 11;
/** Minimum networks per block (except the last): otherwise a sender could choose addresses to start one each. */
const LEAST = 256;

/** Whether a network with this number begins a block. Hashes the number (the last steps of MurmurHash3), because addresses come in rows. */
export function beginsBlock(number: number): boolean {
  const once = Math.imul(number ^ (number >>> 16), 0x85eb_ca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2_ae35);
  return (twice ^ (twice >>> 16)) >>> (32 - BLOCK_BITS) === 0;
}

interface Family<C> {
  readonly none: C;
  begins(networks: C, i: number): boolean;
  isBefore(networks: C, i: number, others: C, j: number): boolean;
  isSame(networks: C, i: number, others: C, j: number, count: number): boolean;
  render(networks: C, from: number, to: number, separator: Uint8Array, bare: boolean): Uint8Array;
}

const V4: Family<CidrsV4> = {
  none: { length: 0, addresses: new Uint32Array(0), prefixes: new Uint8Array(0) },
  begins: ({ addresses }, i) => beginsBlock(addresses[i]),
  isBefore: (networks, i, others, j) => networks.addresses[i] < others.addresses[j],
  isSame: ({ addresses, prefixes }, i, others, j, count) =>
    areSame(addresses, i, others.addresses, j, count) && areSame(prefixes, i, others.prefixes, j, count),
  render: renderV4,
};

const V6: Family<CidrsV6> = {
  none: { length: 0, words: new Uint32Array(0), prefixes: new Uint8Array(0) },
  begins: ({ words }, i) => beginsBlock(words[4 * i] ^ words[4 * i + 1] ^ words[4 * i + 2] ^ words[4 * i + 3]),
  isBefore: (networks, i, others, j) => compareV6(networks.words, 4 * i, others.words, 4 * j) < 0,
  isSame: ({ words, prefixes }, i, others, j, count) =>
    areSame(words, 4 * i, others.words, 4 * j, 4 * count) && areSame(prefixes, i, others.prefixes, j, count),
  render: renderV6,
};

class FamilyBlocks<C extends { readonly length: number }> {
  readonly #family: Family<C>;
  readonly #bare: boolean;
  #networks: C;
  #blocks: readonly TextBlock[] = [];

  constructor(family: Family<C>, bare: boolean) {
    this.#family = family;
    this.#bare = bare;
    this.#networks = family.none;
  }

  update(networks: C, separator: Uint8Array): readonly TextBlock[] {
    if (networks === this.#networks) return this.#blocks;
    const { isBefore } = this.#family;
    const [before, old] = [this.#networks, this.#blocks];
    const blocks: TextBlock[] = [];
    // `next` is the first old block still reusable; its first network is `before[at]`.
    let [next, at] = [0, 0];
    for (let from = 0; from < networks.length; ) {
      for (; next < old.length && isBefore(before, at, networks, from); next++) at += old[next].length;
      const block = this.#isReusable(networks, from, old[next], at) ? old[next] : this.#written(networks, from, separator);
      blocks.push(block);
      from += block.length;
    }
    this.#networks = networks;
    this.#blocks = blocks;
    return blocks;
  }

  #isReusable(networks: C, from: number, old: TextBlock | undefined, at: number): boolean {
    if (old === undefined || from + old.length > networks.length) return false;
    const { begins, isSame } = this.#family;
    const to = from + old.length;
    const ends = to === networks.length || (old.length >= LEAST && begins(networks, to));
    return ends && isSame(this.#networks, at, networks, from, old.length);
  }

  #written(networks: C, from: number, separator: Uint8Array): TextBlock {
    const { begins, render } = this.#family;
    let to = Math.min(from + LEAST, networks.length);
    while (to < networks.length && !begins(networks, to)) to++;
    return blockOf(to - from, render(networks, from, to, separator, this.#bare));
  }
}

function blockOf(length: number, text: Uint8Array): TextBlock {
  return { length, text, name: createHash('sha256').update(text).digest('base64') };
}

export class TextBlocks {
  readonly #v4: FamilyBlocks<CidrsV4>;
  readonly #v6: FamilyBlocks<CidrsV6>;

  constructor(bare = false) {
    this.#v4 = new FamilyBlocks(V4, bare);
    this.#v6 = new FamilyBlocks(V6, bare);
  }

  /** null: an excluded family. */
  update(v4: CidrsV4 | null, v6: CidrsV6 | null, separator: Uint8Array): readonly TextBlock[] {
    return [...this.#v4.update(v4 ?? V4.none, separator), ...this.#v6.update(v6 ?? V6.none, separator)];
  }
}
