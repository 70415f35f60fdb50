import { createHash } from 'node:crypto';
import type { GeoDatabase, StoreReads, StoreWrites } from '../ports.ts';
import type { AccessList } from '../rule.ts';
import { appearance } from './appearance.ts';
import type { BuildRequest, BuildResult, BuildSource, FeedBuilder, TooLargeFeed } from './build.ts';
import { type Clock, secondOf, within } from './clock.ts';
import { type Content, feedContent } from './content.ts';
import { tooLargeHint } from './cost.ts';
import { contentHash, type FeedText, renderFeed, stampFeed } from './format.ts';
import { settleLapses } from './lapse.ts';
import { classTable, DEFAULT_LEVEL } from './levels.ts';
import { DEFAULT_ENTRY_LIMIT } from './names.ts';
import { readSnapshot, type Snapshot } from './snapshot.ts';

export interface EngineOptions {
  readonly store: Pick<StoreReads, 'snapshot' | 'ruleStates'>;
  readonly recordFeed: StoreWrites['recordFeed'];
  /** The geo data to use now; a reload makes it another. */
  readonly geo: () => GeoDatabase;
  readonly clock: Clock;
}

/** How long a snapshot's read may take, and the small questions beside it, ms. */
const READ_LIMIT = 60_000;
const ASK_LIMIT = 2_000;

interface Feed {
  snapshot: Snapshot | undefined;
  /** Settles when the last build that was asked for is over: one feed is built by one at a time. */
  tail: Promise<unknown>;
}

/** A rendered content whose first appearance is not known yet. */
interface Draft extends FeedText {
  readonly kind: 'draft';
  readonly content: Content;
  readonly entryLimit: number;
  readonly hash: string;
}

/** Holds the snapshots of the feeds and builds representations from them: all of it in the thread that calls it. */
export function feedEngine({ store, recordFeed, geo, clock }: EngineOptions): FeedBuilder {
  const feeds = new Map<string, Feed>();
  const keyOf = (workspaceId: string, listId: string | null) => `${workspaceId}/${listId ?? ''}`;

  function feedOf(request: BuildRequest): Feed {
    const key = keyOf(request.workspaceId, request.listId);
    let feed = feeds.get(key);
    if (feed === undefined) {
      feed = { snapshot: undefined, tail: Promise.resolve() };
      feeds.set(key, feed);
    }
    return feed;
  }

  async function build(feed: Feed, request: BuildRequest): Promise<BuildResult> {
    if (feed.snapshot === undefined || feed.snapshot.generation < request.generation) {
      const { workspaceId, listId, generation } = request;
      const read = readSnapshot(store, workspaceId, listId, generation, clock.now());
      feed.snapshot = await within(read, READ_LIMIT, clock, 'the store');
      if (feed.snapshot === undefined) return { kind: 'gone' };
    }
    return render(feed.snapshot, request);
  }

  async function render(snapshot: Snapshot, request: BuildRequest): Promise<BuildResult> {
    const ask = (ids: readonly number[]) => within(store.ruleStates(request.workspaceId, ids), ASK_LIMIT, clock, 'the store');
    const second = secondOf(clock.now());
    const database = geo();
    const draftAsOf = async (asOf: number) => {
      await settleLapses(snapshot, asOf, second, request.offline ? undefined : ask);
      return draft(snapshot, request, asOf, database);
    };
    const { shown } = request;
    let next = await draftAsOf(second);
    // A content that can only begin after the one shown must hold nothing that lapses until then.
    if (next.kind === 'draft' && shown !== undefined && shown.hash !== next.hash) {
      const earliest = shown.lastModified + 1;
      if (earliest > second && next.content.until <= earliest) next = await draftAsOf(earliest);
    }
    if (next.kind === 'too_large') return next;

    const { bytes, hash, content } = next;
    const takenAt = Math.max(snapshot.head.takenAt, request.confirmedAt);
    const snapshotAt = Math.max(takenAt, content.lapsed * 1000);
    const record = request.offline ? undefined : await remember(request, { hash, snapshotAt, second });
    const { lastModified, begins, settles } = appearance(hash, second, takenAt, record, shown);
    stampFeed(next, lastModified);
    return {
      kind: 'feed',
      bytes,
      md5: createHash('md5').update(bytes).digest('hex'),
      hash,
      snapshotAt,
      lastModified,
      begins,
      provisional: Number.isFinite(settles),
      ...source(snapshot, database, content, next.entryLimit),
      until: Math.min(content.until, settles),
    };
  }

  /** The store's row; undefined when it cannot be written, and first appearances live in memory. */
  function remember({ workspaceId, listId, view }: BuildRequest, seen: Parameters<StoreWrites['recordFeed']>[2]) {
    return within(recordFeed(workspaceId, { listId, ...view }, seen), ASK_LIMIT, clock, 'the store').catch(() => undefined);
  }

  return {
    build(request) {
      const feed = feedOf(request);
      if (request.offline) return feed.snapshot === undefined ? Promise.resolve({ kind: 'no_snapshot' }) : render(feed.snapshot, request);
      const built = feed.tail.then(() => build(feed, request));
      feed.tail = built.catch(() => undefined);
      return built;
    },
    async forget(workspaceId, listId) {
      feeds.delete(keyOf(workspaceId, listId));
    },
  };
}

/** The text of a feed as of a second, or the reason why there is none. */
function draft(snapshot: Snapshot, { view }: BuildRequest, asOf: number, geo: GeoDatabase): Draft | TooLargeFeed {
  const { head } = snapshot;
  const classes = view.format === 'csv_indicator' ? classTable(levelDefaults(head.list)) : undefined;
  const content = feedContent(snapshot, { family: view.family, action: view.action, asOf, classes }, geo);
  const entryLimit = head.list?.maxEntries ?? DEFAULT_ENTRY_LIMIT;
  if (content.count > entryLimit) {
    const hint = tooLargeHint(snapshot, view, asOf, geo);
    return { kind: 'too_large', hint, ...source(snapshot, geo, content, entryLimit), until: content.until };
  }
  const title = head.list === null ? { name: head.workspaceName, description: null } : head.list;
  const text = renderFeed(content, view, title);
  return { kind: 'draft', content, entryLimit, ...text, hash: contentHash(text) };
}

const levelDefaults = (list: AccessList | null) => ({
  confidence: list?.confidence ?? DEFAULT_LEVEL,
  severity: list?.severity ?? DEFAULT_LEVEL,
});

function source(
  { head, generation, readAt }: Snapshot,
  geo: GeoDatabase,
  content: Content,
  entryLimit: number,
): Omit<BuildSource, 'until'> {
  return { revision: head.revision, generation, readAt, geoVersion: geo.version, list: head.list, entryCount: content.count, entryLimit };
}
