import { type AddressSet, addressSet, subtract } from '../../network/address-set.ts';
import { coalesceV4, coalesceV6 } from '../../network/coalesce.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { AccessAction } from '../../rule.ts';
import type { FeedNetworks, NetworkClass } from '../formats/format.ts';
import type { Family } from '../variant.ts';
import { ACTION_MASK, actionTag, levelsOfTag, type RuleTable } from './rule-table.ts';
import type { Snapshot } from './snapshot.ts';

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

/** Selects the rules, resolves countries and ASNs, takes out what must not be blocked, and coalesces inside each class. */
export function feedContent(snapshot: Snapshot, query: ContentQuery, geo: GeoDatabase): Content {
  const wanted = actionTag(query.action);
  const ranges: (AddressSet | undefined)[] = [];
  const [withV4, withV6] = [query.family !== 'v6', query.family !== 'v4'];
  let until = Number.POSITIVE_INFINITY;

  select(snapshot.v4, withV4, ({ v4 }, table, row) => v4.pushNetwork(table.words[row], table.prefixes[row]));
  select(snapshot.v6, withV6, ({ v6 }, table, row) => v6.pushNetwork(table.words, row * 4, table.prefixes[row]));
  select(snapshot.geo, true, ({ v4, v6 }, _table, row) => {
    const found = geo.ranges(snapshot.geoTargets[row]);
    if (withV4) v4.pushAll(found.v4);
    if (withV6) v6.pushAll(found.v6);
  });

  const classes = ranges.flatMap((each, index): NetworkClass[] => {
    if (each === undefined) return [];
    if (query.action === 'block' && query.guarded !== undefined) subtract(each, query.guarded);
    const [v4, v6] = [coalesceV4(each.v4), coalesceV6(each.v6)];
    return v4.length + v6.length === 0 ? [] : [{ index, v4, v6 }];
  });
  return { classes, count: classes.reduce((sum, { v4, v6 }) => sum + v4.length + v6.length, 0), until };

  function select(table: RuleTable, asked: boolean, push: (ranges: AddressSet, table: RuleTable, row: number) => void): void {
    if (!asked) return;
    for (let row = 0; row < table.length; row++) {
      const tag = table.tags[row];
      if ((tag & ACTION_MASK) !== wanted) continue;
      const expires = table.expires[row];
      if (expires !== 0) {
        if (expires > snapshot.renewalsAskedThrough && expires < until) until = expires;
        if (expires <= query.asOf) continue;
      }
      const index = query.classes === undefined ? 0 : query.classes[levelsOfTag(tag)];
      ranges[index] ??= addressSet([]);
      push(ranges[index], table, row);
    }
  }
}
