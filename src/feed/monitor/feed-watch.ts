/** The current states of feeds, and their log lines (SPEC D10.10 to D10.13). */
import type { Log } from '../../ports/log.ts';
import type { AccessAction } from '../../rule.ts';
import type { BuildSource, FeedCounter } from '../builder.ts';
import type { FeedFacts } from '../facts.ts';
import { FORMAT_NAMES, FORMATS } from '../formats/table.ts';
import type { FeedShares } from '../shares.ts';
import { DEFAULT_VARIANT, type Family, type Variant } from '../variant.ts';
import { afterBuild, type FeedEvent, FRESH, isFull, type OpenEvent, type SizeState, staleEvent } from './feed-events.ts';
import { FeedSizes } from './feed-sizes.ts';

export interface FeedName {
  readonly workspaceId: string;
  readonly feedId: string | null;
  /** Its decisions: the networks of its plain block feed, counted apart because bouncers may have single addresses. */
  readonly isOfBouncers?: boolean;
}

interface Counted {
  readonly action: AccessAction;
  readonly family: Family;
  /** Networks of different confidence and severity stay separate. */
  readonly rated: boolean;
}

export interface WatchedFeed extends FeedName, Counted {
  readonly facts: FeedFacts;
  readonly name: string;
  readonly target?: string | null | undefined;
  readonly builtAt: number;
  /** Whole seconds: last confirmation, while served from memory because the store is unavailable; else undefined. */
  readonly staleSince: number | undefined;
  readonly open: readonly OpenEvent[];
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

/** `now` returns ms since 1970. */
export class FeedWatch {
  readonly #log: Log;
  readonly #now: () => number;
  readonly #listeners: (() => void)[] = [];
  readonly #feeds = new Map<string, FeedState>();
  readonly sizes = new FeedSizes();
  readonly #shares: FeedCounter['shares'] | undefined;

  constructor(log: Log, now: () => number, shares?: FeedCounter['shares']) {
    this.#log = log;
    this.#now = now;
    this.#shares = shares;
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Records a build for all variants with equal entries. Resolves to the shares of a full feed once counted; undefined if it is not full,
   * or if counting fails. `offline`: the store is unavailable, so nothing can be counted.
   */
  async built(
    feed: FeedName,
    variant: Pick<Variant, 'action' | 'family' | 'format'>,
    { name, target, facts, revision }: Pick<BuildSource, 'name' | 'target' | 'facts' | 'revision'>,
    offline: boolean,
  ): Promise<FeedShares | undefined> {
    const { v4Count = 0, entryCount } = facts;
    if (variant.action === 'block' && !feed.isOfBouncers) this.sizes.note(feed, variant.family, v4Count, entryCount - v4Count);
    const key = keyOf(feed);
    const state: FeedState = this.#feeds.get(key) ?? { ...feed, name, stale: undefined, expected: undefined, counted: new Map() };
    this.#feeds.set(key, state);
    state.name = name;
    state.target = target;
    const counted = countedOf(variant);
    const place = JSON.stringify(counted);
    const now = this.#now();
    const { state: after, events } = afterBuild(state.counted.get(place)?.size, facts, now);
    const of: CountedState = { ...counted, size: after, builtAt: now, shares: state.counted.get(place)?.shares };
    state.counted.set(place, of);
    if (counted.action === 'block') state.expected = undefined;
    for (const event of events) this.#tell(state, event, counted);
    if (!isFull(facts)) of.shares = undefined;
    else if (!offline) of.shares = await this.#count(feed, { ...counted, revision });
    return of.shares;
  }

  async #count({ workspaceId, feedId }: FeedName, { action, family, revision }: Counted & { readonly revision: number }) {
    try {
      return await this.#shares?.({ workspaceId, feed: feedId, action, family, revision });
    } catch {
      // A store failure is reported elsewhere.
      return undefined;
    }
  }

  /** `asOf` in whole seconds. */
  stale(feed: FeedName, asOf: number): void {
    const state = this.#feeds.get(keyOf(feed));
    if (state === undefined || state.isOfBouncers || state.stale !== undefined) return;
    const event = staleEvent(asOf);
    state.stale = { kind: event.kind, text: event.text, since: this.#now(), asOf };
    this.#tell(state, event);
  }

  fresh(feed: FeedName): void {
    const state = this.#feeds.get(keyOf(feed));
    if (state?.stale === undefined) return;
    state.stale = undefined;
    this.#tell(state, FRESH);
  }

  expect(feed: FeedName, event: FeedEvent): void {
    const state = this.#feeds.get(keyOf(feed));
    if (state === undefined || state.expected !== undefined) return;
    state.expected = { kind: event.kind, text: event.text, since: this.#now() };
    this.#tell(state, event);
  }

  forget(feed: FeedName): void {
    this.#feeds.delete(keyOf(feed));
    this.sizes.forget(feed);
  }

  *blockSizes(workspaceId: string): Generator<FeedName & { readonly size: SizeState }> {
    for (const { counted, ...feed } of this.#feeds.values()) {
      if (feed.workspaceId !== workspaceId) continue;
      for (const { action, size } of counted.values()) if (action === 'block') yield { ...feed, size };
    }
  }

  feeds(): WatchedFeed[] {
    return [...this.#feeds.values()].flatMap((state) => this.#watched(state));
  }

  of(feed: FeedName): WatchedFeed[] {
    return [feed, { ...feed, isOfBouncers: true }].flatMap((each) => this.#watched(this.#feeds.get(keyOf(each))));
  }

  /** Decisions have a row of their own only without the plain block feed, which otherwise has their excess. */
  #watched(state: FeedState | undefined): WatchedFeed[] {
    if (state === undefined) return [];
    const other = this.#feeds.get(keyOf({ ...state, isOfBouncers: !state.isOfBouncers }))?.counted.get(PLAIN);
    if (state.isOfBouncers && other !== undefined) return [];
    const { cap, tight } = other?.size ?? {};
    return watchedOf(state, cap === 'over' && tight ? { ...tight, text: `for bouncers ${tight.text}` } : undefined);
  }

  #tell({ workspaceId, feedId, name, isOfBouncers }: FeedState, { level, text }: FeedEvent, counted?: Counted): void {
    const of =
      feedId === null ? `the feed of workspace "${name}" (${workspaceId}` : `the feed "${name}" (${feedId}, workspace ${workspaceId}`;
    const variant = counted === undefined ? '' : `, ${describe(counted)}${isOfBouncers ? ' for bouncers' : ''}`;
    this.#log(level, `${of}${variant}) ${text}`);
    for (const listener of this.#listeners) listener();
  }
}

const watchedOf = (
  { workspaceId, feedId, name, target, stale, expected, counted }: FeedState,
  excess: OpenEvent | undefined,
): WatchedFeed[] =>
  [...counted].map(([place, { size, builtAt, shares, ...of }], i) => ({
    workspaceId,
    feedId,
    name,
    target,
    ...of,
    facts: size.facts,
    builtAt,
    shares,
    staleSince: stale?.asOf,
    // Events of the complete feed are listed once.
    open: [
      place === PLAIN && size.cap !== 'over' ? (excess ?? size.tight) : size.tight,
      size.leftOut,
      size.warned,
      size.shrunk,
      ...(i === 0 ? [stale, expected] : []),
    ].flatMap(openOf),
  }));

const keyOf = ({ workspaceId, feedId, isOfBouncers }: FeedName): string =>
  `${workspaceId}/${feedId ?? ''}${isOfBouncers ? '/bouncers' : ''}`;
const countedOf = ({ format, family, action }: Pick<Variant, 'action' | 'family' | 'format'>): Counted => ({
  action,
  family,
  rated: FORMATS[format].rated,
});
const PLAIN = JSON.stringify(countedOf(DEFAULT_VARIANT));
const openOf = (event: OpenEvent | undefined): OpenEvent[] =>
  event === undefined ? [] : [{ kind: event.kind, text: event.text, since: event.since }];

const RATED = FORMAT_NAMES.filter((name) => FORMATS[name].rated).join(' or ');

const describe = ({ action, family, rated }: Counted): string =>
  `action=${action}${family === 'both' ? '' : ` family=${family}`}${rated ? ` format=${RATED}` : ''}`;
