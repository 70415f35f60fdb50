/** The addresses of a feed as sorted ranges, merged from its lists; cached between builds, shared by all formats and families. */
import type { AddressSet } from '@weir/network/address-set.ts';
import { type Ranges, V4Ranges, V6Ranges } from '@weir/network/ranges.ts';
import type { Quorum } from '@weir/network/sets/agree.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { NetworkClass } from '../formats/format.ts';
import { TextBlocks } from '../formats/text-blocks.ts';
import { filledLevels } from '../levels.ts';
import { type HostPrefixes, Widening } from '../widening.ts';
import { ActiveRules, type ListRules } from './active-rules.ts';
import { QuorumRanges } from './quorum-ranges.ts';
import { type ClassRanges, RangeIndex, type RangesQuery } from './range-index.ts';

export interface FeedPart {
  readonly rules: ListRules & {
    /** undefined for one-off builds. */
    readonly rangeIndex?: RangeIndex;
  };
  /** Default `levelCode` for rules without levels; 0 = the feed's default. */
  readonly levels: number;
  /** Prefix lengths at which a block feed serves hosts; undefined: as sent. */
  readonly hosts?: HostPrefixes | undefined;
}

export interface ActivePart extends FeedPart {
  readonly active: ActiveRules;
}

const nameOf = ({ role, family, asSent = false }: Omit<RangesQuery, 'classes'>) => `${role} ${family}${asSent ? ' as sent' : ''}`;

interface ActiveQuery extends Pick<RangesQuery, 'family'> {
  /** Whole seconds. */
  readonly asOf: number;
  /** Hosts near them are not widened. */
  readonly guarded: AddressSet | undefined;
  readonly asSent?: boolean | undefined;
}

export const activeParts = (
  parts: readonly FeedPart[],
  { asOf, family, guarded, asSent = false }: ActiveQuery,
  geo: GeoDatabase,
): ActivePart[] =>
  parts.map((part) => {
    const widening = part.hosts === undefined || asSent ? undefined : new Widening(part.hosts, guarded);
    return { ...part, active: new ActiveRules(part.rules, asOf, geo, family, widening) };
  });

/** Infinity: none. */
export const nextExpiryOf = (parts: readonly ActivePart[]): number =>
  parts.reduce((nextExpiry, { active }) => Math.min(nextExpiry, active.nextExpiry), Number.POSITIVE_INFINITY);

export interface CoalescedClass extends NetworkClass {
  readonly rangesV4: V4Ranges;
}

interface CachedContent {
  readonly from: readonly unknown[];
  readonly classes: readonly CoalescedClass[];
}

export class FeedRanges {
  #used = new Set<string>();
  readonly #merged = new Map<string, { v4: readonly Merged<V4Ranges>[]; v6: readonly Merged<V6Ranges>[] }>();
  readonly #contents = new Map<string, CachedContent>();
  readonly #blocks = new Map<string, TextBlocks>();
  readonly #agreed = new Map<string, QuorumRanges>();

  /** `which` names a subset of the parts. Unchanged results are identical objects. */
  ranges(parts: readonly ActivePart[], query: RangesQuery, geo: GeoDatabase, which = ''): ClassRanges {
    return this.#merge(`${nameOf(query)} ${query.classes ?? ''} ${which}`, parts, query, geo);
  }

  #merge(name: string, parts: readonly ActivePart[], query: RangesQuery, geo: GeoDatabase): ClassRanges {
    this.#used.add(name);
    const found = parts.flatMap(({ active, rules: { rangeIndex = new RangeIndex() }, levels }) => {
      const own = { ...query, classes: filledClasses(query.classes, levels) };
      return [rangeIndex.networks(active, own), rangeIndex.places(active, own, geo)];
    });
    const before = this.#merged.get(name);
    const v4 = mergedClasses(
      before?.v4,
      found.map((each) => each.v4),
      () => new V4Ranges(),
    );
    const v6 = mergedClasses(
      before?.v6,
      found.map((each) => each.v6),
      () => new V6Ranges(),
    );
    this.#merged.set(name, { v4, v6 });
    return { v4: v4.map(({ ranges }) => ranges), v6: v6.map(({ ranges }) => ranges) };
  }

  agreed(
    parts: readonly ActivePart[],
    left: readonly number[],
    query: Omit<RangesQuery, 'classes'>,
    quorum: Quorum,
    geo: GeoDatabase,
  ): AddressSet {
    const name = `agreed ${nameOf(query)} ${left} ${JSON.stringify(quorum)}`;
    this.#used.add(name);
    const cached = this.#agreed.get(name) ?? new QuorumRanges(quorum);
    this.#agreed.set(name, cached);
    return cached.of(
      parts.map((part, place) => {
        if (left.includes(place)) return {};
        const { v4, v6 } = this.#merge(`list ${place} ${nameOf(query)}`, [part], { ...query, classes: undefined }, geo);
        return { v4: v4[0], v6: v6[0] };
      }),
    );
  }

  /** Returns the previous result if the inputs are identical objects; `make` receives the previous result. */
  content(
    name: string,
    from: readonly unknown[],
    make: (before: readonly CoalescedClass[]) => readonly CoalescedClass[],
  ): readonly CoalescedClass[] {
    this.#used.add(name);
    const cached = this.#contents.get(name);
    if (cached?.from.length === from.length && from.every((each, i) => each === cached.from[i])) return cached.classes;
    const classes = make(cached?.classes ?? []);
    this.#contents.set(name, { from, classes });
    return classes;
  }

  /** `bare`: without prefix lengths. */
  blocks(variant: string, bare: boolean): TextBlocks {
    const name = `blocks ${variant}`;
    this.#used.add(name);
    const blocks = this.#blocks.get(name) ?? new TextBlocks(bare);
    this.#blocks.set(name, blocks);
    return blocks;
  }

  forgetUnused(): void {
    for (const cached of [this.#merged, this.#contents, this.#blocks, this.#agreed]) {
      for (const name of cached.keys()) if (!this.#used.has(name)) cached.delete(name);
    }
    this.#used = new Set();
  }
}

const filledClasses = (classes: Uint8Array | undefined, levels: number): Uint8Array | undefined =>
  classes === undefined || levels === 0 ? classes : filledLevels(levels).map((filled) => classes[filled]);

interface Merged<R> {
  readonly of: readonly R[];
  readonly ranges: R | undefined;
}

function mergedClasses<R extends Ranges<R>>(
  before: readonly Merged<R>[] | undefined,
  lists: readonly (readonly (R | undefined)[])[],
  create: () => R,
): readonly Merged<R>[] {
  const classes = lists.reduce((most, { length }) => Math.max(most, length), 0);
  return Array.from({ length: classes }, (_, index) =>
    merged(
      before?.[index],
      lists.flatMap((each) => each[index] ?? []).filter(({ length }) => length > 0),
      create,
    ),
  );
}

function merged<R extends Ranges<R>>(before: Merged<R> | undefined, of: readonly R[], create: () => R): Merged<R> {
  const [old, now] = [new Set(before?.of), new Set(of)];
  const added = of.filter((each) => !old.has(each));
  const removed = before?.of.filter((each) => !now.has(each)) ?? [];
  if (before !== undefined && added.length + removed.length === 0) return before;
  const stayed = of.filter((each) => old.has(each));
  if (before?.ranges === undefined || sizeOf(stayed) < sizeOf(added) + sizeOf(removed)) return { of, ranges: unitedAll(of) };
  const [coming, going] = [unitedAll(added) ?? create(), unitedAll(removed) ?? create()];
  const lost = going.without(coming);
  const left = lost.length === 0 ? before.ranges : before.ranges.without(lost);
  // Restore the part that other lists also contain.
  const back = create();
  for (const each of stayed) back.pushOverlapping(each, lost);
  const gained = coming.without(going).united(back);
  return { of, ranges: gained.length === 0 ? left : left.united(gained) };
}

const sizeOf = (all: readonly { readonly length: number }[]) => all.reduce((sum, { length }) => sum + length, 0);

function unitedAll<R extends Ranges<R>>(all: readonly R[]): R | undefined {
  if (all.length < 2) return all[0];
  const middle = all.length >>> 1;
  return unitedAll(all.slice(0, middle))!.united(unitedAll(all.slice(middle))!);
}
