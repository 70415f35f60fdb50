/** What the feeds of this process are like now, and a line of the log for each change (SPEC D10.10 to D10.13). */
import type { Log } from '../../ports/log.ts';
import type { AccessAction } from '../../rule.ts';
import type { FeedCounter } from '../builder.ts';
import { FORMAT_NAMES, FORMATS } from '../formats/table.ts';
import type { FeedShares } from '../shares.ts';
import type { Family, Variant } from '../variant.ts';
import { afterBuild, type FeedEvent, type FeedSize, FRESH, isFull, type OpenEvent, type SizeState, staleEvent } from './feed-events.ts';
import { FeedSizes } from './feed-sizes.ts';

/** Which feed. */
export interface FeedName {
  readonly workspaceId: string;
  /** The UUID of a list or a composed feed; null for the workspace's feed. */
  readonly feedId: string | null;
}

/** What a build says of a feed. */
export interface BuiltSize extends FeedSize {
  readonly name: string;
  /** The kind of device that it is made for. */
  readonly target?: string | null | undefined;
  readonly v4Count?: number | undefined;
  /** `BuildSource.revision`; undefined while the store does not answer: nothing can be counted then. */
  readonly revision?: number | undefined;
}

/** The variants of a feed that always have the same entries. */
interface Counted {
  readonly action: AccessAction;
  readonly family: Family;
  /** Whether networks of different confidence and severity stay apart. */
  readonly rated: boolean;
}

/** What is known of one feed in one action and family, and what of that needs attention. */
export interface WatchedFeed extends FeedName, Counted, FeedSize {
  readonly name: string;
  /** The kind of device that it is made for. */
  readonly target?: string | null | undefined;
  /** ms since 1970: when it was built last. */
  readonly builtAt: number;
  /** Whole seconds: since when it is served from memory because the store does not answer; undefined when it is not. */
  readonly staleSince: number | undefined;
  readonly open: readonly OpenEvent[];
  /** Where its entries come from, of a feed that has 90% of its cap or more; undefined where that was not counted. */
  readonly shares?: FeedShares | undefined;
}

interface CountedState extends Counted {
  readonly size: SizeState;
  readonly builtAt: number;
  shares: FeedShares | undefined;
}

interface FeedState extends FeedName {
  name: string;
  target?: string | null | undefined;
  stale: (OpenEvent & { readonly asOf: number }) | undefined;
  expected: OpenEvent | undefined;
  readonly counted: Map<string, CountedState>;
}

/** Holds the states of the feeds that were built in this process. `now` gives ms since 1970. */
export class FeedWatch {
  readonly #log: Log;
  readonly #now: () => number;
  readonly #listeners: (() => void)[] = [];
  readonly #feeds = new Map<string, FeedState>();
  /** How large block feeds are, for the history of feeds. */
  readonly sizes = new FeedSizes();
  readonly #shares: FeedCounter['shares'] | undefined;

  /** `shares` counts where the entries of full feeds come from. */
  constructor(log: Log, now: () => number, shares?: FeedCounter['shares']) {
    this.#log = log;
    this.#now = now;
    this.#shares = shares;
  }

  /** Calls it whenever a change has been logged. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Notes a build of a variant, which is also one of all variants with the same entries. Resolves to where its entries come from, once that
   * is counted; undefined where it has room, and where it cannot be.
   */
  async built(
    feed: FeedName,
    variant: Variant,
    { name, target, v4Count = 0, revision, ...size }: BuiltSize,
  ): Promise<FeedShares | undefined> {
    if (variant.action === 'block') this.sizes.note(feed, variant.family, v4Count, size.entries - v4Count);
    const key = keyOf(feed);
    const state: FeedState = this.#feeds.get(key) ?? { ...feed, name, stale: undefined, expected: undefined, counted: new Map() };
    this.#feeds.set(key, state);
    state.name = name;
    state.target = target;
    const counted = countedOf(variant);
    const place = JSON.stringify(counted);
    const now = this.#now();
    const { state: after, events } = afterBuild(state.counted.get(place)?.size, size, now);
    const of: CountedState = { ...counted, size: after, builtAt: now, shares: state.counted.get(place)?.shares };
    state.counted.set(place, of);
    if (counted.action === 'block') state.expected = undefined;
    for (const event of events) this.#tell(state, event, counted);
    if (!isFull(size)) of.shares = undefined;
    else if (revision !== undefined) of.shares = await this.#count(feed, { ...counted, revision });
    return of.shares;
  }

  /** Where the entries come from of what bouncers pull, which is over its cap; undefined where that cannot be told. */
  overCap(feed: FeedName, revision: number | undefined): Promise<FeedShares | undefined> {
    return revision === undefined
      ? Promise.resolve(undefined)
      : this.#count(feed, { action: 'block', family: 'both', rated: false, revision });
  }

  async #count({ workspaceId, feedId }: FeedName, { action, family, revision }: Counted & { readonly revision: number }) {
    try {
      return await this.#shares?.({ workspaceId, feed: feedId, action, family, revision });
    } catch {
      // The feed is told without: that the store does not answer is told elsewhere.
      return undefined;
    }
  }

  /** Notes that a feed is served from memory; `asOf` in whole seconds. */
  stale(feed: FeedName, asOf: number): void {
    const state = this.#feeds.get(keyOf(feed));
    if (state === undefined || state.stale !== undefined) return;
    const event = staleEvent(asOf);
    state.stale = { kind: event.kind, text: event.text, since: this.#now(), asOf };
    this.#tell(state, event);
  }

  /** Notes that a feed is served from the store. */
  fresh(feed: FeedName): void {
    const state = this.#feeds.get(keyOf(feed));
    if (state?.stale === undefined) return;
    state.stale = undefined;
    this.#tell(state, FRESH);
  }

  /** Notes that what was accepted will take a feed over its cap; told once until the feed is built. */
  expect(feed: FeedName, event: FeedEvent): void {
    const state = this.#feeds.get(keyOf(feed));
    if (state === undefined || state.expected !== undefined) return;
    state.expected = { kind: event.kind, text: event.text, since: this.#now() };
    this.#tell(state, event);
  }

  /** A feed that is gone, or that nobody asks for any more. */
  forget(feed: FeedName): void {
    this.#feeds.delete(keyOf(feed));
    this.sizes.forget(feed);
  }

  /** The last known sizes of the block feeds of a workspace. */
  *blockSizes(workspaceId: string): Generator<FeedName & { readonly size: SizeState }> {
    for (const { counted, ...feed } of this.#feeds.values()) {
      if (feed.workspaceId !== workspaceId) continue;
      for (const { action, size } of counted.values()) if (action === 'block') yield { ...feed, size };
    }
  }

  /** All that is known now. */
  feeds(): WatchedFeed[] {
    return [...this.#feeds.values()].flatMap(watchedOf);
  }

  /** What is known of one feed; nothing of one that was not built here. */
  of(feed: FeedName): WatchedFeed[] {
    const state = this.#feeds.get(keyOf(feed));
    return state === undefined ? [] : watchedOf(state);
  }

  #tell({ workspaceId, feedId, name }: FeedState, { level, text }: FeedEvent, counted?: Counted): void {
    const of =
      feedId === null ? `the feed of workspace "${name}" (${workspaceId}` : `the feed "${name}" (${feedId}, workspace ${workspaceId}`;
    this.#log(level, `${of}${counted === undefined ? '' : `, ${describe(counted)}`}) ${text}`);
    for (const listener of this.#listeners) listener();
  }
}

const watchedOf = ({ workspaceId, feedId, name, target, stale, expected, counted }: FeedState): WatchedFeed[] =>
  [...counted.values()].map(({ size, builtAt, shares, ...of }, i) => ({
    workspaceId,
    feedId,
    name,
    target,
    ...of,
    entries: size.entries,
    limit: size.limit,
    fitted: size.fitted,
    builtAt,
    shares,
    staleSince: stale?.asOf,
    // What concerns the whole feed is told once.
    open: [size.tight, size.leftOut, size.shrunk, ...(i === 0 ? [stale, expected] : [])].flatMap(openOf),
  }));

const keyOf = ({ workspaceId, feedId }: FeedName): string => `${workspaceId}/${feedId ?? ''}`;
const countedOf = ({ format, family, action }: Variant): Counted => ({ action, family, rated: FORMATS[format].rated });
const openOf = (event: OpenEvent | undefined): OpenEvent[] =>
  event === undefined ? [] : [{ kind: event.kind, text: event.text, since: event.since }];

const RATED = FORMAT_NAMES.filter((name) => FORMATS[name].rated).join(' or ');

/** The variants as a request would name them. */
const describe = ({ action, family, rated }: Counted): string =>
  `action=${action}${family === 'both' ? '' : ` family=${family}`}${rated ? ` format=${RATED}` : ''}`;
