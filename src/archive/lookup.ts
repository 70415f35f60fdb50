/** Which feeds had an address at an earlier moment, and why (SPEC D61.4, D61.5). */
import { type BlockGuard, blockGuards } from '../account/guard-rails.ts';
import { isoTime } from '../clock.ts';
import { WeirError } from '../errors.ts';
import { type Explained, type ExplainedTarget, explain } from '../feed/whatif/explain/explain.ts';
import type { StoredAccessRule, Verdict } from '../feed/whatif/explain/explanation.ts';
import type { ExplainOptions } from '../feed/whatif/explain/sources.ts';
import { explanationJson } from '../manage/lookup/explanation.ts';
import type { PastAnswer, PastFeed, PastLookUp } from '../manage/lookup/past.ts';
import { fieldFault } from '../manage/operation.ts';
import { namesIn } from '../manage/rules/rule-json.ts';
import type { GeoDatabase } from '../ports/geo.ts';
import type { StoreReads } from '../ports/store.ts';
import type { ChangeOrigin } from '../ports/stored/rule-store.ts';
import type { AccessAction, JsonObject, Level } from '../rule.ts';
import { formatTarget, readTarget, targetFieldOf } from '../signal/target.ts';
import { folderOf } from './folder.ts';
import { pastOf } from './past.ts';
import type { Past, PastRule } from './replay.ts';
import { type ArchivedSettings, headOf, type ServiceSettings } from './settings.ts';

/** Rejects with USAGE, NOT_FOUND, and with REFUSED if the archive does not have that moment or is damaged. */
export async function pastLookUp(asked: PastLookUp, dir: string, store: StoreReads, service: ServiceSettings): Promise<PastAnswer> {
  const { target, at } = asked;
  if (target.kind !== 'ip') throw fieldFault('target', 'must be an address or a network, with at');
  if (at > (await store.ping())) throw fieldFault('at', 'must not be in the future');
  const past = await pastOf(
    folderOf(dir, asked.workspaceId),
    { workspaceId: asked.workspaceId, network: target.network, at },
    store,
    service,
  );
  const [settings, later] = past.settings;
  const answer = await explainPast(asked, past, settings);
  if (later === undefined) return answer;
  return { ...answer, feeds: agreeing(answer.feeds, (await explainPast(asked, past, later)).feeds) };
}

/** If settings may have changed before or after the moment, only equal verdicts are known. */
function agreeing(feeds: readonly PastFeed[], others: readonly PastFeed[]): PastFeed[] {
  const verdicts = new Map(others.map(({ id, verdict }) => [id, verdict]));
  const missing = others.filter(({ id }) => !feeds.some((feed) => feed.id === id));
  return [
    ...feeds.map((feed) => (verdicts.get(feed.id) === feed.verdict ? feed : { ...feed, verdict: 'unknown' as const })),
    ...missing.map((feed) => ({ ...feed, verdict: 'unknown' as const })),
  ];
}

async function explainPast(asked: PastLookUp, { rules: lines }: Past, settings: ArchivedSettings): Promise<PastAnswer> {
  const { target, action, feed, at } = asked;
  const listed = new Set(settings.lists.map(({ id }) => id));
  const rules = lines.filter(({ list }) => listed.has(list)).map(storedRule);
  const origins = new Map(lines.flatMap(({ rule, by }) => (by === undefined ? [] : [[rule!.seq, originOf(by)] as const])));
  const feedIds = feed === undefined ? undefined : feedIdsOf(settings, feed);
  const guard = blockGuards(settings.guardRails)(settings.workspace);
  const given = { workspace: settings.workspace, target, action, counts: false, ...(feedIds && { feedIds }) };
  const explainRules = (of: readonly StoredAccessRule[]) => explain(given, optionsOf(settings, of, origins, guard, asked));
  // Whether the address was in a country or ASN is not known: it may have been, for each of their rules.
  const isPlaced = ({ rule }: StoredAccessRule) => rule.target.kind !== 'ip';
  const placed = (stored: StoredAccessRule) => ({ ...stored, rule: { ...stored.rule, target } });
  const without = (of: AccessAction) => rules.flatMap((each) => (!isPlaced(each) ? [each] : each.rule.action === of ? [] : [placed(each)]));
  const explained = await explainRules(rules.map((each) => (isPlaced(each) ? placed(each) : each)));
  const other = action === 'block' ? 'allow' : 'block';
  const [least, most] = rules.some(isPlaced)
    ? [await explainRules(without(action)), await explainRules(without(other))]
    : [explained, explained];
  const placedRules = new Map(rules.filter(isPlaced).map((each) => [each.id, each]));
  const { lists, keys } = settings;
  const names = await namesIn({ names: async (_, kind) => [...(kind === 'lists' ? lists : keys)] as never }, settings.workspace.id);
  const feeds = explanationJson(withTargets(explained, least, placedRules), names, new Map());
  return {
    ...{ target: formatTarget(target), action, at: isoTime(at)!, geo: settings.geo, feeds_left_out: explained.feedsLeftOut, dropped: [] },
    feeds: feeds.map((each, i) => ({
      ...each,
      verdict: verdictOf(least, i) === verdictOf(most, i) ? verdictOf(least, i) : 'unknown',
      rules: each.rules.map((rule) => {
        const { target: place } = placedRules.get(rule.id)?.rule ?? {};
        return place === undefined || place.kind === 'ip' ? rule : { ...rule, effect: 'none', idle: 'not_known', relation: place.kind };
      }),
      ...{ unblock: { removes: [], verdict: verdictOf(least, i) }, subtract_allow: null },
      rules_left_out: explained.feeds[i]!.leftOut,
      frozen_since: isoTime(settings.frozen.find(({ feedId }) => feedId === each.id)?.since ?? null),
    })),
  };
}

const verdictOf = ({ feeds }: ExplainedTarget, place: number): Verdict => feeds[place]!.explanation.verdict;

/** The rules as sent; effects of networks, and agreeing lists, without mere possibilities. */
function withTargets(
  { feeds, ...rest }: ExplainedTarget,
  least: ExplainedTarget,
  placed: ReadonlyMap<number, StoredAccessRule>,
): ExplainedTarget {
  const of = (each: Explained, { explanation: sure }: Explained): Explained => {
    const known = new Map(sure.rules.map((rule) => [rule.stored.id, rule]));
    const rules = each.explanation.rules.map((rule) => {
      const stored = placed.get(rule.stored.id);
      return stored === undefined ? (known.get(rule.stored.id) ?? rule) : { ...rule, stored };
    });
    return { ...each, explanation: { ...each.explanation, rules, quorum: sure.quorum } };
  };
  return { ...rest, feeds: feeds.map((each, place) => of(each, least.feeds[place]!)) };
}

function feedIdsOf({ lists, feeds }: ArchivedSettings, ref: string): string[] {
  const found = [...lists, ...feeds].filter(({ id, name }) => id === ref || name === ref).map(({ id }) => id);
  if (found.length === 0) throw new WeirError('NOT_FOUND', `there was no list or feed "${ref}"`);
  return found;
}

const NO_PLACES: GeoDatabase = {
  version: '',
  hasAsn: () => false,
  ranges: () => ({ v4: new Uint32Array(), v6: new Uint32Array() }),
};

/** The store as it was, as far as an explanation reads it. */
function optionsOf(
  settings: ArchivedSettings,
  rules: readonly StoredAccessRule[],
  origins: ReadonlyMap<number, ChangeOrigin>,
  guard: BlockGuard,
  { at, most }: PastLookUp,
): ExplainOptions {
  const { workspace, lists, feeds } = settings;
  return {
    store: {
      async *rules(_, { match }) {
        if (match?.how === 'covering') yield* rules;
      },
      rulesById: async () => [],
      directory: async () => ({ id: workspace.id, name: workspace.name, revision: 0, readAt: at, lists }),
      feeds: async () => [...feeds],
      origins: async () => new Map(origins),
      snapshot: async (_, feedId) => headOf(settings, feedId as string | null),
    },
    ...{ geo: NO_PLACES, guard: () => guard, now: { wall: at, monotonic: 0 }, mostReturned: most },
  };
}

const originOf = ({ batch_id: batchId, key_id: keyId, actor, person }: NonNullable<PastRule['by']>): ChangeOrigin => ({
  ...{ batchId, keyId, landedAt: 0, undoes: null },
  ...(actor !== undefined && { actor }),
  ...(person !== undefined && { personId: person }),
});

function storedRule({ id, target: name, list, rule }: PastRule): StoredAccessRule {
  const { action, seq } = rule!;
  const target = readTarget(targetFieldOf(name), name);
  if (typeof target === 'string') throw new WeirError('REFUSED', `the archive has an invalid target: ${name}`);
  const text = (field: string) => (rule![field] ?? null) as string | null;
  const json = (field: string) => (rule![field] ?? null) as JsonObject | null;
  const expires = text('expires_at');
  return {
    ...{ id, kind: 'access_rule', listId: list, seq },
    ...{ createdAt: Date.parse(text('created_at')!), updatedAt: Date.parse(text('updated_at')!) },
    rule: {
      ...{ target, action: action as AccessAction, ruleRef: text('rule_ref'), name: text('name'), reason: text('reason') },
      ...{ confidence: text('confidence') as Level | null, severity: text('severity') as Level | null },
      ...{ labels: json('labels'), config: json('config'), expiresAt: expires === null ? null : Date.parse(expires) },
    },
  };
}
