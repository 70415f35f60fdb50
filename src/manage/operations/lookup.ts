/** SPEC D10, D15.38. */

import { timeUntil, within } from '../../clock.ts';
import { hasCode, WeirError } from '../../errors.ts';
import type { FeedFacts } from '../../feed/facts.ts';
import { MOST_EXPLAINED } from '../../feed/whatif/explain/explain.ts';
import { answerOf, flagField, listOf, nullable, objectOf, Type, textField, wordField } from '../../json/schema.ts';
import { ACCESS_ACTIONS, type AccessAction } from '../../rule.ts';
import { formatTarget, targetNamed } from '../../signal/target.ts';
import type { ManageContext } from '../context.ts';
import { droppedOf, HITS } from '../hits.ts';
import { explanationJson, type FeedJson } from '../lookup/explanation.ts';
import { FEED_PATH, PATH_SCHEMA, pathOf } from '../lookup/path.ts';
import { fieldFault, type Operation, operation } from '../operation.ts';
import { repeatTexts } from '../rules/repeats.ts';
import { namesIn } from '../rules/rule-json.ts';
import { sinceGiven } from './changes/changes.ts';
import { frozenSince } from './freezes.ts';
import { RULE_EXAMPLE, Rule } from './rules/rule-schema.ts';

/** ms */
const LIMIT = 15_000;
const VERDICT = Type.Enum(['in', 'partly', 'out', 'unknown']);

const PAST = {
  at: Type.Optional(Type.String({ format: 'date-time', description: 'With at.' })),
  geo: Type.Optional(
    Type.Object({ country: Type.String(), asn: Type.String() }, { description: 'With at: versions of the geo data then.' }),
  ),
};

const EXPLAINED = answerOf(
  'Explanation',
  {
    target: '192.0.2.1',
    action: ['block', Type.Enum([...ACCESS_ACTIONS])],
    feeds: listOf(
      {
        kind: ['workspace', Type.Enum(['workspace', 'list', 'composed'])],
        id: [null, nullable(Type.String())],
        name: 'default',
        verdict: ['in', VERDICT],
        family: 'both',
        entries: [1204, nullable(Type.Integer({ description: 'As currently served or last built; null: this process has not built it.' }))],
        max_entries: [131_072, nullable(Type.Integer())],
        over_cap: [
          false,
          nullable(Type.Boolean({ description: 'true: it exceeds its limit, is not published, and polls get a 413; null: unknown.' })),
        ],
        rules: [
          [
            {
              effect: 'in',
              idle: null,
              relation: 'covering',
              served_as: null,
              not_widened: [],
              ...RULE_EXAMPLE,
              list_name: 'default',
              key_name: 'siem',
              source: null,
            },
          ],
          Type.Array(Rule, {
            description:
              'With effect (in, out, none), relation, list_name, key_name and, if a source manages the list, source: its name, the refresh of the last write, and the time of creation. The first 20. idle is the reason for no effect: not_cut_out, no_ranges, other_family, too_few_lists, left_out, and with at not_known: whether the address was in the country or ASN. served_as is the network served for a blocked address; not_widened, the reason that it is served as sent: protected networks, or wider than a prefix length.',
          }),
        ],
        rules_left_out: 0,
        frozen_since: [
          null,
          nullable(
            Type.String({
              description:
                'The feed has been frozen since then: it serves the rules of that time, while the verdict is about the current rules; null: not frozen.',
            }),
          ),
        ],
        protected_by: [[], Type.Array(Type.String())],
        agreement: [
          null,
          nullable(
            objectOf({
              min_sources: 2,
              found: [1, Type.Integer({ description: 'Independent lists that contain the address of the target that most lists have.' })],
              lists: listOf({ name: 'firehol', always: [false, Type.Boolean()], copies: [[], Type.Array(Type.String())] }),
            }),
            { description: 'For feeds with a quorum: the lists that have it; null: no quorum, or no list has it.' },
          ),
        ],
        rank: [
          null,
          nullable(objectOf({ rank: 10_431, limit: 10_000 }), {
            description:
              'The best place of an address of the target that a full feed (`fit: best`) leaves out, and its number of places; null: none is.',
          }),
        ],
        unblock: { removes: [[], Type.Array(Type.Integer())], verdict: ['in', VERDICT] },
        subtract_allow: [
          null,
          nullable(Type.Object({ value: Type.Enum(['on', 'workspace']), verdict: VERDICT }), {
            description: 'The effect of subtracting allow rules; null: no such rule concerns the target.',
          }),
        ],
      },
      undefined,
      FEED_PATH,
    ),
    feeds_left_out: [0, 'Feeds beyond 1,000 that do not concern the target.'],
    dropped: listOf(
      { list: 'scanners', ...HITS },
      { description: 'Drops per list that puts the target into feeds; empty if no bouncer of the workspace reports drops.' },
    ),
  },
  { ...PATH_SCHEMA, ...PAST },
);

/** Served documents read for their size, and the time for all, ms. */
const SIZED = 20;
const SIZE_LIMIT = 2_000;

/** As a poll would find them (SPEC D45.4). */
async function sizesOf(
  { documents, feeds: known, workspaceId, now }: ManageContext,
  feeds: readonly FeedJson[],
  action: AccessAction,
): Promise<ReadonlyMap<string | null, Partial<FeedJson>>> {
  const until = now() + SIZE_LIMIT;
  const sizes = new Map<string | null, Partial<FeedJson>>();
  const sized = (id: string | null, { entryCount: entries, entryLimit: limit }: FeedFacts) =>
    sizes.set(id, { entries, max_entries: limit, over_cap: entries > limit });
  for (const { id, family } of feeds) {
    const built = known?.of({ workspaceId, feedId: id }).find((each) => each.action === action && each.family === family);
    if (built !== undefined) sized(id, built.facts);
  }
  const read = feeds.filter(({ id, verdict }) => verdict !== 'out' && sizes.has(id)).slice(0, SIZED);
  for (const { id } of read) {
    if (documents === undefined || now() > until) break;
    const asked = { workspaceId, list: id, variant: { document: 'feed', action }, boundTo: null } as const;
    const found = await within(documents.find(asked), timeUntil(until, now()), 'the feed').catch(() => undefined);
    if (found?.kind === 'document' || found?.kind === 'too_large') sized(id, found.facts);
  }
  return sizes;
}

interface LookUp {
  readonly target: string;
  readonly action?: AccessAction | undefined;
  readonly feed?: string | undefined;
  readonly path?: boolean | undefined;
}

export const LOOKUP_OPERATIONS: readonly Operation[] = [
  operation('lookUp', 'GET /lookup', 'rules:read', {
    summary: 'Explain which feeds contain an address, network, ASN or country',
    query: Type.Object({
      target: Type.String({ maxLength: 64, description: 'An address, a network, an ASN such as AS64500, or a country such as NL.' }),
      action: wordField(ACCESS_ACTIONS, 'Block feeds (default) or allow feeds.'),
      feed: textField(200, 'Only this feed: UUID or name of a list or composed feed.'),
      at: textField(
        40,
        'Of an address or network: then, an instant or an age such as 30d, from the archive; without path, sizes and drops.',
      ),
      path: flagField('Adds enforcement by devices, history, and the effect of an allow rule.'),
    }),
    answer: EXPLAINED,
    isLong: 'at',
    refusals: {
      404: 'there is no list or feed "edge"',
      409: 'more than 100000 rules have addresses of US; ask about an address or a smaller network',
    },
    async run(context, { query }) {
      if (query.at !== undefined) return pastLookUp(context, { ...query, at: query.at });
      if (query.path !== true) return lookUp(context, query);
      // Each path loads all devices: one at a time per workspace.
      return context.inTurn(() => lookUp(context, query), `path ${context.workspaceId}`);
    },
  }),
];

async function pastLookUp({ past, workspaceId, isCountry, now }: ManageContext, asked: LookUp & { readonly at: string }) {
  const target = targetNamed(asked.target, isCountry);
  if (typeof target === 'string') throw fieldFault('target', target);
  const at = sinceGiven('at', asked.at, now());
  if (past === undefined) throw new WeirError('REFUSED', 'there is no archive of earlier rules: ARCHIVE_DIR is not set');
  return past.lookUp({ workspaceId, target, action: asked.action ?? 'block', feed: asked.feed, at, most: MOST_EXPLAINED });
}

async function lookUp(context: ManageContext, { target: text, action = 'block', feed, path: wantsPath = false }: LookUp) {
  const { store, workspaceId, explainer, isCountry, now } = context;
  const target = targetNamed(text, isCountry);
  if (typeof target === 'string') throw fieldFault('target', target);
  if (explainer === undefined) throw new WeirError('REFUSED', 'this process builds no feeds: ask another one');
  const workspace = await store.workspace(workspaceId);
  if (workspace === undefined) throw new WeirError('NOT_FOUND', 'the workspace was deleted');
  const found = feed === undefined ? undefined : await store.findNamed(workspaceId, feed);
  const feedIds = found && [...found.lists, ...found.feeds].map(({ id }) => id);
  if (feedIds?.length === 0) throw new WeirError('NOT_FOUND', `there is no list or feed "${feed}"`);
  const listId = wantsPath ? await store.defaultList(workspaceId) : undefined;
  const asked = { workspace, target, action, counts: false, ...(feedIds && { feedIds }), ...(listId && { outlook: { listId } }) };
  // The explaining thread times out earlier, with a reason.
  const explained = await within(explainer.explain(asked), LIMIT, 'the explanation').catch((error: unknown) => {
    throw hasCode(error, 'TIMEOUT') ? new WeirError('REFUSED', 'this currently takes too long: try again') : error;
  });
  const names = await namesIn(store, workspaceId);
  const dropped = await droppedOf(store, workspaceId, explained, names, now());
  const path = wantsPath ? await pathOf(context, { target, action }, explained, names) : undefined;
  const stored = explained.feeds.flatMap(({ explanation }) => explanation.rules.map((each) => each.stored));
  const feeds = explanationJson(explained, names, await repeatTexts(store, workspaceId, stored));
  const frozen = await frozenSince(store, workspaceId);
  const sizes = await sizesOf(context, feeds, action);
  return {
    target: formatTarget(target),
    action,
    feeds: feeds.map((each, i) => {
      const size = { over_cap: path?.overCap.has(i) ? true : null, ...sizes.get(each.id) };
      return {
        ...each,
        ...size,
        rules_left_out: explained.feeds[i]!.leftOut,
        frozen_since: frozen.get(each.id) ?? null,
        ...path?.feeds.get(i),
      };
    }),
    feeds_left_out: explained.feedsLeftOut,
    dropped,
    ...path?.summary,
  };
}
