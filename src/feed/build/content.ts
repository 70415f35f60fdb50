import type { SubtractAllow } from '../../account/list.ts';
import { type AddressSet, addressSet, subtract, union } from '../../network/address-set.ts';
import { coalesceV4, coalesceV6 } from '../../network/coalesce.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { AccessAction, RuleRole } from '../../rule.ts';
import type { FeedNetworks, NetworkClass } from '../formats/format.ts';
import type { GeoTarget } from '../geo-cost.ts';
import type { Family } from '../variant.ts';
import { levelsOfTag, ROLE_MASK, type RuleTable, roleTag } from './rule-table.ts';
import type { RuleTables, Snapshot } from './snapshot.ts';

/** Rules that a feed is made of, and which never-block rules are cut out of them. */
export interface ContentRules extends RuleTables, Pick<Snapshot, 'renewalsAskedThrough'> {
  readonly head: { readonly profile: { readonly subtractAllow: SubtractAllow | null } };
}

/** Which of a snapshot's rules make a feed, and when. */
interface ContentQuery {
  readonly family: Family;
  readonly action: AccessAction;
  /** Whole seconds: rules that expire at this second or before are left out. */
  readonly asOf: number;
  /** Level code → class; undefined puts all networks in one class. */
  readonly classes: Uint8Array | undefined;
  /** Addresses that no block feed contains (SPEC D7.4). */
  readonly guarded: AddressSet | undefined;
}

/** What a feed publishes (spec 4.3, content of the feed), not yet as text. */
export interface Content extends FeedNetworks {
  /** The next second at which a rule expires, so far as the store was not asked for it yet; Infinity when none does. */
  readonly until: number;
}

/** The rules that `subtract_allow` cuts out of a block feed (SPEC D7.6). */
const EXCEPTIONS: Record<SubtractAllow, RuleRole | undefined> = { on: 'allow', workspace: 'exception', off: undefined };

/** How many entries a feed would have if no never-block rules were cut out of it. */
export const countWithoutSubtraction = (snapshot: ContentRules, query: ContentQuery, geo: GeoDatabase): number =>
  contentOf(snapshot, query, geo, undefined).count;

/** Selects the rules, resolves countries and ASNs, takes out what must not be blocked, and coalesces inside each class. */
export function feedContent(snapshot: ContentRules, query: ContentQuery, geo: GeoDatabase): Content {
  return contentOf(snapshot, query, geo, exceptionsOf(snapshot));
}

function contentOf(snapshot: ContentRules, query: ContentQuery, geo: GeoDatabase, exceptions: RuleRole | undefined): Content {
  const ranges: (AddressSet | undefined)[] = [];
  const active = new ActiveRules(snapshot, query.asOf, geo, query.family);
  active.collect(query.action, (tag) => {
    const index = query.classes === undefined ? 0 : query.classes[levelsOfTag(tag)];
    ranges[index] ??= addressSet([]);
    return ranges[index];
  });
  const taken = query.action === 'block' ? takenOut(active, exceptions, query.guarded) : undefined;

  const classes = ranges.flatMap((each, index): NetworkClass[] => {
    if (each === undefined) return [];
    if (taken !== undefined) subtract(each, taken);
    const [v4, v6] = [coalesceV4(each.v4), coalesceV6(each.v6)];
    return v4.length + v6.length === 0 ? [] : [{ index, v4, v6 }];
  });
  return { classes, count: classes.reduce((sum, { v4, v6 }) => sum + v4.length + v6.length, 0), until: active.until };
}

/** The never-block rules that the settings of a feed cut out of its block feed. */
export const exceptionsOf = ({ head }: Pick<ContentRules, 'head'>): RuleRole | undefined => EXCEPTIONS[head.profile.subtractAllow ?? 'off'];

/** What a block feed does not contain; undefined for nothing. */
export function takenOut(active: ActiveRules, exceptions: RuleRole | undefined, guarded: AddressSet | undefined): AddressSet | undefined {
  if (exceptions === undefined) return guarded;
  const allowed = addressSet([]);
  active.collect(exceptions, () => allowed);
  return guarded === undefined ? allowed : union([allowed, guarded]);
}

/** The rules of a snapshot that are active at a second. */
export class ActiveRules {
  /** The next second at which one of the rules that were asked for expires, so far as the store was not asked for it yet. */
  until = Number.POSITIVE_INFINITY;
  readonly #snapshot: ContentRules;
  readonly #asOf: number;
  readonly #geo: GeoDatabase;
  readonly #withV4: boolean;
  readonly #withV6: boolean;

  /** `asOf` in whole seconds: rules that expire then or before are left out. */
  constructor(snapshot: ContentRules, asOf: number, geo: GeoDatabase, family: Family) {
    this.#snapshot = snapshot;
    this.#asOf = asOf;
    this.#geo = geo;
    this.#withV4 = family !== 'v6';
    this.#withV6 = family !== 'v4';
  }

  /** Adds the addresses of the rules of a role, each to the set that `setOf` gives for its tag. */
  collect(role: RuleRole, setOf: (tag: number) => AddressSet): void {
    this.collectDirect(role, setOf);
    this.eachTarget(role, (target, tag) => this.addRanges(setOf(tag), target));
  }

  /** The same of the rules on addresses and networks alone. */
  collectDirect(role: RuleRole, setOf: (tag: number) => AddressSet): void {
    const { v4, v6 } = this.#snapshot;
    if (this.#withV4) this.#select(v4, role, (row, tag) => setOf(tag).v4.pushNetwork(v4.words[row], v4.prefixes[row]));
    if (this.#withV6) this.#select(v6, role, (row, tag) => setOf(tag).v6.pushNetwork(v6.words, row * 4, v6.prefixes[row]));
  }

  /** Calls `take` with the table and the row of each rule of a role on an address or a network. */
  eachDirect(role: RuleRole, take: Readonly<Record<'v4' | 'v6', (table: RuleTable, row: number) => void>>): void {
    const { v4, v6 } = this.#snapshot;
    if (this.#withV4) this.#select(v4, role, (row) => take.v4(v4, row));
    if (this.#withV6) this.#select(v6, role, (row) => take.v6(v6, row));
  }

  /** Calls `take` with the country or ASN of each rule of a role that has one, and with the rule's place. */
  eachTarget(role: RuleRole, take: (target: GeoTarget, tag: number, table: RuleTable, row: number) => void): void {
    const { geo, geoTargets } = this.#snapshot;
    this.#select(geo, role, (row, tag) => take(geoTargets[row], tag, geo, row));
  }

  /** Adds the ranges of a country or ASN to a set. */
  addRanges({ v4, v6 }: AddressSet, target: GeoTarget): void {
    const found = this.#geo.ranges(target);
    if (this.#withV4) v4.pushAll(found.v4);
    if (this.#withV6) v6.pushAll(found.v6);
  }

  #select(table: RuleTable, role: RuleRole, take: (row: number, tag: number) => void): void {
    const { renewalsAskedThrough } = this.#snapshot;
    const wanted = roleTag(role);
    for (let row = 0; row < table.length; row++) {
      const tag = table.tags[row];
      if ((tag & ROLE_MASK) !== wanted) continue;
      const expires = table.expires[row];
      if (expires !== 0) {
        if (expires > renewalsAskedThrough && expires < this.until) this.until = expires;
        if (expires <= this.#asOf) continue;
      }
      take(row, tag);
    }
  }
}
