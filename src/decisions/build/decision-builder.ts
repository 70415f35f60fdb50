/** The decisions of all feeds on the feed thread: the builder of documents keeps them up to date, bouncers ask for them. */
import { type Clock, within } from '../../clock.ts';
import type { VersionedContent, VersionedContents } from '../../feed/build/versioned-content.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import type { NewLogRow } from '../../ports/stored/bouncer-store.ts';
import type { DecisionAnswer, DecisionRequest, DroppedDecisions } from '../decisions.ts';
import { DecisionFeeds, MOST_NETWORKS, type NetworkBounds } from './decision-feeds.ts';
import { FeedDecisions } from './feed-decisions.ts';

/** How long the store may take to tell or note what bouncers were told, ms. */
const ASK_LIMIT = 2_000;

export interface DecisionBuilderOptions {
  readonly store: Pick<StoreReads, 'told'>;
  readonly recordLog: StoreWrites['recordLog'];
  readonly clock: Clock;
  /** MOST_NETWORKS, unless said otherwise. */
  readonly most?: NetworkBounds;
  /** Is told of each feed that had to go for another, in memory or in the store too. */
  readonly onDropped?: (dropped: DroppedDecisions) => void;
}

/** Answers bouncers. */
export interface DecisionAnswers {
  /** A body for bouncers, of what was built last of the feed's decisions; undefined when nothing was, in this thread. */
  decisions(request: DecisionRequest): Promise<DecisionAnswer | undefined>;
}

export function decisionBuilder({
  store,
  recordLog,
  clock,
  most = MOST_NETWORKS,
  onDropped = () => {},
}: DecisionBuilderOptions): DecisionAnswers & { readonly contents: VersionedContents } {
  const feeds = new DecisionFeeds<FeedDecisions>(most);
  const record = async (workspaceId: string, feedId: string | null, row: NewLogRow): Promise<number> => {
    const { seq, forgotten } = await within(recordLog(workspaceId, feedId, row), ASK_LIMIT, 'the store', clock);
    for (const each of forgotten) onDropped({ workspaceId, feedId: each, where: 'store' });
    return seq;
  };
  return {
    async decisions(request) {
      return feeds.use(request)?.answer(request, clock.now());
    },
    contents: {
      hint: 'Narrow or remove rules, or raise the max_entries of the list or feed; single addresses count one by one.',
      of(workspaceId, feedId): VersionedContent {
        const known = feeds.use({ workspaceId, feedId });
        if (known !== undefined) return known;
        const made = new FeedDecisions({
          read: (after) => within(store.told(workspaceId, feedId, after), ASK_LIMIT, 'the store', clock),
          record: (row) => record(workspaceId, feedId, row),
        });
        feeds.add({ workspaceId, feedId }, made);
        return made;
      },
      forget(workspaceId, feedId) {
        feeds.delete({ workspaceId, feedId });
      },
      trim(workspaceId) {
        const dropped = feeds.trim(workspaceId);
        for (const each of dropped) onDropped({ ...each, where: 'memory' });
        return dropped;
      },
    },
  };
}
