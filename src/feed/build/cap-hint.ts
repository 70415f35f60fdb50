import type { FeedKind } from '../../account/feed.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import { countNetworks, type GeoCost, geoName } from '../geo-cost.ts';
import { ROLE_MASK, type RuleTable, type RuleTables, roleTag } from '../index/rule-table.ts';
import type { Snapshot } from '../index/snapshot.ts';
import type { Variant } from '../variant.ts';

const NAMED = 3;

const RAISE: Readonly<Record<FeedKind, string>> = {
  workspace: 'poll separate lists and raise their max_entries',
  list: "raise the list's max_entries",
  composed: "raise the feed's max_entries",
};

/**
 * The hint of a 413: the most expensive rules and how to make the feed smaller (spec 7.3, SPEC D5.8). `cost`: entries added by subtracting
 * never-block rules.
 */
export function tooLargeHint(snapshot: Snapshot, variant: Variant, asOf: number, geo: GeoDatabase, cost: number): string {
  const costs = geoCosts(snapshot, variant, asOf, geo);
  const addresses = addressRules(snapshot, variant, asOf);
  const direct = (variant.family === 'v6' ? 0 : addresses.v4) + (variant.family === 'v4' ? 0 : addresses.v6);
  const bothFamilies = costs.length > 0 || (addresses.v4 > 0 && addresses.v6 > 0);
  const sources = [
    ...costs.slice(0, NAMED).map(({ name, networks }) => `${name} (${plural(networks, 'network')})`),
    ...(costs.length > NAMED ? [plural(costs.length - NAMED, 'other country or ASN rule')] : []),
    ...(direct > 0 ? [plural(direct, 'address rule')] : []),
  ];
  const advice = [
    'narrow or remove the rules that cost most',
    ...(variant.family === 'both' && bothFamilies ? ['ask for one family (family=v4)'] : []),
    ...(costs.length > 0 ? ['use a coarser geo-IP source'] : []),
    ...(cost > 0
      ? [`set subtract_allow to off and poll the allow feed: cutting out never-block rules costs ${plural(cost, 'entry')}`]
      : []),
    RAISE[snapshot.head.kind],
  ];
  return `The entries come from ${sources.join(', ')}. To publish this feed: ${advice.join('; or ')}.`;
}

/** The most expensive first. */
export function geoCosts(snapshot: Snapshot, variant: Variant, asOf: number, geo: GeoDatabase): GeoCost[] {
  const targets = new Map(
    snapshot.parts.flatMap(({ rules: { geo: table, geoTargets } }) =>
      matching(table, variant, asOf).map((row) => [geoName(geoTargets[row]), geoTargets[row]] as const),
    ),
  );
  return [...targets]
    .map(([name, target]) => ({ name, networks: countNetworks(geo.ranges(target), variant.family) }))
    .sort((a, b) => b.networks - a.networks || (a.name < b.name ? -1 : 1));
}

export function addressRules({ parts }: Snapshot, variant: Variant, asOf: number): { v4: number; v6: number } {
  const count = (tableOf: (rules: RuleTables) => RuleTable) =>
    parts.reduce((sum, { rules }) => sum + matching(tableOf(rules), variant, asOf).length, 0);
  return { v4: count(({ v4 }) => v4), v6: count(({ v6 }) => v6) };
}

export const allRules = ({ parts }: Snapshot, variant: Variant, asOf: number): number =>
  parts.reduce(
    (sum, { rules: { v4, v6, geo } }) => sum + [v4, v6, geo].reduce((all, table) => all + matching(table, variant, asOf).length, 0),
    0,
  );

/** Rows active at `asOf` (whole seconds). */
function matching(table: RuleTable, variant: Variant, asOf: number): number[] {
  const rows: number[] = [];
  const wanted = roleTag(variant.action);
  for (let row = 0; row < table.length; row++) {
    const expires = table.expires[row];
    if ((table.tags[row] & ROLE_MASK) === wanted && (expires === 0 || expires > asOf)) rows.push(row);
  }
  return rows;
}

const plural = (count: number, noun: string) => `${count} ${count === 1 ? noun : noun.replace(/y$/, 'ie').concat('s')}`;
