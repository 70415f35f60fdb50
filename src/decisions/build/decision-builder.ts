/** Runs on the feed thread. The document builder updates decisions; bouncers query them. */
import { type Clock, within } from '../../clock.ts';
import type { VersionedContent, VersionedContents } from '../../feed/build/versioned-content.ts';
import { plainId } from '../../feed/canary.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import type { NewLogRow } from '../../ports/stored/bouncer-store.ts';
import type { DecisionAnswer, DecisionRequest, DroppedDecisions } from '../decisions.ts';
import { DecisionFeeds, MOST_NETWORKS, type NetworkBounds } from './decision-feeds.ts';
import { FeedDecisions } from './feed-decisions.ts';

/** Timeout of the decision log, ms. */
const ASK_LIMIT = 2_000;

export interface DecisionBuilderOptions {
  readonly store: Pick<StoreReads, 'logRecords'>;
  readonly recordLog: StoreWrites['recordLog'];
  readonly clock: Clock;
  /** Default: MOST_NETWORKS. */
  readonly most?: NetworkBounds;
  /** Reports decisions evicted from memory or from the store. */
  readonly onDropped?: (dropped: DroppedDecisions) => void;
}

export interface DecisionAnswers {
  /** The answer is from the feed's last build; undefined: this thread has not built the feed. */
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
        // Canaries share the stored log, as the bouncers of two processes do: their networks are deleted again from others (SPEC D65.11).
        const stored = plainId(feedId);
        const made = new FeedDecisions({
          read: (after) => within(store.logRecords(workspaceId, stored, after), ASK_LIMIT, 'the store', clock),
          record: (row) => record(workspaceId, stored, row),
        });
        feeds.add({ workspaceId, feedId }, made);
        return made;
      },
      forget(workspaceId, feedId) {
        feeds.delete({ workspaceId, feedId });
      },
      trim(workspaceId) {
        const dropped = feeds.trim(workspaceId);
        for (const each of dropped) onDropped({ ...each, feedId: plainId(each.feedId), where: 'memory' });
        return dropped;
      },
    },
  };
}
