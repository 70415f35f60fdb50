import type { SubtractAllow } from '../../account/list.ts';
import { type AddressSet, addressSet, subtract, union } from '../../network/address-set.ts';
import { coalesceV4, coalesceV6 } from '../../network/coalesce.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { AccessAction, RuleRole } from '../../rule.ts';
import type { FeedNetworks, NetworkClass } from '../formats/format.ts';
import type { Family } from '../variant.ts';
import { levelsOfTag, ROLE_MASK, type RuleTable, roleTag } from './rule-table.ts';
import type { RuleTables, Snapshot } from './snapshot.ts';

/** Rules that a feed is made of, and which never-block rules are cut out of them. */
export interface ContentRules extends RuleTables, Pick<Snapshot, 'renewalsAskedThrough'> {
  readonly head: { readonly profile: { readonly subtractAllow: SubtractAllow | null } };
}

/** Which of a snapshot's rules make a feed, and when. */
export interface ContentQuery {
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

const EXCEPTIONS: Record<SubtractAllow, RuleRole | undefined> = { on: 'allow', workspace: 'exception', off: undefined };
/** The rules that are cut out of a block feed (SPEC D7.6); undefined for none. */
export const exceptionRole = (subtractAllow: SubtractAllow | null): RuleRole | undefined => EXCEPTIONS[subtractAllow ?? 'off'];

/** How many entries a feed would have if no never-block rules were cut out of it. */
export const countWithoutSubtraction = (snapshot: ContentRules, query: ContentQuery, geo: GeoDatabase): number =>
  contentOf(snapshot, query, geo, undefined).count;

/** Selects the rules, resolves countries and ASNs, takes out what must not be blocked, and coalesces inside each class. */
export function feedContent(snapshot: ContentRules, query: ContentQuery, geo: GeoDatabase): Content {
  return contentOf(snapshot, query, geo, exceptionRole(snapshot.head.profile.subtractAllow));
}

function contentOf(snapshot: ContentRules, query: ContentQuery, geo: GeoDatabase, exceptions: RuleRole | undefined): Content {
  const ranges: (AddressSet | undefined)[] = [];
  const [withV4, withV6] = [query.family !== 'v6', query.family !== 'v4'];
  let until = Number.POSITIVE_INFINITY;

  collect(query.action, (tag) => {
    const index = query.classes === undefined ? 0 : query.classes[levelsOfTag(tag)];
    ranges[index] ??= addressSet([]);
    return ranges[index];
  });
  const taken = query.action === 'block' ? takenOut() : undefined;

  const classes = ranges.flatMap((each, index): NetworkClass[] => {
    if (each === undefined) return [];
    if (taken !== undefined) subtract(each, taken);
    const [v4, v6] = [coalesceV4(each.v4), coalesceV6(each.v6)];
    return v4.length + v6.length === 0 ? [] : [{ index, v4, v6 }];
  });
  return { classes, count: classes.reduce((sum, { v4, v6 }) => sum + v4.length + v6.length, 0), until };

  /** What a block feed does not contain; undefined for nothing. */
  function takenOut(): AddressSet | undefined {
    if (exceptions === undefined) return query.guarded;
    const allowed = addressSet([]);
    collect(exceptions, () => allowed);
    return query.guarded === undefined ? allowed : union([allowed, query.guarded]);
  }

  /** Adds the addresses of the active rules of a role, each to the set that `setOf` gives for its tag. */
  function collect(role: RuleRole, setOf: (tag: number) => AddressSet): void {
    select(snapshot.v4, role, withV4, setOf, ({ v4 }, table, row) => v4.pushNetwork(table.words[row], table.prefixes[row]));
    select(snapshot.v6, role, withV6, setOf, ({ v6 }, table, row) => v6.pushNetwork(table.words, row * 4, table.prefixes[row]));
    select(snapshot.geo, role, true, setOf, ({ v4, v6 }, _table, row) => {
      const found = geo.ranges(snapshot.geoTargets[row]);
      if (withV4) v4.pushAll(found.v4);
      if (withV6) v6.pushAll(found.v6);
    });
  }

  function select(
    table: RuleTable,
    role: RuleRole,
    asked: boolean,
    setOf: (tag: number) => AddressSet,
    push: (set: AddressSet, table: RuleTable, row: number) => void,
  ): void {
    if (!asked) return;
    const wanted = roleTag(role);
    for (let row = 0; row < table.length; row++) {
      const tag = table.tags[row];
      if ((tag & ROLE_MASK) !== wanted) continue;
      const expires = table.expires[row];
      if (expires !== 0) {
        if (expires > snapshot.renewalsAskedThrough && expires < until) until = expires;
        if (expires <= query.asOf) continue;
      }
      push(setOf(tag), table, row);
    }
  }
}
