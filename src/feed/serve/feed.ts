import { type Instant, secondOf, within } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { BuildResult, BuiltFeed, TooLargeFeed } from '../builder.ts';
import { type DocumentKind, type DocumentVariant, isRemembered, nameOf } from '../document.ts';
import { FAILING_STORE_TIMEOUT, type ServeContext, STORE_TIMEOUT } from './context.ts';
import type { FeedName, FeedWatch } from './feed-watch.ts';
import { confirmed, isOutdated, type KnownSnapshot, snapshotOf } from './known-snapshot.ts';
import type { Moment } from './moment.ts';
import { type Representation, representationOf, type TooLarge } from './representation.ts';
import type { SingleFlight } from './single-flight.ts';
import {
  atTime,
  hasBody,
  isServable,
  NOT_BUILT,
  newestBody,
  previousContent,
  readyOutcome,
  releasedBodies,
  type VariantState,
  withBuild,
  withExtended,
  withoutBuilds,
} from './variant-state.ts';
import type { FeedRead } from './workspace-read.ts';

/** How long the last good snapshot is served while the store does not answer, ms (SPEC D5.16). */
const LONGEST_OUTAGE = 24 * 3_600_000;
/** How long the store may take to record a Last-Modified, ms. */
const RECORD_LIMIT = 2_000;
/** How long a feed counts as stale that was served so and is not asked for any more, ms. */
const STALE_SHOWN = 15 * 60_000;
/** How often a feed is refreshed for one request because a rule expired in the meantime. */
const MAX_ROUNDS = 3;
/** Variants that are kept of one document: filters can make up any number. A feed has fewer. */
const MOST_VARIANTS = 64;

/** One variant of the feed: what is served of it, and the work that its requests share. */
interface ServedVariant {
  readonly variant: DocumentVariant;
  state: VariantState;
  readonly refreshing: SingleFlight<void>;
  readonly buildingStale: SingleFlight<void>;
}

/**
 * One feed, or another document, on the main thread, in all its variants. A request is served what is ready; otherwise the variant is refreshed: its
 * build is confirmed where nothing has moved, or made anew on the feed thread. While the store does not answer, the last good
 * snapshot is served, marked as stale.
 */
export class ServedFeed {
  readonly document: DocumentKind;
  readonly feedId: string | null;
  readonly #workspaceId: string;
  readonly #context: ServeContext;
  readonly #variants = new Map<DocumentVariant, ServedVariant>();
  /** The latest read of the workspace that tells of this feed. */
  #read: FeedRead | undefined;
  #snapshot: KnownSnapshot | undefined;
  #usedAt = Number.NEGATIVE_INFINITY;
  /** ms, monotonic: until then the store is not asked, because the last refresh failed; undefined when it did not. */
  #retryAt: number | undefined;

  constructor(workspaceId: string, document: DocumentKind, feedId: string | null, context: ServeContext) {
    this.#workspaceId = workspaceId;
    this.document = document;
    this.feedId = feedId;
    this.#context = context;
  }

  /** Told of feeds only: other documents have no entries that appliances could run out of. */
  get #watch(): FeedWatch | undefined {
    return this.document === 'feed' ? this.#context.options.watch : undefined;
  }

  get #name(): FeedName {
    return { workspaceId: this.#workspaceId, feedId: this.feedId };
  }

  /** When a request last found nothing ready, ms, monotonic. */
  get usedAt(): number {
    return this.#usedAt;
  }

  /** What is served now, of the variant that is nearest to its cap; undefined when there is nothing. `monotonic` in ms. */
  summary(monotonic: number): { entries: number; limit: number; isStale: boolean } | undefined {
    let nearest: Representation | TooLarge | undefined;
    let isStale = false;
    for (const { state } of this.#variants.values()) {
      const outcome = state.current?.outcome;
      if (outcome === undefined) continue;
      if (nearest === undefined || outcome.entryCount / outcome.entryLimit > nearest.entryCount / nearest.entryLimit) nearest = outcome;
      isStale ||= outcome.staleSince !== undefined && monotonic - this.#usedAt < STALE_SHOWN;
    }
    return nearest && { entries: nearest.entryCount, limit: nearest.entryLimit, isStale };
  }

  /** What can be served of a variant at once, or undefined. */
  ready(variant: DocumentVariant, at: Instant): Representation | TooLarge | undefined {
    const served = this.#variants.get(variant);
    return served && readyOutcome(served.state, at);
  }

  /**
   * What is served of a variant, refreshed where that is due; undefined when the feed is gone. `read` is fresh for the arrival, or
   * has failed. With `withBody` the bytes are in memory when it resolves. Rejects with FEED_UNAVAILABLE when the store does not answer and there is no good snapshot.
   */
  async serve(
    variant: DocumentVariant,
    arrival: Moment,
    read: FeedRead,
    withBody: boolean,
  ): Promise<Representation | TooLarge | undefined> {
    const served = this.#variant(variant);
    this.#usedAt = arrival.monotonic;
    if (this.#read === undefined || read.began.sequence >= this.#read.began.sequence) this.#read = read;
    this.#update(served, atTime(served.state, arrival));
    const ready = readyOutcome(served.state, arrival);
    if (ready !== undefined && (!withBody || hasBody(ready))) return ready;
    const isPausing = this.#retryAt !== undefined && arrival.monotonic < this.#retryAt;
    if (read.failed || isPausing) return this.#serveStale(served, arrival, withBody, undefined);
    try {
      return await this.#serveFresh(served, arrival, withBody);
    } catch (error) {
      this.#retryAt = this.#context.monotonic() + this.#context.pause;
      return this.#serveStale(served, arrival, withBody, error);
    }
  }

  /** Drops all that is known and held of the feed, here and on the feed thread. Another request starts from nothing. */
  forget(): void {
    for (const served of this.#variants.values()) this.#update(served, withoutBuilds(served.state));
    this.#variants.clear();
    this.#snapshot = undefined;
    const { builder, report } = this.#context.options;
    this.#watch?.forget(this.#name);
    builder.forget(this.#workspaceId, this.document, this.feedId).catch(report);
  }

  /** Refreshes the variant, and again where a rule has expired in the meantime. */
  async #serveFresh(served: ServedVariant, arrival: Moment, withBody: boolean): Promise<Representation | TooLarge | undefined> {
    const deadline = arrival.monotonic + STORE_TIMEOUT;
    for (let round = 1, asked = arrival; ; round++, asked = this.#context.moment()) {
      const left = Math.max(FAILING_STORE_TIMEOUT, deadline - this.#context.monotonic());
      const timeout = this.#retryAt === undefined ? left : FAILING_STORE_TIMEOUT;
      await served.refreshing.join(asked, () => this.#context.limited(this.#refresh(served, withBody), timeout));
      const { current } = served.state;
      if (current === undefined || isServable(current, this.#context.now().wall) || round === MAX_ROUNDS) return current?.outcome;
    }
  }

  /** The last good snapshot without the rules that have expired since, while the store does not answer. */
  async #serveStale(served: ServedVariant, arrival: Moment, withBody: boolean, cause: unknown): Promise<Representation | TooLarge> {
    const now = this.#context.now();
    const snapshot = this.#snapshot;
    if (snapshot === undefined || now.monotonic - snapshot.currentAt.monotonic > LONGEST_OUTAGE)
      throw new WeirError('FEED_UNAVAILABLE', 'there is no good snapshot', { cause });
    const staleSince = secondOf(snapshot.currentAt.wall);
    const { current } = served.state;
    const mayStay =
      current?.readAt === snapshot.readAt.monotonic && isServable(current, now.wall) && (!withBody || hasBody(current.outcome));
    if (mayStay) {
      const stale = { ...current, outcome: { ...current.outcome, staleSince }, freshUntil: now.monotonic + this.#context.pause };
      this.#update(served, withExtended(served.state, stale));
    } else {
      const build = async () => this.#accept(served, await this.#build(served, 0, true), staleSince);
      await served.buildingStale
        .join(arrival, () => this.#context.limited(build(), STORE_TIMEOUT))
        .catch((error) => {
          throw new WeirError('FEED_UNAVAILABLE', 'the last good snapshot cannot be built from', { cause: error });
        });
    }
    const { current: stale } = served.state;
    this.#watch?.stale(this.#name, staleSince);
    if (stale === undefined) throw new WeirError('FEED_UNAVAILABLE', 'nothing was built', { cause });
    return stale.outcome;
  }

  /** Makes what is served of a variant current: finds that nothing has moved, or has it built. */
  async #refresh(served: ServedVariant, withBody: boolean): Promise<void> {
    const read = this.#read!;
    const snapshot = this.#snapshot && confirmed(this.#snapshot, read);
    this.#snapshot = snapshot;
    const mustRead = snapshot === undefined || isOutdated(snapshot, read, this.#context.monotonic(), this.#context.interval);
    const { current } = served.state;
    const lacksBody = withBody && current !== undefined && !hasBody(current.outcome);
    if (mustRead || lacksBody || !(await this.#revalidate(served))) {
      this.#accept(served, await this.#build(served, mustRead ? read.began.sequence : 0, false), undefined);
    }
    this.#retryAt = undefined;
    this.#watch?.fresh(this.#name);
  }

  /**
   * Extends the current build if it is of the known snapshot, no rule in it has expired, and the store's record agrees with its
   * Last-Modified. Resolves to whether it did.
   */
  async #revalidate(served: ServedVariant): Promise<boolean> {
    const { geoVersion, clock } = this.#context.options;
    const snapshot = this.#snapshot;
    const now = clock.now();
    const { current } = served.state;
    if (snapshot === undefined || current?.readAt !== snapshot.readAt.monotonic) return false;
    if (current.geoVersion !== geoVersion() || !isServable(current, now)) return false;
    const recordComparedAfter = this.#read!.began.sequence;
    if (current.outcome.kind === 'feed' && current.recordComparedAfter < recordComparedAfter) {
      if (!(await this.#isRecorded(served.variant, current.outcome, snapshot.takenAt, now))) return false;
      if (served.state.current !== current) return false;
    }
    const outcome = { ...current.outcome, staleSince: undefined };
    const extended = { ...current, outcome, recordComparedAfter, freshUntil: snapshot.freshUntil };
    this.#update(served, withExtended(served.state, extended));
    return true;
  }

  /**
   * Whether the store's record has this content with no later Last-Modified; another replica may have recorded otherwise.
   * Also true while the store takes no writes: Last-Modified then lives in memory.
   */
  async #isRecorded(variant: DocumentVariant, { hash, lastModified }: Representation, snapshotAt: number, now: number): Promise<boolean> {
    if (!isRemembered(variant)) return true;
    const { store, clock } = this.#context.options;
    const recording = store.recordFeed(
      this.#workspaceId,
      { feedId: this.feedId, ...nameOf(variant) },
      { hash, snapshotAt, second: secondOf(now) },
    );
    const record = await within(recording, RECORD_LIMIT, 'the store', clock).catch(() => undefined);
    return record === undefined || (record.hash === hash && record.since <= lastModified);
  }

  #build({ variant, state }: ServedVariant, generation: number, offline: boolean): Promise<BuildResult> {
    const { builder } = this.#context.options;
    const feed = { workspaceId: this.#workspaceId, feedId: this.feedId, variant };
    const confirmedAt = this.#snapshot?.takenAt ?? 0;
    return builder.build({ ...feed, generation, confirmedAt, offline, previous: previousContent(state, this.#context.now()) });
  }

  /** Takes in a build; `staleSince` (whole seconds) when it was made without the store. */
  #accept(served: ServedVariant, result: BuildResult, staleSince: number | undefined): void {
    if (result.kind === 'no_snapshot') throw new WeirError('FEED_UNAVAILABLE', 'there is no snapshot in memory');
    if (result.kind === 'gone') {
      this.forget();
      return;
    }
    // The result of a build that timed out may come after that of a later build, and must not replace it.
    if (this.#snapshot !== undefined && result.readAt.monotonic < this.#snapshot.readAt.monotonic) return;
    const snapshot = snapshotOf(result, this.#snapshot, this.#context.interval);
    this.#snapshot = snapshot;
    const now = this.#context.now();
    const { name, entryCount: entries, v4Count, entryLimit: limit } = result;
    if (served.variant.document === 'feed') this.#watch?.built(this.#name, served.variant, { name, entries, v4Count, limit });
    const { geoVersion, asOf, servableFrom, servableUntil, provisional } = result;
    const readAt = result.readAt.monotonic;
    const freshUntil = staleSince === undefined ? snapshot.freshUntil : now.monotonic + this.#context.pause;
    const outcome = { ...this.#outcome(result, served), staleSince };
    const recordComparedAfter = this.#read!.began.sequence;
    const times = { freshUntil, asOf, servableFrom, servableUntil, provisional };
    this.#update(served, withBuild(served.state, { outcome, readAt, geoVersion, ...times, recordComparedAfter }, now));
  }

  #outcome(result: BuiltFeed | TooLargeFeed, { variant, state }: ServedVariant): Representation | TooLarge {
    const { bodies, options } = this.#context;
    if (result.kind === 'feed') {
      const body = bodies.hold(result.bytes, result.parts, newestBody(state));
      return representationOf(result, { feedId: this.feedId, variant }, body, options.zlib);
    }
    const { entryCount, entryLimit, hint } = result;
    return { kind: 'too_large', entryCount, entryLimit, hint, staleSince: undefined };
  }

  #variant(variant: DocumentVariant): ServedVariant {
    let served = this.#variants.get(variant);
    if (served === undefined) {
      this.#makeRoom();
      served = { variant, state: NOT_BUILT, refreshing: this.#context.singleFlight(), buildingStale: this.#context.singleFlight() };
      this.#variants.set(variant, served);
    }
    return served;
  }

  /** Drops the oldest filtered variant where there are as many as are kept. A request that waits for it is still answered. */
  #makeRoom(): void {
    if (this.#variants.size < MOST_VARIANTS) return;
    const oldest = this.#variants.values().find(({ variant }) => !isRemembered(variant));
    if (oldest === undefined) return;
    this.#update(oldest, withoutBuilds(oldest.state));
    this.#variants.delete(oldest.variant);
  }

  /** Replaces the state of a variant and lets go of the bodies that it alone held. */
  #update(served: ServedVariant, state: VariantState): void {
    const before = served.state;
    served.state = state;
    for (const body of releasedBodies(before, state)) this.#context.bodies.drop(body);
  }
}
