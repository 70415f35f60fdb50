import { createHash } from 'node:crypto';
import { type Clock, secondOf, within } from '../../clock.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import type { BuildRequest, BuildResult, FeedBuilder } from '../builder.ts';
import { stampFeed } from '../formats/table.ts';
import { expireRules } from './expiry.ts';
import { decideLastModified, isInstantShared } from './last-modified.ts';
import { draftFeed } from './render.ts';
import { readSnapshot, type Snapshot } from './snapshot.ts';

interface EngineOptions {
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

/** Holds the snapshots of the feeds and builds representations from them: all of it in the thread that calls it. */
export function feedEngine({ store, recordFeed, geo, clock }: EngineOptions): FeedBuilder {
  const feeds = new Map<string, Feed>();

  async function build(feed: Feed, request: BuildRequest): Promise<BuildResult> {
    if (feed.snapshot === undefined || feed.snapshot.generation < request.generation) {
      feed.snapshot = await within(readSnapshot(store, request, clock.now()), READ_LIMIT, 'the store', clock);
      if (feed.snapshot === undefined) return { kind: 'gone' };
    }
    return render(feed.snapshot, request);
  }

  async function render(snapshot: Snapshot, request: BuildRequest): Promise<BuildResult> {
    const { variant, shown, offline } = request;
    const second = secondOf(clock.now());
    const database = geo();
    const renderAsOf = async (asOf: number) => {
      await expireRules(snapshot, asOf, second, offline ? undefined : (ids) => statesOf(request, ids));
      return draftFeed(snapshot, variant, asOf, database);
    };
    snapshot.takenAt = Math.max(snapshot.takenAt, request.confirmedAt);
    let draft = await renderAsOf(second);
    // A content that can only begin after the one shown must hold nothing that lapses until then.
    if (draft.kind === 'draft' && shown !== undefined && shown.hash !== draft.hash) {
      const earliest = shown.lastModified + 1;
      if (earliest > second && draft.until <= earliest) draft = await renderAsOf(earliest);
    }
    const { generation, readAt, takenAt, head } = snapshot;
    const source = { generation, readAt, takenAt, revision: head.revision, geoVersion: database.version };
    if (draft.kind === 'too_large') return { ...source, ...draft };

    const { text, hash, entryCount, entryLimit, until } = draft;
    const record = offline ? undefined : await recordOf(request, { hash, snapshotAt: takenAt, second });
    const { lastModified, begins, settles } = decideLastModified(hash, second, takenAt, record, shown);
    stampFeed(text, lastModified);
    return {
      kind: 'feed',
      ...source,
      entryCount,
      entryLimit,
      hash,
      bytes: text.bytes,
      md5: createHash('md5').update(text.bytes).digest('hex'),
      lastModified,
      sharesInstant: isInstantShared(hash, lastModified, shown),
      begins,
      provisional: Number.isFinite(settles),
      until: Math.min(until, settles),
    };
  }

  const statesOf = ({ workspaceId }: BuildRequest, ids: readonly number[]) =>
    within(store.ruleStates(workspaceId, ids), ASK_LIMIT, 'the store', clock);

  /** The store's row; undefined when it cannot be written, and first appearances live in memory. */
  const recordOf = ({ workspaceId, listId, variant }: BuildRequest, seen: Parameters<StoreWrites['recordFeed']>[2]) =>
    within(recordFeed(workspaceId, { listId, ...variant }, seen), ASK_LIMIT, 'the store', clock).catch(() => undefined);

  return {
    build(request) {
      const key = keyOf(request.workspaceId, request.listId);
      const feed = feeds.get(key) ?? { snapshot: undefined, tail: Promise.resolve() };
      feeds.set(key, feed);
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

const keyOf = (workspaceId: string, listId: string | null) => `${workspaceId}/${listId ?? ''}`;
