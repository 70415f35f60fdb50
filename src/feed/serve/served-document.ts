import { type Instant, secondOf } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { SingleFlight } from '../../schedule/single-flight.ts';
import type { BuildSource, BuiltDocument, TooLargeBuild } from '../builder.ts';
import { isCanaryId, plainId } from '../canary.ts';
import { type DocumentKind, type DocumentVariant, isRemembered, keyOf } from '../document.ts';
import { stampText } from '../formats/stamp.ts';
import type { FeedName, FeedWatch } from '../monitor/feed-watch.ts';
import { isBefore, type ReadStamp } from '../read-stamp.ts';
import { DEFAULT_VARIANT } from '../variant.ts';
import { FAILING_STORE_TIMEOUT, type ServeContext, STORE_TIMEOUT } from './context.ts';
import { agrees, type Dated, dateContent, LONGEST_WAIT, NEVER, recordContent, servedUntil } from './last-modified.ts';
import { confirmedBy, type DocumentRead, isOf, isOutdated, type KnownSnapshot, reaches, snapshotOf } from './reads.ts';
import { type Representation, representationOf, type TooLarge } from './representation.ts';
import {
  atTime,
  hasBody,
  isComplete,
  isServable,
  NOT_BUILT,
  nearestToCap,
  newestBody,
  readyOutcome,
  releasedBodies,
  servedBefore,
  type VariantState,
  withBuild,
  withExtended,
  withoutBuilds,
} from './variant-state.ts';

/** Longest stale service, ms (SPEC D5.16). */
export const LONGEST_OUTAGE = 86_400_000;
/** Stale until this long after the last stale response, ms. */
const STALE_REPORTED = 15 * 60_000;
/** Rebuilds per request, after expiries during the build. */
const MAX_ROUNDS = 3;
/** Cached variants per document: clients can create any number of filters. A feed has fewer. */
const MOST_VARIANTS = 64;

type Outcome = Representation | TooLarge | undefined;
interface ServedVariant {
  readonly variant: DocumentVariant;
  state: VariantState;
  readonly refreshing: SingleFlight<boolean>;
  readonly buildingStale: SingleFlight<boolean>;
}

/**
 * One document with all variants, on the main thread. Confirms or rebuilds a variant when needed; serves the last good snapshot stale while
 * the store is unavailable.
 */
export class ServedDocument {
  readonly document: DocumentKind;
  readonly feedId: string | null;
  readonly #workspaceId: string;
  readonly #name: Pick<FeedName, 'workspaceId' | 'feedId'>;
  readonly #watched: FeedName;
  readonly #context: ServeContext;
  readonly #variants = new Map<ReturnType<typeof keyOf>, ServedVariant>();
  #read: DocumentRead | undefined;
  #snapshot: KnownSnapshot | undefined;
  #usedAt = Number.NEGATIVE_INFINITY;
  /** ms, monotonic: after a failed refresh, no store call until then; else undefined. */
  #retryAt: number | undefined;

  constructor(workspaceId: string, document: DocumentKind, feedId: string | null, context: ServeContext) {
    this.#workspaceId = workspaceId;
    this.#name = { workspaceId, feedId };
    this.#watched = { ...this.#name, isOfBouncers: document === 'decisions' };
    this.document = document;
    this.feedId = feedId;
    this.#context = context;
  }

  /** Only for feeds and decisions: other documents have no cap on a device. */
  get #watch(): FeedWatch | undefined {
    return ['feed', 'decisions'].includes(this.document) && !isCanaryId(this.feedId) ? this.#context.options.watch : undefined;
  }

  /** Last request without a ready response, ms, monotonic. */
  get usedAt(): number {
    return this.#usedAt;
  }

  /** `monotonic` in ms. */
  summary(monotonic: number): { entries: number; limit: number; isStale: boolean } | undefined {
    const outcomes = [...this.#variants.values()].flatMap(({ state }) => state.current?.outcome ?? []);
    const isStale = monotonic - this.#usedAt < STALE_REPORTED && outcomes.some(({ staleSince }) => staleSince !== undefined);
    const nearest = nearestToCap(outcomes);
    return nearest && { entries: nearest.facts.entryCount, limit: nearest.facts.entryLimit, isStale };
  }

  ready(variant: DocumentVariant, at: Instant): Outcome {
    const served = this.#variants.get(keyOf(variant));
    return served && readyOutcome(served.state, at);
  }

  /**
   * undefined for a deleted document. `read` is fresh for the arrival, or failed. `withBody`: the bytes are in memory on return. `isUrgent`:
   * as recent as the read. Rejects with FEED_UNAVAILABLE if the store does not answer and no good snapshot exists.
   */
  async serve(
    variant: DocumentVariant,
    arrival: ReadStamp,
    read: DocumentRead,
    { withBody, isUrgent }: { readonly withBody: boolean; readonly isUrgent: boolean },
  ): Promise<Outcome> {
    const served = this.#variant(variant);
    this.#usedAt = arrival.monotonic;
    if (this.#read === undefined || read.at.sequence >= this.#read.at.sequence) this.#read = read;
    this.#update(served, atTime(served.state, arrival));
    const ready = readyOutcome(served.state, arrival);
    const urgent = isUrgent ? read : undefined;
    if (reaches(this.#snapshot, urgent) && ready !== undefined && (!withBody || hasBody(ready))) return ready;
    const isPausing = !isUrgent && this.#retryAt !== undefined && arrival.monotonic < this.#retryAt;
    if (read.failed || isPausing) return this.#serveStale(served, arrival, withBody, undefined);
    try {
      return await this.#serveFresh(served, arrival, withBody, urgent);
    } catch (error) {
      this.#retryAt = this.#context.monotonic() + this.#context.pause;
      return this.#serveStale(served, arrival, withBody, error);
    }
  }

  forget(): void {
    for (const served of this.#variants.values()) this.#update(served, withoutBuilds(served.state));
    this.#variants.clear();
    this.#snapshot = undefined;
    this.#watch?.forget(this.#watched);
    const { builder, report } = this.#context.options;
    builder.forget(this.#workspaceId, this.document, this.feedId).catch(report);
  }

  /** An urgent read shares no earlier refresh. */
  async #serveFresh(served: ServedVariant, arrival: ReadStamp, withBody: boolean, urgent: DocumentRead | undefined): Promise<Outcome> {
    const [deadline, isUrgent] = [arrival.monotonic + STORE_TIMEOUT, urgent !== undefined];
    for (let round = 1, now = arrival; ; round++, now = this.#context.moment()) {
      const asked = isUrgent ? { ...now, monotonic: Number.POSITIVE_INFINITY } : now;
      const left = Math.max(FAILING_STORE_TIMEOUT, deadline - this.#context.monotonic());
      const timeout = this.#retryAt === undefined ? left : FAILING_STORE_TIMEOUT;
      const isThere = await served.refreshing.join(asked, () => this.#context.limited(this.#refresh(served, withBody, isUrgent), timeout));
      if (!isThere) return undefined;
      const { current } = served.state;
      if (current !== undefined && isComplete(current, this.#context.now().wall) && reaches(this.#snapshot, urgent)) return current.outcome;
      if (round === MAX_ROUNDS) throw new WeirError('FEED_UNAVAILABLE', 'each build expired before it was finished');
    }
  }

  async #serveStale(served: ServedVariant, arrival: ReadStamp, withBody: boolean, cause: unknown): Promise<Representation | TooLarge> {
    for (let round = 1, asked = arrival; round <= MAX_ROUNDS; round++, asked = this.#context.moment()) {
      await this.#makeStale(served, asked, withBody, cause);
      // A newer snapshot may have arrived; builds from the previous one are then ignored.
      const { current } = served.state;
      if (current !== undefined && isServable(current, this.#context.now().wall)) return current.outcome;
    }
    throw new WeirError('FEED_UNAVAILABLE', 'nothing was built', { cause });
  }

  /** Extends the current build as stale, or rebuilds from its snapshot. */
  async #makeStale(served: ServedVariant, arrival: ReadStamp, withBody: boolean, cause: unknown): Promise<void> {
    const now = this.#context.now();
    const snapshot = this.#snapshot;
    if (snapshot === undefined || now.monotonic - snapshot.confirmed.at.monotonic > LONGEST_OUTAGE)
      throw new WeirError('FEED_UNAVAILABLE', 'there is no good snapshot', { cause });
    const staleSince = secondOf(snapshot.confirmed.at.wall);
    this.#watch?.stale(this.#watched, staleSince);
    const { current } = served.state;
    const mayStay =
      current !== undefined && isOf(snapshot, current.at) && isServable(current, now.wall) && (!withBody || hasBody(current.outcome));
    if (mayStay) {
      const stale = { ...current, outcome: { ...current.outcome, staleSince }, freshUntil: now.monotonic + this.#context.pause };
      this.#update(served, withExtended(served.state, stale));
      return;
    }
    await served.buildingStale
      .join(arrival, () => this.#context.limited(this.#build(served, 0, staleSince), STORE_TIMEOUT))
      .catch((error) => {
        throw new WeirError('FEED_UNAVAILABLE', 'the last good snapshot cannot be built from', { cause: error });
      });
  }

  /** Resolves to whether it exists. */
  async #refresh(served: ServedVariant, withBody: boolean, isUrgent: boolean): Promise<boolean> {
    const read = this.#read!;
    this.#snapshot &&= confirmedBy(this.#snapshot, read);
    const snapshot = this.#snapshot;
    const interval = isUrgent ? 0 : this.#context.interval;
    const mustRead = snapshot === undefined || isOutdated(snapshot, read, this.#context.monotonic(), interval);
    const { current } = served.state;
    const lacksBody = withBody && current !== undefined && !hasBody(current.outcome);
    const stands = !mustRead && !lacksBody && (await this.#revalidate(served, snapshot));
    const isThere = stands || (await this.#build(served, mustRead ? read.at.sequence : 0, undefined));
    this.#retryAt = undefined;
    this.#watch?.fresh(this.#watched);
    return isThere;
  }

  /** Resolves to whether snapshot, rules and recorded Last-Modified are unchanged. */
  async #revalidate(served: ServedVariant, snapshot: KnownSnapshot): Promise<boolean> {
    const { geoVersion, clock } = this.#context.options;
    const now = clock.now();
    const { current } = served.state;
    if (current === undefined || !isOf(snapshot, current.at)) return false;
    if (current.geoVersion !== geoVersion() || !isComplete(current, now)) return false;
    const { outcome } = current;
    const { confirmed } = snapshot;
    if (outcome.kind === 'document' && current.confirmed !== confirmed) {
      const lastModified = outcome.isPublished ? outcome.lastModified : 0;
      const record = await this.#record(served, { hash: outcome.hash, snapshotAt: confirmed.readAt, second: secondOf(now), lastModified });
      if (!agrees(record, outcome, secondOf(now)) || served.state.current !== current) return false;
    }
    const extended = { ...current, outcome: { ...outcome, staleSince: undefined }, confirmed, freshUntil: confirmed.freshUntil };
    this.#update(served, withExtended(served.state, extended));
    return true;
  }

  /** `staleSince` (whole seconds) without the store. Resolves to whether it exists. */
  async #build(served: ServedVariant, sequence: number, staleSince: number | undefined): Promise<boolean> {
    const { variant } = served;
    const now = this.#context.now();
    const before = servedUntil(variant, servedBefore(served.state, now), secondOf(now.wall));
    const offline = staleSince !== undefined;
    const result = await this.#context.options.builder.build({ ...this.#name, variant, sequence, offline, before });
    if (result.kind === 'no_snapshot') throw new WeirError('FEED_UNAVAILABLE', 'there is no snapshot in memory');
    if (result.kind === 'deleted') this.forget();
    else if (!this.#isOvertaken(served, result, offline)) await this.#accept(served, result, staleSince);
    return result.kind !== 'deleted';
  }

  /** Whether the variant already has a build from a later read; without the store, from any read (SPEC D35.4). */
  #isOvertaken = ({ state }: ServedVariant, { at }: BuildSource, offline: boolean): boolean =>
    isBefore(at, (offline ? this.#snapshot : (state.next ?? state.current))?.at);

  async #accept(served: ServedVariant, result: BuiltDocument | TooLargeBuild, staleSince: number | undefined): Promise<void> {
    const { variant } = served;
    const { at, geoVersion, asOf, completeSince, facts } = result;
    const snapshot = snapshotOf(result, this.#snapshot, this.#context.interval);
    if (!isBefore(at, this.#snapshot?.at)) this.#snapshot = snapshot;
    const { confirmed } = snapshot;
    const offline = staleSince !== undefined;
    const seen = result.kind === 'document' && !offline && { hash: result.hash, snapshotAt: confirmed.readAt, second: asOf };
    const record = seen ? await this.#record(served, seen) : undefined;
    if (this.#isOvertaken(served, result, offline)) return;
    const isOver = result.kind === 'too_large';
    const counts = variant.document === 'feed' ? variant : DEFAULT_VARIANT;
    const counted = this.#watch?.built(this.#watched, counts, result, offline);
    const shares = isOver ? await counted : undefined;
    if (this.#isOvertaken(served, result, offline)) return;
    const now = this.#context.now();
    const before = servedBefore(served.state, now);
    const dated = result.kind === 'document' ? dateContent(variant, result.hash, asOf, confirmed.readAt, record, before) : undefined;
    const outcome =
      result.kind === 'document'
        ? this.#representation(result, dated!, served)
        : { kind: result.kind, of: { feedId: plainId(this.feedId), variant }, facts, hint: result.hint, shares };
    const { waits, settlesAt } = dated ?? { waits: false, settlesAt: NEVER };
    const [paused, settled] = [now.monotonic + this.#context.pause, now.monotonic + LONGEST_WAIT * 1000];
    const freshUntil = settlesAt !== NEVER ? settled : staleSince !== undefined ? paused : confirmed.freshUntil;
    const times = { freshUntil, asOf, completeSince, nextExpiry: Math.min(facts.nextExpiry, settlesAt) };
    const build = { outcome: { ...outcome, staleSince }, at, confirmed, geoVersion, ...times };
    this.#update(served, withBuild(served.state, build, waits, now));
  }

  #record({ variant }: ServedVariant, seen: Parameters<typeof recordContent>[1]): ReturnType<typeof recordContent> {
    const { store, clock } = this.#context.options;
    return recordContent({ workspaceId: this.#workspaceId, feedId: this.feedId, variant }, seen, store, clock);
  }

  #representation(result: BuiltDocument, dated: Dated, { variant, state }: ServedVariant): Representation {
    const { bodies, options } = this.#context;
    stampText(result, dated.lastModified);
    const body = bodies.add(result.bytes, result.parts, newestBody(state));
    return representationOf(result, dated, { contentId: this.feedId, variant }, body, options.zlib);
  }

  #variant(variant: DocumentVariant): ServedVariant {
    const known = this.#variants.get(keyOf(variant));
    if (known !== undefined) return known;
    this.#evict();
    const [refreshing, buildingStale] = [this.#context.singleFlight<boolean>(), this.#context.singleFlight<boolean>()];
    const served = { variant, state: NOT_BUILT, refreshing, buildingStale };
    this.#variants.set(keyOf(variant), served);
    return served;
  }

  /** Requests waiting for it are still answered. */
  #evict(): void {
    const oldest = this.#variants.values().find(({ variant }) => !isRemembered(variant));
    if (oldest === undefined || this.#variants.size < MOST_VARIANTS) return;
    this.#update(oldest, withoutBuilds(oldest.state));
    this.#variants.delete(keyOf(oldest.variant));
  }

  #update(served: ServedVariant, state: VariantState): void {
    const before = served.state;
    served.state = state;
    for (const body of releasedBodies(before, state)) this.#context.bodies.drop(body);
  }
}
