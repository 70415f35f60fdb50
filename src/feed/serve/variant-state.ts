import { secondOf } from '../../clock.ts';
import type { Shown } from '../builder.ts';
import type { Variant } from '../variant.ts';
import type { BodyCache } from './body-cache.ts';
import type { Representation, TooLarge } from './representation.ts';
import type { SingleFlight } from './single-flight.ts';

/** One finished build of a variant, and what it rests on. */
interface CachedBuild {
  readonly outcome: Representation | TooLarge;
  readonly generation: number;
  readonly geoVersion: string;
  /** ms: until then it counts as current, as far as the age of the read behind it goes. */
  readonly validUntil: number;
  /** Whole seconds: from then on it must not be served. */
  readonly until: number;
  /** Nothing is to be built in its place before `until`. */
  readonly provisional: boolean;
  /** The sequence of the read of the directory after which the store's record was last compared. */
  readonly recordedAt: number;
}

/** How much longer than it counts as current a content may stand in for one that is yet to begin, ms. */
const GRACE = 2_000;

/** What is served of one variant of a feed: now, and from a second on that has not begun (decisions on Last-Modified). */
export class VariantState {
  readonly variant: Variant;
  readonly building: SingleFlight<void>;
  readonly rescue: SingleFlight<void>;
  readonly #bodies: BodyCache;
  #current: CachedBuild | undefined;
  #pending: { readonly cached: CachedBuild; readonly begins: number } | undefined;
  /** The last feed that was current, also when none is now. */
  #last: Omit<Shown, 'usable'> | undefined;
  #freshUntil = 0;

  constructor(variant: Variant, bodies: BodyCache, building: SingleFlight<void>, rescue: SingleFlight<void>) {
    this.variant = variant;
    this.#bodies = bodies;
    this.building = building;
    this.rescue = rescue;
  }

  get current(): CachedBuild | undefined {
    return this.#current;
  }

  /** What may be served at `now` (ms) without looking anywhere. */
  served(now: number): Representation | TooLarge | undefined {
    return now < this.#freshUntil ? this.#current!.outcome : undefined;
  }

  /** Whether the current content holds no lapsed rule. */
  lasts(now: number): boolean {
    return this.#current !== undefined && secondOf(now) < this.#current.until;
  }

  /** What a build has to know of it. */
  shown(now: number): Shown | undefined {
    if (this.#last === undefined) return undefined;
    const { hash, lastModified, sharesInstant } = this.#last;
    const isRecent = this.#current !== undefined && now <= this.#current.validUntil + GRACE;
    return {
      hash,
      lastModified,
      sharesInstant,
      usable: isRecent && this.#current?.outcome.kind === 'feed' && this.lasts(now) && this.hasBody(),
    };
  }

  hasBody(): boolean {
    const outcome = this.#current?.outcome;
    return outcome?.kind !== 'feed' || outcome.body.identity !== undefined;
  }

  /** Takes in a build that may be served from the second `begins` on. */
  accept(cached: CachedBuild, begins: number, now: number): void {
    if (begins * 1000 <= now || this.#current === undefined) {
      this.#begin(cached);
      return;
    }
    this.#release(this.#pending?.cached);
    this.#pending = { cached, begins };
    // Until it begins nothing else is built, or beginnings would run ahead of the clock.
    this.#freshUntil = Math.min(begins, this.#current.until) * 1000;
  }

  /** Lets the content that has begun take the place of the one before. */
  promote(now: number): void {
    if (this.#pending !== undefined && this.#pending.begins * 1000 <= now) this.#begin(this.#pending.cached);
  }

  /** Keeps the current content for longer. */
  extend(change: Pick<CachedBuild, 'validUntil'> & Partial<CachedBuild>): void {
    this.#current = { ...this.#current!, ...change };
    this.#freshUntil = Math.min(change.validUntil, this.#current.until * 1000);
  }

  /** Forgets all, because the feed is gone. */
  clear(): void {
    this.#release(this.#current);
    this.#release(this.#pending?.cached);
    this.#current = this.#pending = undefined;
    this.#freshUntil = 0;
  }

  #begin(cached: CachedBuild): void {
    const { outcome, until, validUntil, provisional } = cached;
    if (this.#pending?.cached !== cached) this.#release(this.#pending?.cached);
    this.#release(this.#current);
    this.#pending = undefined;
    this.#current = cached;
    if (outcome.kind === 'feed') this.#last = outcome;
    this.#freshUntil = provisional ? until * 1000 : Math.min(validUntil, until * 1000);
  }

  #release(cached: CachedBuild | undefined): void {
    if (cached?.outcome.kind === 'feed') this.#bodies.drop(cached.outcome.body);
  }
}
