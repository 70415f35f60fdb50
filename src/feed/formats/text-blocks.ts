/**
 * The text of networks in blocks, kept from one rendering to the next: a block whose networks are the same is not written again. Where
 * blocks begin is told by the networks alone, whatever was rendered before: equal networks have equal blocks on every replica.
 */
import { createHash } from 'node:crypto';
import type { CidrsV4, CidrsV6 } from '@weir/network/coalesce.ts';
import { renderV4, renderV6 } from '@weir/network/render.ts';
import { areSame } from '@weir/network/sets/same.ts';
import { compareV6 } from '@weir/network/words.ts';

/** The text of networks that follow each other, a separator after each. */
export interface TextBlock {
  /** Networks. */
  readonly length: number;
  readonly text: Uint8Array;
  /** Names the text. */
  readonly name: string;
}

/** A network in so many begins a block: about 30 KB of text, which is as far back as gzip looks. */
const BLOCK_BITS = 11;
/** Networks of a block, but for the last one: who chooses his addresses could have each of them begin one. */
const LEAST = 256;

/** Whether a network with this number begins a block, where the one before is long enough: by a hash (the last steps of MurmurHash3), since addresses come in rows. */
export function beginsBlock(number: number): boolean {
  const once = Math.imul(number ^ (number >>> 16), 0x85eb_ca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2_ae35);
  return (twice ^ (twice >>> 16)) >>> (32 - BLOCK_BITS) === 0;
}

/** How the networks of one family are read. */
interface Family<C> {
  readonly none: C;
  /** Whether the network `i` begins a block, where the one before is long enough. */
  begins(networks: C, i: number): boolean;
  /** Whether the network `i` stands before another. */
  isBefore(networks: C, i: number, others: C, j: number): boolean;
  /** Whether `count` networks from `i` on are those from `j` on of others. */
  isSame(networks: C, i: number, others: C, j: number, count: number): boolean;
  /** The text of the networks [from, to), with a separator after each. */
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

/** The blocks of one family. */
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
    // The old block `next`, whose first network is `before[at]`, is the first that may be one of those to come.
    let [next, at] = [0, 0];
    for (let from = 0; from < networks.length; ) {
      for (; next < old.length && isBefore(before, at, networks, from); next++) at += old[next].length;
      const block = this.#isKept(networks, from, old[next], at) ? old[next] : this.#written(networks, from, separator);
      blocks.push(block);
      from += block.length;
    }
    this.#networks = networks;
    this.#blocks = blocks;
    return blocks;
  }

  /** Whether the block that begins at `from` is an old one, whose first network was `at`. */
  #isKept(networks: C, from: number, old: TextBlock | undefined, at: number): boolean {
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

/** The blocks of one text, which is rendered again and again with the same separator. */
export class TextBlocks {
  readonly #v4: FamilyBlocks<CidrsV4>;
  readonly #v6: FamilyBlocks<CidrsV6>;

  /** `bare`: without prefix lengths. */
  constructor(bare = false) {
    this.#v4 = new FamilyBlocks(V4, bare);
    this.#v6 = new FamilyBlocks(V6, bare);
  }

  /** The blocks of these networks, IPv4 first; null for none of a family. */
  update(v4: CidrsV4 | null, v6: CidrsV6 | null, separator: Uint8Array): readonly TextBlock[] {
    return [...this.#v4.update(v4 ?? V4.none, separator), ...this.#v6.update(v6 ?? V6.none, separator)];
  }
}
