import type { Shown } from './appearance.ts';
import type { Bodies } from './bodies.ts';
import { secondOf } from './clock.ts';
import type { View } from './names.ts';
import type { Representation, TooLarge } from './representation.ts';
import type { SharedWork } from './shared-work.ts';

/** One finished build of a view, and what it rests on. */
export interface Standing {
  readonly outcome: Representation | TooLarge;
  readonly generation: number;
  readonly geoVersion: string;
  /** ms: until then it counts as current, as far as the age of the read behind it goes. */
  readonly validUntil: number;
  /** Whole seconds: from then on it must not be served. */
  readonly until: number;
  /** Nothing is to be built in its place before `until`. */
  readonly provisional: boolean;
  /** The tick of the read of the directory after which the store's record was last compared. */
  readonly recordedAt: number;
}

/** How much longer than it counts as current a content may stand in for one that is yet to begin, ms. */
const GRACE = 2_000;

/** What is served of one view of a feed: now, and from a second on that has not begun (decisions on Last-Modified). */
export class ViewState {
  readonly view: View;
  readonly building: SharedWork<void>;
  readonly rescue: SharedWork<void>;
  readonly #bodies: Bodies;
  #current: Standing | undefined;
  #pending: { readonly standing: Standing; readonly begins: number } | undefined;
  /** The last feed that was current, also when none is now. */
  #last: Omit<Shown, 'usable'> | undefined;
  #freshUntil = 0;

  constructor(view: View, bodies: Bodies, building: SharedWork<void>, rescue: SharedWork<void>) {
    this.view = view;
    this.#bodies = bodies;
    this.building = building;
    this.rescue = rescue;
  }

  get current(): Standing | undefined {
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
  accept(standing: Standing, begins: number, now: number): void {
    if (begins * 1000 <= now || this.#current === undefined) {
      this.#begin(standing);
      return;
    }
    this.#release(this.#pending?.standing);
    this.#pending = { standing, begins };
    // Until it begins nothing else is built, or beginnings would run ahead of the clock.
    this.#freshUntil = Math.min(begins, this.#current.until) * 1000;
  }

  /** Lets the content that has begun take the place of the one before. */
  promote(now: number): void {
    if (this.#pending !== undefined && this.#pending.begins * 1000 <= now) this.#begin(this.#pending.standing);
  }

  /** Keeps the current content for longer. */
  extend(change: Pick<Standing, 'validUntil'> & Partial<Standing>): void {
    this.#current = { ...this.#current!, ...change };
    this.#freshUntil = Math.min(change.validUntil, this.#current.until * 1000);
  }

  /** Forgets all, because the feed is gone. */
  clear(): void {
    this.#release(this.#current);
    this.#release(this.#pending?.standing);
    this.#current = this.#pending = undefined;
    this.#freshUntil = 0;
  }

  #begin(standing: Standing): void {
    const { outcome, until, validUntil, provisional } = standing;
    if (this.#pending?.standing !== standing) this.#release(this.#pending?.standing);
    this.#release(this.#current);
    this.#pending = undefined;
    this.#current = standing;
    if (outcome.kind === 'feed') this.#last = outcome;
    this.#freshUntil = provisional ? until * 1000 : Math.min(validUntil, until * 1000);
  }

  #release(standing: Standing | undefined): void {
    if (standing?.outcome.kind === 'feed') this.#bodies.drop(standing.outcome.body);
  }
}
