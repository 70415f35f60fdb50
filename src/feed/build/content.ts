import { type AddressSet, united } from '@weir/network/address-set.ts';
import { coalesceV6 } from '@weir/network/coalesce.ts';
import { V4Ranges, V6Ranges } from '@weir/network/ranges.ts';
import { recoalesceV4 } from '@weir/network/recoalesce.ts';
import type { Quorum } from '@weir/network/sets/agree.ts';
import type { SubtractAllow } from '../../account/list.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { QuorumSettings } from '../../ports/snapshot.ts';
import type { AccessAction, RuleRole } from '../../rule.ts';
import type { FeedNetworks } from '../formats/format.ts';
import { activeParts, type CoalescedClass, type FeedPart, FeedRanges, nextExpiryOf } from '../index/feed-ranges.ts';
import type { ClassRanges } from '../index/range-index.ts';
import type { Family } from '../variant.ts';

/** Rules that a feed is made of, and which never-block rules are cut out of them. */
export interface ContentRules {
  readonly parts: readonly FeedPart[];
  /** What builds of these rules share; none for rules that are built once. */
  readonly ranges?: FeedRanges;
  readonly head: {
    readonly profile: { readonly subtractAllow: SubtractAllow | null };
    /** Of the first parts, which are the lists of the feed. */
    readonly quorum?: QuorumSettings | undefined;
  };
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
  /** Which lists make a block feed, where it is not all that are there. */
  readonly cut?: ListCut | undefined;
}

/** What of its lists makes a block feed; by their places. */
export interface ListCut {
  /** Lists that are left out; what they never block counts all the same. */
  readonly left: readonly number[];
  /** How many lists have to agree. */
  readonly least: number;
  /** Only what fewer lists than these have: what asking for so many leaves out. */
  readonly below?: number;
}

/** What a feed publishes (spec 4.3, content of the feed), not yet as text. */
export interface Content extends FeedNetworks {
  /** The next second at which a rule expires, so far as the store was not asked for it yet; Infinity when none does. */
  readonly nextExpiry: number;
}

/** The rules that `subtract_allow` cuts out of a block feed (SPEC D7.6). */
const EXCEPTIONS: Record<SubtractAllow, RuleRole | undefined> = { on: 'allow', workspace: 'exception', off: undefined };

/** What a feed would publish if no never-block rules were cut out of it. */
export const withoutSubtraction = (snapshot: ContentRules, query: ContentQuery, geo: GeoDatabase): Content =>
  contentOf(snapshot, query, geo, undefined);

/** Selects the rules, resolves countries and ASNs, takes out what must not be blocked, and coalesces inside each class. */
export const feedContent = (snapshot: ContentRules, query: ContentQuery, geo: GeoDatabase): Content =>
  contentOf(snapshot, query, geo, exceptionsOf(snapshot));

function contentOf(
  snapshot: ContentRules,
  { family, action, asOf, classes, guarded, cut }: ContentQuery,
  geo: GeoDatabase,
  exceptions: RuleRole | undefined,
): Content {
  const kept = snapshot.ranges ?? new FeedRanges();
  const parts = activeParts(snapshot.parts, { asOf, family }, geo);
  const isCut = action === 'block';
  // What is never to be blocked needs nobody to agree.
  const quorum = isCut ? quorumOf(snapshot.head.quorum, cut) : undefined;
  const lists = quorum === undefined ? [] : parts.slice(0, quorum.always.length);
  const left = isCut ? (cut?.left ?? []) : [];
  const agreed = quorum && kept.agreed(lists, left, { role: action, family }, quorum, geo);
  const making = left.length === 0 ? parts : parts.filter((_, place) => !left.includes(place));
  const ranges =
    agreed !== undefined && classes === undefined
      ? { v4: [agreed.v4], v6: [agreed.v6] }
      : kept.ranges(making, { role: action, classes, family }, geo, left.join());
  const allowed = isCut && exceptions !== undefined ? kept.ranges(parts, { role: exceptions, classes: undefined, family }, geo) : undefined;
  const made = kept.content(
    `content ${action} ${exceptions} ${classes !== undefined} ${family} ${cut === undefined ? '' : JSON.stringify(cut)}`,
    [ranges.v4.length, ...ranges.v4, ...ranges.v6, agreed?.v4, agreed?.v6, allowed?.v4[0], allowed?.v6[0], isCut ? guarded : undefined],
    (before) => {
      const taken = isCut ? takenOut(allowed, guarded) : undefined;
      return Array.from({ length: Math.max(ranges.v4.length, ranges.v6.length) }, (_, index): CoalescedClass => {
        const { v4 = new V4Ranges(), v6 = new V6Ranges() } = within(agreed, { v4: ranges.v4[index], v6: ranges.v6[index] });
        const rangesV4 = taken === undefined ? v4 : v4.without(taken.v4);
        const known = before.find((each) => each.index === index);
        return {
          index,
          rangesV4,
          v4: recoalesceV4(rangesV4, known && { ranges: known.rangesV4, networks: known.v4 }),
          v6: coalesceV6(taken === undefined ? v6 : v6.without(taken.v6)),
        };
      }).filter(({ v4, v6 }) => v4.length + v6.length > 0);
    },
  );
  return { classes: made, count: made.reduce((sum, { v4, v6 }) => sum + v4.length + v6.length, 0), nextExpiry: nextExpiryOf(parts) };
}

/** The part of the ranges on which lists agree; all of them where nobody has to. */
const within = (agreed: AddressSet | undefined, { v4, v6 }: { readonly v4: V4Ranges | undefined; readonly v6: V6Ranges | undefined }) => ({
  v4: agreed === undefined || v4 === undefined || v4 === agreed.v4 ? v4 : v4.without(v4.without(agreed.v4)),
  v6: agreed === undefined || v6 === undefined || v6 === agreed.v6 ? v6 : v6.without(v6.without(agreed.v6)),
});

/** When lists agree; undefined where each is enough. */
function quorumOf(quorum: QuorumSettings | undefined, cut: ListCut | undefined): Quorum | undefined {
  if (quorum === undefined) return undefined;
  const { minSources, always, copies } = quorum;
  const { least = minSources, below } = cut ?? {};
  return least < 2 && below === undefined ? undefined : { least, below, always, copies };
}

/** What a block feed does not contain; undefined for nothing. */
export function takenOut(allowed: ClassRanges | undefined, guarded: AddressSet | undefined): AddressSet | undefined {
  const [v4, v6] = [allowed?.v4[0], allowed?.v6[0]];
  const set = v4 === undefined && v6 === undefined ? undefined : { v4: v4 ?? new V4Ranges(), v6: v6 ?? new V6Ranges() };
  return set !== undefined && guarded !== undefined ? united(set, guarded) : (set ?? guarded);
}

/** The never-block rules that the settings of a feed cut out of its block feed. */
export const exceptionsOf = ({ head }: Pick<ContentRules, 'head'>): RuleRole | undefined => EXCEPTIONS[head.profile.subtractAllow ?? 'off'];
