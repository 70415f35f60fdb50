/** Current and hypothetical feeds. */

import { NO_MAKING, type ProposedFeed, workspaceProfile } from '../../account/feed.ts';
import { NO_SETTINGS } from '../../account/list.ts';
import { isoTime, within } from '../../clock.ts';
import { hasCode, WeirError } from '../../errors.ts';
import type { FeedMeasure } from '../../feed/builder.ts';
import { FORMAT_NAMES, formatOf } from '../../feed/formats/table.ts';
import type { Representation, TooLarge } from '../../feed/serve/representation.ts';
import { sharesText } from '../../feed/shares.ts';
import { trimmedJson } from '../../feed/trim.ts';
import { FAMILIES, type Family, storedVariant, type Variant, variantOf } from '../../feed/variant.ts';
import { answerOf, exampleOf, type Fields, listOf, nullable, objectOf, Type, textField } from '../../json/schema.ts';
import { ACCESS_ACTIONS, type AccessAction } from '../../rule.ts';
import type { ManageContext } from '../context.ts';
import { LEFT_OUT } from '../feed-state.ts';
import { anyFeedId, findList } from '../find.ts';
import { type Operation, operation } from '../operation.ts';
import { feedPatch, MAKING, requireMaking } from './feeds.ts';

const MOST_LINES = 1000;
const USUAL_LINES = 50;
/** ms */
const MEASURE_LIMIT = 20_000;

const Feed = textField(200, "UUID or name of a list or feed; default: the workspace's feed.", { format: 'text' });
const NO_FEEDS = 'this process builds no feeds (ROLES)';

const Content = answerOf('Content', {
  feed_id: ['0195a3c0-0000-7000-8000-000000000001', nullable(Type.String())],
  format: ['plain', Type.Enum([...FORMAT_NAMES])],
  family: ['both', Type.Enum([...FAMILIES])],
  action: ['block', Type.Enum([...ACCESS_ACTIONS])],
  entries: 2,
  entry_limit: 131_072,
  over_cap: [false, 'The feed exceeds its limit: clients get a 413, and there are no lines.'],
  hint: [null, nullable(Type.String({ description: 'How to make a feed smaller that exceeds its limit.' }))],
  bytes: [25, nullable(Type.Integer())],
  md5: [
    '0cc175b9c0f1b6a831c399e269772661',
    nullable(Type.String({ description: 'Digest of the bytes; the same as in the response to checksum=md5.' })),
  ],
  last_modified: ['2026-11-20T10:00:00.000Z', nullable(Type.String())],
  stale_since: [null, nullable(Type.String())],
  lines: [['192.0.2.1', '198.51.100.0/24'], Type.Array(Type.String())],
});

function firstLines(bytes: Uint8Array, most: number): string[] {
  let end = 0;
  let lines = 0;
  while (lines < most && end < bytes.length) {
    const next = bytes.indexOf(10, end);
    // A long line is cut.
    end = Math.min(next < 0 ? bytes.length : next + 1, end + LONGEST_LINE);
    lines += 1;
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, end).toString();
  return text.replace(/\n$/, '').split('\n');
}
const LONGEST_LINE = 16_384;

async function readContent(
  context: ManageContext,
  { feed, lines = USUAL_LINES, ...asked }: { feed?: string; format?: string; family?: Family; action?: AccessAction; lines?: number },
): Promise<object> {
  const { documents, store, workspaceId } = context;
  if (documents === undefined) throw new WeirError('REFUSED', NO_FEEDS);
  const feedId = feed === undefined ? null : await anyFeedId(store, workspaceId, feed);
  const { format, ...rest } = asked;
  const known = format === undefined ? undefined : formatOf(format);
  const variant = { document: 'feed' as const, ...rest, ...(known !== undefined && { format: known }) };
  // The bytes may have been evicted.
  for (let tries = 0; tries < 3; tries += 1) {
    const found = await documents.find({ workspaceId, list: feedId, variant, boundTo: null }, true);
    if (found.kind !== 'document' && found.kind !== 'too_large') throw new WeirError('NOT_FOUND', DELETED);
    if (found.kind === 'too_large') {
      const of = variantOf(variant, storedVariant((await madeOf(context, feedId)).profile));
      return { ...sizeOf(feedId, found, of), hint: hintOf(found), bytes: null, md5: null, last_modified: null, lines: [] };
    }
    const [bytes, md5] = await Promise.all([documents.body(found, 'identity'), documents.digest(found, 'md5')]);
    if (bytes === undefined || md5 === undefined) continue;
    return {
      ...sizeOf(feedId, found, found.variant as Variant),
      hint: null,
      bytes: bytes.length,
      md5,
      last_modified: isoTime(found.lastModified * 1000),
      lines: found.facts.entryCount === 0 && bytes.length === 0 ? [] : firstLines(bytes, lines),
    };
  }
  throw new WeirError('REFUSED', 'the feed changes too fast; try again');
}

const hintOf = ({ hint, shares }: TooLarge): string => (shares === undefined ? hint : `${hint} ${sharesText(shares)}`);

const sizeOf = (
  feedId: string | null,
  { facts: { entryCount, entryLimit }, staleSince }: Representation | TooLarge,
  { format, family, action }: Variant,
) => ({
  feed_id: feedId,
  format,
  family,
  action,
  entries: entryCount,
  entry_limit: entryLimit,
  over_cap: entryCount > entryLimit,
  stale_since: staleSince === undefined ? null : isoTime(staleSince * 1000),
});

/** `share`: an example. */
const sharesOf = (share: { readonly name: string; readonly entries: number }, about: string) => {
  const fields = { largest: listOf(share), others: { count: 2, entries: 1200 } };
  const description = `${about}; null: the workspace has used its share of counting time.`;
  return [exampleOf(fields), nullable(objectOf(fields, { description }))] as const;
};

const SIZE = {
  name: 'perimeter',
  format: 'plain',
  family: 'both',
  action: 'block',
  entries: [9100, 'In the stored family.'],
  v4: 8000,
  v6: 1100,
  entry_limit: 131_072,
  over_cap: false,
  left_out: LEFT_OUT,
  address_rules: [1200, 'Rules for addresses and networks.'],
  rules: [1210, 'All rules of this action, in any family.'],
  costs: listOf({ name: 'country NL', networks: 7900 }, { description: 'The countries and ASNs with the most networks, at most ten.' }),
  by_list: sharesOf({ name: 'scanners', entries: 7900 }, 'Entries by list before merging of neighbours: ten by name, the rest as a sum'),
  by_key: sharesOf({ name: 'ids', entries: 7900 }, 'The same by the key of the last write'),
  copies: listOf(
    { id: '0195a3c0-0000-7000-8000-000000000001', name: 'edge', of: [['scanners'], Type.Array(Type.String())] },
    { description: 'Lists that copy other lists of the feed. A copy does not count toward min_sources.' },
  ),
  of_rules: [
    null,
    nullable(Type.Integer({ description: 'The number of rules behind by_list and by_key, the newest of each list first; null: all.' })),
  ],
} as const satisfies Fields;
const Size = nullable(objectOf(SIZE));

export const measureJson = ({ entryLimit, leftOut, addressRules, shares, ...measure }: FeedMeasure) => ({
  ...measure,
  entry_limit: entryLimit,
  over_cap: measure.entries > entryLimit,
  left_out: trimmedJson(leftOut),
  address_rules: addressRules,
  by_list: shares?.lists ?? null,
  by_key: shares?.keys ?? null,
  of_rules: shares?.ofRules ?? null,
});

/** null: the workspace's feed. Rejects with NOT_FOUND. */
async function madeOf({ store, workspaceId }: ManageContext, feedId: string | null): Promise<ProposedFeed> {
  if (feedId === null) {
    const workspace = await store.workspace(workspaceId);
    if (workspace !== undefined) return { profile: workspaceProfile(workspace), lists: null, making: NO_MAKING };
  } else {
    const list = (await store.findNamed(workspaceId, feedId))?.lists[0];
    if (list !== undefined) return { profile: list, lists: [list.id], making: NO_MAKING };
    const feed = await store.feed(workspaceId, feedId);
    if (feed !== undefined) return { profile: feed, lists: feed.lists, making: feed };
  }
  throw new WeirError('NOT_FOUND', DELETED);
}
const DELETED = 'the feed was deleted';

type Settings = Readonly<Record<string, unknown>> & {
  readonly feed?: string;
  readonly lists?: readonly string[];
  readonly all_lists?: boolean;
};

/** Without a feed, the change describes a new one. */
async function measureChange(context: ManageContext, { feed, ...change }: Settings): Promise<object> {
  const { measurer, workspaceId, store } = context;
  if (measurer === undefined) throw new WeirError('REFUSED', NO_FEEDS);
  const measure = async (of: Parameters<typeof measurer.measure>[0]['feed']) => {
    const size = await within(measurer.measure({ workspaceId, feed: of }), MEASURE_LIMIT, 'the feed thread').catch((error: unknown) => {
      throw hasCode(error, 'TIMEOUT') ? new WeirError('REFUSED', 'this currently takes too long: try again') : error;
    });
    if (size === undefined) throw new WeirError('NOT_FOUND', DELETED);
    return measureJson(size);
  };
  const { lists: members, ...patch } = await feedPatch(context, change);
  for (const id of members ?? []) await findList(store, workspaceId, id);
  const isNew = feed === undefined && (change.lists !== undefined || change.all_lists === true);
  const feedId = feed === undefined ? null : await anyFeedId(store, workspaceId, feed);
  const now = isNew ? null : await measure(feedId);
  if (Object.keys(change).length === 0) return { before: now, after: null };
  const made = isNew ? { profile: { ...NO_SETTINGS, name: '' }, lists: null, making: NO_MAKING } : await madeOf(context, feedId);
  const lists = members === undefined ? made.lists : members;
  const trusted = made.making.always.filter((id) => lists?.includes(id) ?? true);
  const making = { ...made.making, always: trusted, ...patch };
  requireMaking({ ...making, lists });
  const after = { profile: { ...made.profile, ...patch }, lists, making };
  return { before: now, after: await measure(after) };
}

export const CONTENT_OPERATIONS: readonly Operation[] = [
  operation('getContent', 'GET /content', 'rules:read', {
    summary: 'Get the first lines of a feed, with count and digest',
    query: Type.Object({
      feed: Feed,
      format: Type.Optional(Type.Enum([...FORMAT_NAMES])),
      family: Type.Optional(Type.Enum([...FAMILIES])),
      action: Type.Optional(Type.Enum([...ACCESS_ACTIONS])),
      lines: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_LINES, description: `Default ${USUAL_LINES}.` })),
    }),
    answer: Content,
    refusals: { 404: 'there is no list or feed "edge"', 409: NO_FEEDS },
    run: (context, { query }) => readContent(context, query),
  }),
  operation('measureFeed', 'POST /measure', 'rules:read', {
    summary: 'Measure a feed as it is, and with other lists or settings',
    description: 'Changes nothing. With lists and without feed, it measures a new feed; then before is null.',
    body: Type.Object({ feed: Feed, ...MAKING }),
    answer: answerOf('Measure', {
      before: [exampleOf(SIZE), Size],
      after: [{ ...exampleOf(SIZE), entries: 8000, family: 'v4' }, Size],
    }),
    refusals: { 404: 'there is no list or feed "edge"', 409: NO_FEEDS },
    examples: [{ all_lists: true }, { feed: 'perimeter' }, { feed: 'perimeter', family: 'v4' }, { lists: ['edge', 'scanners'] }],
    run: (context, { body }) => measureChange(context, body as never),
  }),
];
