/** Lists and composed feeds by index, at constant cost. */
import { feedRevision, makingOf, type ProposedFeed } from '../../account/feed.ts';
import { type ListSettings, settingsOf } from '../../account/list.ts';
import { levelCode } from '../../feed/levels.ts';
import { type HostPrefixes, hostPrefixes } from '../../feed/widening.ts';
import type { NamedDirectory, SnapshotHead } from '../../ports/snapshot.ts';
import { isStorableText } from '../../signal/storable-text.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import { guardRailsOf, listOf, profileOf, type Row, workspaceProfileOf } from '../rows.ts';
import { all, allByKey, one, oneByKey, type Work } from '../work.ts';
import { frozenFeeds } from './frozen-feeds.ts';
import { membersOf } from './members.ts';
import { quorumOf } from './quorum.ts';

interface SourceList {
  readonly pk: number;
  readonly id: string;
  readonly name: string;
  /** `levelCode` for rules without levels. */
  readonly levels: number;
  readonly hosts: HostPrefixes | undefined;
  readonly isEmpty: boolean;
}

export interface RuleSource {
  readonly workspacePk: number;
  readonly head: SnapshotHead;
  readonly lists: readonly SourceList[];
  readonly hasFreezes: boolean;
}

/**
 * Every input of the content of a composed feed, with the number that changes with it (SPEC D46.1); `feed_revision` is their sum. A list
 * that leaves a feed adds its revision to the feed's own, so the sum never decreases. Other feeds have the revision of their list or
 * workspace (`feedRevision`). Builds compare time, geo data and service settings themselves.
 */
const FEED_INPUTS = {
  'its settings, its lists and their order': 'f.revision',
  'rules, settings and names of its lists; guard rails, which move every list': `CASE WHEN f.all_lists = 1 THEN w.revision
    ELSE coalesce((SELECT sum(l.revision) FROM feed_lists m JOIN lists l ON l.pk = m.list_pk WHERE m.feed_pk = f.pk), 0) END`,
  'what sources copy, which lists and feeds those names stand for, what is left out':
    'CASE WHEN f.min_sources IS NULL AND f.fit IS NULL THEN 0 ELSE w.settings_revision END',
};

export const FEEDS = `SELECT f.*, ${Object.values(FEED_INPUTS).join(' + ')} AS feed_revision
  FROM feeds f JOIN workspaces w ON w.pk = f.workspace_pk WHERE `;

const HAS_FREEZES = 'EXISTS (SELECT 1 FROM freezes z WHERE z.workspace_pk = w.pk) AS has_freezes';

/** One statement, for a consistent revision. */
const find = (now: string) => `SELECT w.pk AS workspace, w.name AS workspace_name, w.revision AS workspace_revision,
    w.expression_revision, ${now} AS taken_at, l.*, ${HAS_FREEZES},
    (SELECT s.secret FROM signing_keys s WHERE s.workspace_pk = w.pk ORDER BY s.pk LIMIT 1) AS signing_secret
  FROM workspaces w LEFT JOIN (
    SELECT * FROM lists WHERE id = $2 AND workspace_pk = ${WORKSPACE_PK}
    UNION ALL SELECT * FROM lists WHERE workspace_pk = ${WORKSPACE_PK} AND name = $3 AND id <> $2
  ) l ON l.workspace_pk = w.pk WHERE w.id = $1 ORDER BY l.pk`;

const FIND_FEED = `SELECT pk, id FROM feeds WHERE id = $2 AND workspace_pk = $1
  UNION ALL SELECT pk, id FROM feeds WHERE workspace_pk = $1 AND name = $3 AND id <> $2`;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Reads the feed after the revision: a change in between gives a higher one. */
export function* findNamed(now: string, workspaceId: string, ref: string): Work<NamedDirectory | undefined> {
  // No name is empty.
  const name = isStorableText(ref) ? ref : '';
  const rows = yield* allByKey(find(now), workspaceId, name.toLowerCase(), name);
  if (rows.length === 0) return undefined;
  const [{ workspace, workspace_name, workspace_revision, expression_revision, taken_at, signing_secret, has_freezes }] = rows as [Row];
  const found = rows.filter(({ pk }) => pk !== null);
  const { lists, feed } = yield* named(Number(workspace), name, found);
  return {
    id: workspaceId,
    name: String(workspace_name),
    revision: Number(workspace_revision),
    expressionRevision: Number(expression_revision),
    readAt: Number(taken_at),
    lists: lists.map((row) => listOf(row, workspaceId)),
    signingSecret: (signing_secret ?? null) as Uint8Array | null,
    feeds: feed === undefined ? [] : [{ id: String(feed.id), ...profileOf(feed), revision: Number(feed.feed_revision) }],
    ...(isTrue(has_freezes) && { freezes: yield* frozenFeeds(Number(workspace)) }),
  };
}

/** A UUID wins, then the name of lists, then a feed name. */
function* named(workspacePk: number, ref: string, lists: readonly Row[]): Work<{ lists: readonly Row[]; feed: Row | undefined }> {
  const id = ref.toLowerCase();
  const hasId = (row: Row) => row.id === id;
  if (lists.some(hasId)) return { lists: lists.filter(hasId), feed: undefined };
  if (lists.length > 0 && !UUID.test(id)) return { lists, feed: undefined };
  const feed = yield* findFeed(workspacePk, id, ref);
  return feed !== undefined && (hasId(feed) || lists.length === 0) ? { lists: [], feed } : { lists, feed: undefined };
}

/** The row by UUID, else by name. */
export function* findFeed(workspacePk: number, id: string, name: string): Work<Row | undefined> {
  // Cheaper than FEEDS; most names belong to no feed.
  const found = yield* allByKey(FIND_FEED, workspacePk, id, name);
  const row = found.find((each) => each.id === id) ?? found[0];
  return row && (yield* one(`${FEEDS} f.pk = $1`, Number(row.pk)));
}

export function* defaultList(workspaceId: string): Work<string | undefined> {
  const row = yield* one(
    'SELECT l.id FROM workspaces w JOIN lists l ON l.workspace_pk = w.pk AND l.is_default = 1 WHERE w.id = $1',
    workspaceId,
  );
  return row && String(row.id);
}

export function* listCount(workspaceId: string): Work<number> {
  const row = yield* one('SELECT count(*) AS lists FROM workspaces w JOIN lists l ON l.workspace_pk = w.pk WHERE w.id = $1', workspaceId);
  return Number(row?.lists);
}

/** Most feeds have one list. */
const sourceQuery = (now: string) => `SELECT l.*, EXISTS (SELECT 1 FROM access_rules r WHERE r.list_pk = l.pk) AS has_rules,
    w.pk AS workspace, w.name AS workspace_name, w.revision AS workspace_revision, w.expression_revision,
    w.created_at AS workspace_created_at, w.protect, w.min_prefix_v4, w.min_prefix_v6, w.peers, w.subtract_allow AS workspace_subtract_allow,
    ${now} AS taken_at, ${HAS_FREEZES},
    (SELECT b.last_seq FROM batches b WHERE b.workspace_pk = w.pk ORDER BY b.first_seq DESC LIMIT 1) AS last_seq
  FROM workspaces w LEFT JOIN lists l ON l.workspace_pk = w.pk AND l.id = $2 WHERE w.id = $1`;

/** `feed`: UUID, null: the workspace's, or unsaved. undefined: not found. */
export function* ruleSource(now: string, workspaceId: string, feed: string | null | ProposedFeed): Work<RuleSource | undefined> {
  const id = typeof feed === 'string' ? feed : '';
  const row = yield* oneByKey(sourceQuery(now), workspaceId, id);
  if (row === undefined) return undefined;
  const workspacePk = Number(row.workspace);
  const workspaceRevision = Number(row.workspace_revision);
  const source =
    feed === null
      ? yield* workspaceSource(workspacePk, { ...row, name: row.workspace_name, subtract_allow: row.workspace_subtract_allow })
      : typeof feed === 'object'
        ? yield* proposedSource(workspacePk, feed)
        : row.id === id
          ? listSource(row)
          : yield* composedSource(workspacePk, id);
  if (source === undefined) return undefined;
  const { lists, ...own } = source;
  const revision = feedRevision(own.profile, own.revision, workspaceRevision);
  const head = {
    ...own,
    revision,
    expressionRevision: Number(row.expression_revision),
    workspaceCreatedAt: Number(row.workspace_created_at),
    change: Number(row.last_seq ?? 0),
    guardRails: guardRailsOf(row),
    lists: lists.map(({ pk, id, name, levels, hosts }) => ({ id, name, key: keyOf(pk), levels, hosts })),
    readAt: Number(row.taken_at),
  };
  return { workspacePk, head, lists, hasFreezes: isTrue(row.has_freezes) };
}

const LISTS = 'SELECT pk, id, name, confidence, severity, widen_v4, widen_v6 FROM lists WHERE workspace_pk = $1';
const MEMBERS = `SELECT l.pk, l.id, l.name, l.confidence, l.severity, l.widen_v4, l.widen_v6 FROM feed_lists m JOIN lists l ON l.pk = m.list_pk
  WHERE m.feed_pk = $1 ORDER BY m.position, m.list_pk`;

type Source = Pick<SnapshotHead, 'kind' | 'profile' | 'revision' | 'quorum'> & Pick<RuleSource, 'lists'>;

function* workspaceSource(workspacePk: number, row: Row): Work<Source> {
  const rows = yield* all(`${LISTS} ORDER BY pk`, workspacePk);
  const lists = rows.map((list) => ({ ...composedOf(list), levels: 0 }));
  return { kind: 'workspace', profile: workspaceProfileOf(row), revision: Number(row.workspace_revision), quorum: undefined, lists };
}

const listSource = (row: Row): Source => ({
  kind: 'list',
  profile: profileOf(row),
  revision: Number(row.revision),
  quorum: undefined,
  lists: [{ ...composedOf(row), levels: 0 }],
});

function* composedSource(workspacePk: number, id: string): Work<Source | undefined> {
  const row = yield* one(`${FEEDS} f.id = $1 AND f.workspace_pk = $2`, id, workspacePk);
  if (row === undefined) return undefined;
  const { always } = yield* membersOf(row);
  const isOfAll = Number(row.all_lists) === 1;
  const rows = isOfAll ? yield* all(`${LISTS} ORDER BY pk`, workspacePk) : yield* all(MEMBERS, Number(row.pk));
  const profile = profileOf(row);
  const lists = rows.map((list) => composedOf(list, profile));
  const quorum = yield* quorumOf(workspacePk, { ...makingOf(row), always }, lists, row.fits);
  return { kind: 'composed', profile, revision: Number(row.feed_revision), quorum, lists };
}

function composedOf(row: Row, feed?: ListSettings): SourceList {
  const list = settingsOf(row);
  return { ...placeOf(row), levels: levelsOfList(list), hosts: hostPrefixes(list, feed) };
}

/** Skips deleted lists and lists of other workspaces. */
function* proposedSource(workspacePk: number, { profile, lists: members, making }: ProposedFeed): Work<Source> {
  const rows =
    members === null
      ? yield* all(`${LISTS} ORDER BY pk`, workspacePk)
      : members.length === 0
        ? []
        : yield* all(`${LISTS} AND id IN (${members.map((_, i) => `$${i + 2}`)}) ORDER BY pk`, workspacePk, ...members);
  const places = new Map(members?.map((id, place) => [id, place]));
  const lists = rows.map((list) => composedOf(list, profile)).sort((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0));
  return { kind: 'composed', profile, revision: 0, quorum: yield* quorumOf(workspacePk, making, lists), lists };
}

/** SQLite has numbers. */
const isTrue = (value: unknown) => value === true || value === 1;

export const keyOf = (pk: number): string => String(pk);

const placeOf = (row: Row) => ({
  pk: Number(row.pk),
  id: String(row.id),
  name: String(row.name),
  isEmpty: Number(row.has_rules ?? 1) === 0,
});
const levelsOfList = ({ confidence, severity }: ListSettings) => levelCode(confidence, severity);
