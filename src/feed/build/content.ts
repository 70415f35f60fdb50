import { type AddressSet, addressSet, pushNetworks, united } from '@weir/network/address-set.ts';
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

export interface ContentRules {
  readonly parts: readonly FeedPart[];
  /** Shared by builds of the same rules; undefined for one-off builds. */
  readonly ranges?: FeedRanges;
  readonly head: {
    readonly profile: { readonly subtractAllow: SubtractAllow | null };
    readonly quorum?: QuorumSettings | undefined;
  };
}

interface ContentQuery {
  readonly family: Family;
  readonly action: AccessAction;
  /** Whole seconds: rules expiring by then are excluded. */
  readonly asOf: number;
  /** Level code → class; undefined puts all networks in one class. */
  readonly classes: Uint8Array | undefined;
  /** Addresses excluded from every block feed (SPEC D7.4). */
  readonly guarded: AddressSet | undefined;
  readonly asSent?: boolean | undefined;
  readonly cut?: ListCut | undefined;
}

export interface ListCut {
  readonly left: readonly number[];
  readonly least: number;
  /** Only addresses in fewer lists than this. */
  readonly below?: number;
}

export interface Content extends FeedNetworks {
  /** Next second at which a rule expires, beyond those already renewed from the store; Infinity if none does. */
  readonly nextExpiry: number;
}

/** The never-block rules subtracted per `subtract_allow` value (SPEC D7.6). */
const EXCEPTIONS: Record<SubtractAllow, RuleRole | undefined> = { on: 'allow', workspace: 'exception', off: undefined };

export const withoutSubtraction = (snapshot: ContentRules, query: ContentQuery, geo: GeoDatabase): Content =>
  contentOf(snapshot, query, geo, undefined);

/** Selects rules, resolves countries and ASNs, subtracts, and coalesces within each class. */
export const feedContent = (snapshot: ContentRules, query: ContentQuery, geo: GeoDatabase): Content =>
  contentOf(snapshot, query, geo, exceptionsOf(snapshot));

function contentOf(
  snapshot: ContentRules,
  { family, action, asOf, classes, guarded, asSent, cut }: ContentQuery,
  geo: GeoDatabase,
  exceptions: RuleRole | undefined,
): Content {
  const cache = snapshot.ranges ?? new FeedRanges();
  const parts = activeParts(snapshot.parts, { asOf, family, guarded, asSent }, geo);
  const isCut = action === 'block';
  // Never-block rules need no quorum.
  const quorum = isCut ? quorumOf(snapshot.head.quorum, cut) : undefined;
  const lists = quorum === undefined ? [] : parts.slice(0, quorum.always.length);
  const left = isCut ? (cut?.left ?? []) : [];
  const agreed = quorum && cache.agreed(lists, left, { role: action, family, asSent }, quorum, geo);
  const making = left.length === 0 ? parts : parts.filter((_, place) => !left.includes(place));
  const ranges =
    agreed !== undefined && classes === undefined
      ? { v4: [agreed.v4], v6: [agreed.v6] }
      : cache.ranges(making, { role: action, classes, family, asSent }, geo, left.join());
  const allowed =
    isCut && exceptions !== undefined ? cache.ranges(parts, { role: exceptions, classes: undefined, family }, geo) : undefined;
  const made = cache.content(
    `content ${action} ${exceptions} ${classes !== undefined} ${family} ${asSent} ${cut === undefined ? '' : JSON.stringify(cut)}`,
    [ranges.v4.length, ...ranges.v4, ...ranges.v6, agreed?.v4, agreed?.v6, allowed?.v4[0], allowed?.v6[0], isCut ? guarded : undefined],
    (before) => {
      const subtracted = isCut ? subtractedAddresses(allowed, guarded) : undefined;
      return Array.from({ length: Math.max(ranges.v4.length, ranges.v6.length) }, (_, index): CoalescedClass => {
        const { v4 = new V4Ranges(), v6 = new V6Ranges() } = within(agreed, { v4: ranges.v4[index], v6: ranges.v6[index] });
        const rangesV4 = subtracted === undefined ? v4 : v4.without(subtracted.v4);
        const known = before.find((each) => each.index === index);
        return {
          index,
          rangesV4,
          v4: recoalesceV4(rangesV4, known && { ranges: known.rangesV4, networks: known.v4 }),
          v6: coalesceV6(subtracted === undefined ? v6 : v6.without(subtracted.v6)),
        };
      }).filter(({ v4, v6 }) => v4.length + v6.length > 0);
    },
  );
  return { classes: made, count: made.reduce((sum, { v4, v6 }) => sum + v4.length + v6.length, 0), nextExpiry: nextExpiryOf(parts) };
}

export function subtractionsOf(
  snapshot: ContentRules,
  { family, action, asOf, guarded }: Pick<ContentQuery, 'family' | 'action' | 'asOf' | 'guarded'>,
  geo: GeoDatabase,
): { readonly allowed?: AddressSet | undefined; readonly guarded?: AddressSet | undefined } {
  if (action !== 'block') return {};
  const role = exceptionsOf(snapshot);
  if (role === undefined) return { guarded };
  const parts = activeParts(snapshot.parts, { asOf, family, guarded }, geo);
  const { v4, v6 } = (snapshot.ranges ?? new FeedRanges()).ranges(parts, { role, classes: undefined, family }, geo);
  return { allowed: { v4: v4[0] ?? new V4Ranges(), v6: v6[0] ?? new V6Ranges() }, guarded };
}

/** The part of the ranges with a quorum; all of them without one. */
const within = (agreed: AddressSet | undefined, { v4, v6 }: { readonly v4: V4Ranges | undefined; readonly v6: V6Ranges | undefined }) => ({
  v4: agreed === undefined || v4 === undefined || v4 === agreed.v4 ? v4 : v4.without(v4.without(agreed.v4)),
  v6: agreed === undefined || v6 === undefined || v6 === agreed.v6 ? v6 : v6.without(v6.without(agreed.v6)),
});

/** undefined: one list suffices. */
function quorumOf(quorum: QuorumSettings | undefined, cut: ListCut | undefined): Quorum | undefined {
  if (quorum === undefined) return undefined;
  const { minSources, always, copies } = quorum;
  const { least = minSources, below } = cut ?? {};
  return least < 2 && below === undefined ? undefined : { least, below, always, copies };
}

/** undefined: none. */
export function subtractedAddresses(allowed: ClassRanges | undefined, guarded: AddressSet | undefined): AddressSet | undefined {
  const [v4, v6] = [allowed?.v4[0], allowed?.v6[0]];
  const set = v4 === undefined && v6 === undefined ? undefined : { v4: v4 ?? new V4Ranges(), v6: v6 ?? new V6Ranges() };
  return set !== undefined && guarded !== undefined ? united(set, guarded) : (set ?? guarded);
}

export const exceptionsOf = ({ head }: Pick<ContentRules, 'head'>): RuleRole | undefined => EXCEPTIONS[head.profile.subtractAllow ?? 'off'];

export function addressesIn({ classes }: Pick<FeedNetworks, 'classes'>): AddressSet {
  const set = addressSet([]);
  for (const networks of classes) pushNetworks(set, networks);
  return set;
}
