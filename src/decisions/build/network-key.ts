/** Networks as strings, for map keys and for the store. */
import type { CidrsV4, CidrsV6 } from '@weir/network/coalesce.ts';
import type { Network } from '@weir/network/network.ts';

/** One character per byte: 5 characters for IPv4, 17 for IPv6. Within a family, keys sort like their networks. */
export type NetworkKey = string;

const V4_LENGTH = 5;
const V6_LENGTH = 17;

/** With a list name: its key, a separator above every byte, and the name. */
export type DecisionKey = string;
const NAMED = '\u0100';

export const decisionKey = (key: NetworkKey, name: string): DecisionKey => (name === '' ? key : key + NAMED + name);

export const isV4 = (key: DecisionKey): boolean => key.length === V4_LENGTH || key[V4_LENGTH] === NAMED;
const lengthOf = (key: DecisionKey) => (isV4(key) ? V4_LENGTH : V6_LENGTH);
/** The list name; empty if there is none. */
export const nameOf = (key: DecisionKey): string => key.slice(lengthOf(key) + NAMED.length);
/** The key without the name. */
export const networkKey = (key: DecisionKey): NetworkKey => key.slice(0, lengthOf(key));
const prefixOf = (key: DecisionKey) => key.charCodeAt(lengthOf(key) - 1);

const wordText = (word: number) => String.fromCharCode(word >>> 24, (word >>> 16) & 0xff, (word >>> 8) & 0xff, word & 0xff);
const wordAt = (key: NetworkKey, at: number) =>
  ((key.charCodeAt(at) << 24) | (key.charCodeAt(at + 1) << 16) | (key.charCodeAt(at + 2) << 8) | key.charCodeAt(at + 3)) >>> 0;

/** IPv4 first. */
export function keyAt({ v4, v6 }: Readonly<{ v4: CidrsV4; v6: CidrsV6 }>, index: number): NetworkKey {
  if (index < v4.length) return wordText(v4.addresses[index]) + String.fromCharCode(v4.prefixes[index]);
  const at = index - v4.length;
  let key = '';
  for (let word = 4 * at; word < 4 * at + 4; word++) key += wordText(v6.words[word]);
  return key + String.fromCharCode(v6.prefixes[at]);
}

export function networkOf(key: DecisionKey): Network {
  const prefix = prefixOf(key);
  if (isV4(key)) return { family: 4, address: wordAt(key, 0), prefix };
  return { family: 6, address: [wordAt(key, 0), wordAt(key, 4), wordAt(key, 8), wordAt(key, 12)], prefix };
}

/** Sorted. */
export function networksOf(keys: Iterable<DecisionKey>): { v4: CidrsV4; v6: CidrsV6 } {
  const [ofV4, ofV6]: [DecisionKey[], DecisionKey[]] = [[], []];
  for (const key of keys) (isV4(key) ? ofV4 : ofV6).push(key);
  ofV4.sort();
  ofV6.sort();
  const v4 = { length: ofV4.length, addresses: new Uint32Array(ofV4.length), prefixes: new Uint8Array(ofV4.length) };
  for (const [i, key] of ofV4.entries()) {
    v4.addresses[i] = wordAt(key, 0);
    v4.prefixes[i] = key.charCodeAt(4);
  }
  const v6 = { length: ofV6.length, words: new Uint32Array(4 * ofV6.length), prefixes: new Uint8Array(ofV6.length) };
  for (const [i, key] of ofV6.entries()) {
    for (let word = 0; word < 4; word++) v6.words[4 * i + word] = wordAt(key, 4 * word);
    v6.prefixes[i] = key.charCodeAt(16);
  }
  return { v4, v6 };
}

export const isBroad = (key: DecisionKey): boolean => prefixOf(key) < (isV4(key) ? 32 : 128);
