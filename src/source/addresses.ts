/** The effect of a content on a list's addresses; a few entries can change many (SPEC D44.1). */
import { type AddressSet, addressCount, addressSet, difference, pushNetwork, united } from '@weir/network/address-set.ts';
import type { GeoDatabase, GeoRanges } from '../ports/geo.ts';
import type { AccessAction, GeoTarget, Target } from '../rule.ts';
import { formatTarget } from '../signal/target.ts';
import type { ListEntry } from './readers/entry.ts';

/** Per action and family. An IPv4 address or an IPv6 /64 counts as one; exact up to 2^53. */
export interface AddressChange {
  readonly action: AccessAction;
  readonly family: Family;
  readonly before: number;
  readonly after: number;
  readonly added: number;
  readonly removed: number;
  readonly widest: readonly string[];
}

type Family = 4 | 6;
type Counts = Readonly<Record<Family, number>>;

const FAMILIES = [4, 6] as const;
/** Ranges: about a millisecond. */
const PIECE = 8192;
const NAMED = 3;
/** Additions without confirmation. */
const FEW = 100;
/** Changes without confirmation, % of the addresses. */
export const SURE_PERCENT = 50;

/** IPv6 addresses counted as one. */
const UNIT_V6 = 2 ** 64;

const countsOf = (set: AddressSet): Counts => {
  const { v4, v6 } = addressCount(set);
  return { 4: v4, 6: v6 / UNIT_V6 };
};
const lengthOf = ({ v4, v6 }: AddressSet): number => v4.length + v6.length;

/** Addresses sorted in pieces. `isExact`: IPv6 networks narrower than a /64 too. */
export class Pile {
  readonly #isExact: boolean;
  #open = addressSet([]);
  /** Each is more than twice as long as the next. */
  readonly #sorted: AddressSet[] = [];

  constructor(isExact = false) {
    this.#isExact = isExact;
  }

  push(target: Target, geo: GeoDatabase): void {
    const network = target.kind === 'ip' ? target.network : undefined;
    if (network === undefined) this.pushRanges(geo.ranges(target as GeoTarget));
    else if (network.family === 4 || this.#isExact) pushNetwork(this.#open, network);
    else this.#open.v6.pushNetwork([network.address[0], network.address[1], 0, 0], 0, Math.min(network.prefix, 64));
    this.#sortPiece();
  }

  pushRanges({ v4, v6 }: GeoRanges): void {
    const merged = v6.slice();
    if (!this.#isExact) for (let at = 0; at < merged.length; at += 8) merged.fill(0, at + 2, at + 4).fill(0xffff_ffff, at + 6, at + 8);
    this.#open.v4.pushAll(v4);
    this.#open.v6.pushAll(merged);
    this.#sortPiece();
  }

  merged(): AddressSet {
    this.#sort(Number.POSITIVE_INFINITY);
    return this.#sorted[0]!;
  }

  #sortPiece(): void {
    if (lengthOf(this.#open) >= PIECE) this.#sort(2);
  }

  /** With preceding sets up to `ratio` times as long. */
  #sort(ratio: number): void {
    let last = united(this.#open, addressSet([]));
    while (this.#sorted.length > 0 && lengthOf(this.#sorted.at(-1)!) <= ratio * lengthOf(last)) last = united(this.#sorted.pop()!, last);
    this.#sorted.push(last);
    this.#open = addressSet([]);
  }
}

/** Counts addresses before and after a change. */
export class AddressTally {
  readonly #geo: GeoDatabase;
  readonly #piles: ReadonlyMap<AccessAction, Readonly<Record<'before' | 'after', Pile>>>;
  readonly #widest = new Map<string, { readonly name: string; readonly size: number }[]>();

  constructor(geo: GeoDatabase) {
    this.#geo = geo;
    this.#piles = new Map((['block', 'allow'] as const).map((action) => [action, { before: new Pile(), after: new Pile() }]));
  }

  push(side: 'before' | 'after', { action, target }: { readonly action: AccessAction; readonly target: Target }): void {
    this.#piles.get(action)![side].push(target, this.#geo);
  }

  pushSet(side: 'before' | 'after', action: AccessAction, { v4, v6 }: AddressSet): void {
    this.#piles.get(action)![side].pushRanges({ v4: v4.pairs.subarray(0, 2 * v4.length), v6: v6.words.subarray(0, 8 * v6.length) });
  }

  /** Collects a target new to the list, for naming the widest. */
  noteNew({ action, target }: { readonly action: AccessAction; readonly target: Target }): void {
    for (const family of FAMILIES) {
      const size = this.#sizeOf(target, family);
      const key = `${action} ${family}`;
      const found = this.#widest.get(key) ?? [];
      if (size <= 1 || size <= (found[NAMED - 1]?.size ?? 0)) continue;
      this.#widest.set(key, [...found, { name: formatTarget(target), size }].sort((a, b) => b.size - a.size).slice(0, NAMED));
    }
  }

  #sizeOf(target: Target, family: Family): number {
    if (target.kind !== 'ip') {
      const pile = new Pile();
      pile.push(target, this.#geo);
      return countsOf(pile.merged())[family];
    }
    const { network } = target;
    return network.family === family ? 2 ** Math.max(0, (family === 4 ? 32 : 64) - network.prefix) : 0;
  }

  /** `keepsAll`: nothing is removed. */
  async change(pause: () => Promise<void>, keepsAll = false): Promise<AddressChange[]> {
    const rows: AddressChange[] = [];
    for (const [action, piles] of this.#piles) {
      const before = piles.before.merged();
      await pause();
      const after = keepsAll ? united(piles.after.merged(), before) : piles.after.merged();
      await pause();
      const added = countsOf(difference(after, before));
      await pause();
      const [was, is] = [countsOf(before), countsOf(after)];
      for (const family of FAMILIES)
        if (was[family] + is[family] > 0)
          rows.push({
            ...{ action, family, before: was[family], after: is[family], added: added[family] },
            removed: was[family] - is[family] + added[family],
            widest: this.#widest.get(`${action} ${family}`)?.map(({ name }) => name) ?? [],
          });
    }
    return rows;
  }
}

interface ChangedRules {
  readonly present: number;
  readonly added: number;
  readonly removed: number;
  readonly percent: number;
  /** All of it may be removed. */
  readonly mayLose?: boolean;
}

/** Half of all addresses of a family. */
const HALF: Counts = { 4: 2 ** 31, 6: 2 ** 63 };

/**
 * The rows requiring confirmation; for a list without rules, those that block more than half of all addresses. The percentage refers to
 * the family's addresses or, if larger, to the list's rules: first addresses of another family need no confirmation.
 */
export function largeChanges(rows: readonly AddressChange[], { present, added, percent, mayLose = false }: ChangedRules): AddressChange[] {
  if (present === 0) return rows.filter(({ action, family, after }) => action === 'block' && after > HALF[family]);
  const isOver = (part: number, { before }: AddressChange) => part * 100 > Math.max(before, present) * percent;
  const isFew = (row: AddressChange) => row.added <= Math.min(FEW, added);
  return rows.filter((row) => (isOver(row.added, row) && !isFew(row)) || (isOver(row.removed, row) && !mayLose));
}

export const addressFaults = (rows: readonly AddressChange[], of: ChangedRules): string[] =>
  largeChanges(rows, of)
    .filter(({ added, removed }) => added > of.added || removed > of.removed)
    .map((row) => `${changeText(row)}, more than ${of.percent} %`);

const text = (count: number): string => count.toLocaleString('en');

function changeText({ action, family, before, after, added, removed, widest }: AddressChange): string {
  const what = family === 4 ? 'IPv4 addresses' : 'IPv6 networks of /64';
  const named = widest.length === 0 ? '' : `; the widest new ones are ${widest.join(', ')}`;
  return `it would ${action} ${text(after)} ${what} instead of ${text(before)} (${text(added)} added, ${text(removed)} removed${named})`;
}

/** A sentence without its end. */
export function largeText(
  list: string,
  { addresses, ...of }: Omit<ChangedRules, 'percent'> & { readonly kept: number; readonly addresses: readonly AddressChange[] },
): string {
  const { present, kept, added, removed } = of;
  const faults = addressFaults(addresses, { ...of, present: present + kept, percent: SURE_PERCENT });
  return [`of the ${present} rules of the list "${list}" ${removed} would be removed, and ${added} would be added`, ...faults].join('; ');
}

const HOSTS: Readonly<Record<Family, number>> = { 4: 24, 6: 48 };

export const isBroad = ({ target, action }: Pick<ListEntry, 'target' | 'action'>): boolean =>
  action !== 'unblock' && target.kind === 'ip' && target.network.prefix < HOSTS[target.network.family];
