/** A feed at two earlier moments (SPEC D61.9). */
import { difference, isEmpty } from '@weir/network/address-set.ts';
import { blockGuards } from '../account/guard-rails.ts';
import { isoTime, secondOf, systemClock } from '../clock.ts';
import { WeirError } from '../errors.ts';
import { levelCode } from '../feed/levels.ts';
import type { Variant } from '../feed/variant.ts';
import { compared, type FeedContent, feedAt, variantAsked } from '../feed/whatif/difference/difference.ts';
import type { PastDifference, PastDifferenceAsked } from '../manage/lookup/past.ts';
import type { GeoDatabase } from '../ports/geo.ts';
import type { RuleSink } from '../ports/snapshot.ts';
import type { StoreReads } from '../ports/store.ts';
import type { AccessAction, Level } from '../rule.ts';
import { formatTarget, readTarget, targetFieldOf } from '../signal/target.ts';
import { folderOf } from './folder.ts';
import { type ActiveRule, replay } from './replay.ts';
import { type ArchivedSettings, anyHeadOf, type ServiceSettings } from './settings.ts';

/** Rules of the workspace at a moment: they are in memory. */
const MOST_RULES = 1_000_000;

/** Rejects with NOT_FOUND for a deleted feed, TOO_LARGE for too many rules, and with REFUSED if the archive does not have a moment or is damaged. */
export async function pastDifference(
  asked: PastDifferenceAsked,
  dir: string,
  store: StoreReads,
  service: ServiceSettings,
  most = MOST_RULES,
): Promise<PastDifference> {
  const { workspaceId, feedId, since, until, limit } = asked;
  const head = await store.snapshot(workspaceId, feedId, until, undefined);
  if (head === undefined) throw new WeirError('NOT_FOUND', 'the feed was deleted');
  const variant = variantAsked(head, asked);
  const about = { workspaceId, feedId, variant, most };
  const before = await contentAt(about, since, dir, store, service);
  const after = await contentAt(about, until, dir, store, service);
  return { ...compared(variant, [before, after], limit), frozenSince: after.frozenSince ?? before.frozenSince };
}

interface About extends Pick<PastDifferenceAsked, 'workspaceId' | 'feedId'> {
  readonly variant: Variant;
  readonly most: number;
}

interface PastContent extends FeedContent {
  readonly frozenSince: string | null;
}

async function contentAt(
  { workspaceId, feedId, variant, most }: About,
  at: number,
  dir: string,
  store: StoreReads,
  service: ServiceSettings,
): Promise<PastContent> {
  const { rules, settings } = await replay<Rule>(
    folderOf(dir, workspaceId),
    {
      ...{ workspaceId, at, most, isWanted: () => true, keep: keptAt(secondOf(at)) },
      tooMany: () => new WeirError('TOO_LARGE', `the workspace had more than ${most} rules at ${isoTime(at)}`),
    },
    store,
    service,
  );
  const sorted = Map.groupBy(rules, ({ list }) => list);
  const contentBy = async (then: ArchivedSettings): Promise<PastContent> => {
    const head = anyHeadOf(then, feedId);
    if (head === undefined) throw new WeirError('REFUSED', `the feed did not exist at ${isoTime(at)}: choose a later time`);
    const content = await feedAt(workspaceId, head, then, variant, at, {
      store: {
        placeAt: async () => 0,
        async rulesAt(_, listId, __, sink) {
          for (const rule of sorted.get(listId) ?? []) pass(rule, sink);
        },
      },
      ...{ geo: noPlaces(at), guard: blockGuards(then.guardRails), clock: systemClock },
    });
    return { ...content, frozenSince: isoTime(then.frozen.find((each) => each.feedId === feedId)?.since ?? null) };
  };
  const [then, later] = settings;
  const content = await contentBy(then);
  if (later !== undefined && !isSame(content, await contentBy(later)))
    throw new WeirError('REFUSED', `settings changed around ${isoTime(at)}: choose a time before or after`);
  return content;
}

const isSame = (one: PastContent, other: PastContent): boolean =>
  isEmpty(difference(one.addresses, other.addresses)) &&
  isEmpty(difference(other.addresses, one.addresses)) &&
  JSON.stringify([one.size, one.frozenSince]) === JSON.stringify([other.size, other.frozenSince]);

/** A million rules must not be a million values of JSON. Whole seconds, 0 = never. */
interface Rule {
  readonly seq: number;
  readonly id: number;
  readonly list: string;
  readonly action: AccessAction;
  readonly target: string;
  readonly expires: number;
  readonly levels: number;
}

/** A rule that has expired in that second does not count. */
function keptAt(second: number): (rule: ActiveRule) => Rule | undefined {
  const shared = new Map<unknown, string>();
  return ({ id, seq, list, target, rule: { action, expires_at: end, confidence, severity } }) => {
    const expires = typeof end === 'string' ? Math.ceil(Date.parse(end) / 1000) : 0;
    if (expires !== 0 && expires <= second) return undefined;
    for (const text of [list, action]) if (!shared.has(text)) shared.set(text, text as string);
    const levels = levelCode((confidence ?? null) as Level | null, (severity ?? null) as Level | null);
    return { seq, id, list: shared.get(list)!, action: shared.get(action) as AccessAction, target, expires, levels };
  };
}

function pass({ id, action, target: name, expires, levels }: Rule, sink: RuleSink): void {
  const target = readTarget(targetFieldOf(name), name);
  if (typeof target === 'string') throw new WeirError('REFUSED', `the archive has an invalid target: ${name}`);
  if (target.kind !== 'ip') sink.geo(id, action, target, expires, levels);
  else if (target.network.family === 4) sink.v4(id, action, target.network.address, target.network.prefix, expires, levels);
  else {
    const bytes = Buffer.alloc(16);
    for (const [word, value] of target.network.address.entries()) bytes.writeUInt32BE(value, 4 * word);
    sink.v6(id, action, bytes, 0, target.network.prefix, expires, levels);
  }
}

/** Asked only for rules that the content depends on. */
const noPlaces = (at: number): GeoDatabase => ({
  version: '',
  hasAsn: () => false,
  ranges(target) {
    const rule = `a rule on ${formatTarget(target)} at ${isoTime(at)}`;
    throw new WeirError('REFUSED', `the feed had ${rule}, whose addresses then are not known: the archive has no geo data`);
  },
});
