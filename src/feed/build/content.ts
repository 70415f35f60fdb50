import type { SubtractAllow } from '../../account/list.ts';
import { type AddressSet, difference, united } from '../../network/address-set.ts';
import { coalesceV4, coalesceV6 } from '../../network/coalesce.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { AccessAction, RuleRole } from '../../rule.ts';
import type { FeedNetworks, NetworkClass } from '../formats/format.ts';
import type { Family } from '../variant.ts';
import { ActiveRules, type RuleSnapshot } from './active-rules.ts';
import { type ClassRanges, KeptRanges } from './kept-ranges.ts';

/** Rules that a feed is made of, and which never-block rules are cut out of them. */
export interface ContentRules extends RuleSnapshot {
  /** What builds of these rules share; none for rules that are built once. */
  readonly kept?: KeptRanges;
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

function contentOf(
  snapshot: ContentRules,
  { family, action, asOf, classes, guarded }: ContentQuery,
  geo: GeoDatabase,
  exceptions: RuleRole | undefined,
): Content {
  const kept = snapshot.kept ?? new KeptRanges();
  const active = new ActiveRules(snapshot, asOf, geo, family);
  const ranges = kept.ranges(active, { role: action, classes, family }, geo);
  const isCut = action === 'block';
  const allowed =
    isCut && exceptions !== undefined ? kept.ranges(active, { role: exceptions, classes: undefined, family }, geo) : undefined;
  const made = kept.content(
    `content ${action} ${exceptions} ${classes !== undefined} ${family}`,
    `${ranges.version}, ${allowed?.version}`,
    isCut ? guarded : undefined,
    () => {
      const taken = isCut ? takenOut(allowed, guarded) : undefined;
      return ranges.sets().flatMap((each, index): NetworkClass[] => {
        if (each === undefined) return [];
        const left = taken === undefined ? each : difference(each, taken);
        const [v4, v6] = [coalesceV4(left.v4), coalesceV6(left.v6)];
        return v4.length + v6.length === 0 ? [] : [{ index, v4, v6 }];
      });
    },
  );
  return { classes: made, count: made.reduce((sum, { v4, v6 }) => sum + v4.length + v6.length, 0), until: active.until };
}

/** What a block feed does not contain; undefined for nothing. */
export function takenOut(allowed: ClassRanges | undefined, guarded: AddressSet | undefined): AddressSet | undefined {
  const set = allowed?.sets()[0];
  return set !== undefined && guarded !== undefined ? united(set, guarded) : (set ?? guarded);
}

/** The never-block rules that the settings of a feed cut out of its block feed. */
export const exceptionsOf = ({ head }: Pick<ContentRules, 'head'>): RuleRole | undefined => EXCEPTIONS[head.profile.subtractAllow ?? 'off'];
