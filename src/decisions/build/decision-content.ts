/** The networks of a block feed as bouncers receive them (SPEC D14.2). */
import { type AddressSet, addressSet, difference, intersection, pushNetworks } from '@weir/network/address-set.ts';
import { type CidrsV4, type CidrsV6, coalesceV4, coalesceV6, countV4, countV6 } from '@weir/network/coalesce.ts';
import { bestEntries } from '../../feed/build/best.ts';
import { exceptionsOf, feedContent, type ListCut, subtractedAddresses } from '../../feed/build/content.ts';
import { chosenCut } from '../../feed/build/trim.ts';
import { activeParts } from '../../feed/index/feed-ranges.ts';
import type { Snapshot } from '../../feed/index/snapshot.ts';
import type { TrimResult } from '../../feed/trim.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { DecisionAnswer } from '../decisions.ts';
import type { CoverageCache } from './coverage-cache.ts';
import {
  addressesOf,
  bigOf,
  blockingNetworks,
  blockingRules,
  coveredBy,
  type DecisionNetworks,
  type NetworkRules,
} from './covered-networks.ts';
import { networksOf } from './network-key.ts';
import type { NumberedLists } from './numbered-lists.ts';

export interface DecisionContent {
  readonly published: DecisionNetworks;
  /** The networks of the block feed, for look-ups. The same object, unless the feed publishes single addresses. */
  readonly all: DecisionNetworks;
  /** Names by list number, from 1. */
  readonly listNames: readonly string[];
  readonly leftOut: DecisionAnswer['leftOut'];
  /** The next expiry beyond those already checked against the store, whole seconds; Infinity: never. */
  readonly nextExpiry: number;
  /** undefined: the feed must not be trimmed. */
  readonly trimmed?: TrimResult | undefined;
}

export interface TooManyDecisions {
  readonly count: number;
  readonly nextExpiry: number;
}

interface DecisionParts {
  /** Rules that expire by then are excluded; whole seconds. */
  readonly asOf: number;
  readonly geo: GeoDatabase;
  /** They are in no block feed. */
  readonly guarded: AddressSet | undefined;
  readonly entryLimit: number;
  /** Networks of up to so many addresses become single addresses, wider ones are omitted; null: publish networks. */
  readonly singleAddresses: number | null;
  /** `left`: indexes of the trimmed lists. */
  readonly numbered: (left: readonly number[]) => NumberedLists;
  /** Cached by the feed's last build. */
  readonly coverage: CoverageCache;
}

/** Bouncers count both families, as networks or as single addresses. */
const TRIM_KEY = 'decisions';

const NOTHING = { networks: 0, addresses: 0 };

/** The content, or its count if it exceeds the cap. */
export function decisionContent(snapshot: Snapshot, parts: DecisionParts): DecisionContent | TooManyDecisions {
  const { asOf, geo, guarded, entryLimit, singleAddresses, numbered, coverage } = parts;
  const query = { family: 'both', action: 'block', asOf, classes: undefined, guarded, asSent: singleAddresses !== null } as const;
  let nextExpiry = Number.POSITIVE_INFINITY;
  const contentAt = (cut?: ListCut) => {
    const made = feedContent(snapshot, { ...query, cut }, geo);
    nextExpiry = Math.min(nextExpiry, made.nextExpiry);
    return made;
  };
  const active = activeParts(snapshot.parts, query, geo);
  const blocking = blockingRules(active);
  const singles = singleAddresses === null ? undefined : singlesOf(singleAddresses);
  const countAt = (cut?: ListCut) => {
    const { classes, count } = contentAt(cut);
    return singles === undefined ? count : addressCount(singles(classes[0]));
  };
  const chosen = chosenCut(snapshot.head, TRIM_KEY, entryLimit, countAt);
  const { classes, count } = contentAt(chosen?.cut);
  const whole = classes[0] ?? networksOf([]);
  const wholeSingle = singles?.(whole);
  const wholeCount = wholeSingle === undefined ? count : addressCount(wholeSingle);
  const best = bestOf(wholeSingle === undefined ? whole : coalesced(wholeSingle), wholeCount);
  if (best === undefined && wholeCount > entryLimit) return { count: wholeCount, nextExpiry };
  const single = wholeSingle && (best === undefined ? wholeSingle : setWithout(contentSet(best.networks), undefined));
  // Look-ups have the wider networks too, but no addresses of a lower rank.
  const { v4, v6 } = (single === undefined ? best?.networks : best && coalesced(withoutRest(whole, wholeSingle!, single))) ?? whole;
  const lists = numbered(chosen?.cut.left ?? []);
  const all = coverage.of(active, blocking, { v4, v6 }, { geoVersion: geo.version, lists });
  const content = { all, listNames: lists.names, nextExpiry, trimmed: best?.trimmed ?? chosen?.trimmed };
  if (single === undefined) return { ...content, published: all, leftOut: NOTHING };
  const left = setWithout(contentSet(whole), wholeSingle);
  return {
    ...content,
    published: coveredBy(narrowRules(singleAddresses!, lists), hostsV4(single), hostsV6(single), lists.attribution),
    leftOut: { networks: countV4(left.v4) + countV6(left.v6), addresses: addressCount(left) },
  };

  /** undefined: the feed has no ranks. */
  function bestOf(networks: Networks, entries: number) {
    const { head } = snapshot;
    const of = { head, parts: active, classes: [{ index: 0, ...networks }], isSingle: singles !== undefined };
    const found = bestEntries(of, entries, entryLimit);
    return found && { networks: found.classes[0] ?? networksOf([]), trimmed: found.trimmed };
  }

  /** The rules on networks of up to `most` addresses. */
  function narrowRules(most: number, of: NumberedLists): NetworkRules {
    const rules = blockingNetworks(active, blocking, of);
    const bits = Math.floor(Math.log2(most));
    return { v4: rules.v4.from(32 - bits), v6: rules.v6.from(128 - bits) };
  }

  /** The addresses of narrow rules within a content. */
  function singlesOf(most: number): (networks?: Networks) => AddressSet {
    const exceptions = exceptionsOf(snapshot);
    const allowed = exceptions && snapshot.ranges.ranges(active, { ...query, role: exceptions }, geo);
    const found = setWithout(addressesOf(narrowRules(most, numbered([]))), subtractedAddresses(allowed, guarded));
    // With a quorum or a trimmed list, an address in one list need not be in the feed.
    return (networks = networksOf([])) => (snapshot.head.quorum === undefined ? found : intersection(found, contentSet(networks)));
  }
}

type Networks = { readonly v4: CidrsV4; readonly v6: CidrsV6 };

const coalesced = ({ v4, v6 }: AddressSet): Networks => ({ v4: coalesceV4(v4), v6: coalesceV6(v6) });

const withoutRest = (whole: Networks, set: AddressSet, best: AddressSet): AddressSet =>
  setWithout(contentSet(whole), difference(set, best));

function contentSet(networks: Networks): AddressSet {
  const set = addressSet([]);
  pushNetworks(set, networks);
  return set;
}

function setWithout(set: AddressSet, removed: AddressSet | undefined): AddressSet {
  if (removed !== undefined) return difference(set, removed);
  set.v4.merge();
  set.v6.merge();
  return set;
}

function addressCount({ v4, v6 }: AddressSet): number {
  let count = 0;
  for (let i = 0; i < v4.length; i++) count += v4.pairs[2 * i + 1] - v4.pairs[2 * i] + 1;
  for (let i = 0; i < v6.length; i++) count += Number(bigOf(v6.words, 8 * i + 4) - bigOf(v6.words, 8 * i)) + 1;
  return count;
}

function hostsV4({ v4: ranges }: AddressSet): CidrsV4 {
  const addresses: number[] = [];
  for (let i = 0; i < ranges.length; i++) {
    for (let address = ranges.pairs[2 * i]; address <= ranges.pairs[2 * i + 1]; address++) addresses.push(address);
  }
  return { length: addresses.length, addresses: Uint32Array.from(addresses), prefixes: new Uint8Array(addresses.length).fill(32) };
}

function hostsV6({ v6 }: AddressSet): CidrsV6 {
  const words: number[] = [];
  for (let i = 0; i < v6.length; i++) {
    const last = bigOf(v6.words, 8 * i + 4);
    for (let address = bigOf(v6.words, 8 * i); address <= last; address++) {
      for (const shift of [96n, 64n, 32n, 0n]) words.push(Number((address >> shift) & 0xffff_ffffn));
    }
  }
  const length = words.length / 4;
  return { length, words: Uint32Array.from(words), prefixes: new Uint8Array(length).fill(128) };
}
