import { secondOf } from '../../clock.ts';
import type { PreviousContent } from '../builder.ts';
import type { Body } from './body-cache.ts';
import type { Representation, TooLarge } from './representation.ts';

/** A finished build of a variant, what it was made from, and how long it may be served. */
export interface CachedBuild {
  readonly outcome: Representation | TooLarge;
  /** Of the snapshot behind it. */
  readonly generation: number;
  readonly geoVersion: string;
  /** ms: until then it needs no look at the store. */
  readonly freshUntil: number;
  /** Whole seconds: before that its predecessor is served. */
  readonly servableFrom: number;
  /** Whole seconds: from then on it must not be served, because a rule in it expires. */
  readonly servableUntil: number;
  /** Whether it is served until `servableUntil`, however old: its Last-Modified is decided again only then. */
  readonly provisional: boolean;
  /** The sequence of the directory read after which its Last-Modified was last compared with the store's record. */
  readonly recordComparedAfter: number;
}

/** What is served of one variant of a feed: now, and from a coming second on (SPEC D5.15). Never changed, only replaced. */
export interface VariantState {
  readonly current: CachedBuild | undefined;
  /** The build that takes the place of `current` at its `servableFrom`. */
  readonly pending: CachedBuild | undefined;
  /** The last feed that was current, also when there is none now. */
  readonly last: Representation | undefined;
  /** ms: until then `current` is served without looking anywhere. */
  readonly freshUntil: number;
}

export const NOT_BUILT: VariantState = { current: undefined, pending: undefined, last: undefined, freshUntil: 0 };

/** How long after its `freshUntil` a build may still be served until its successor begins, ms. */
const GRACE = 2_000;

/** What can be served at `now` (ms) at once, or undefined. */
export function readyOutcome(state: VariantState, now: number): Representation | TooLarge | undefined {
  return now < state.freshUntil ? state.current?.outcome : undefined;
}

/** The state after a build: it becomes current, or waits for its second. */
export function withBuild(state: VariantState, build: CachedBuild, now: number): VariantState {
  const { current } = state;
  if (current === undefined || build.servableFrom * 1000 <= now) return startServing(state, build);
  // Until the new build begins no other is made: its beginning would be later still, and beginnings would run ahead of the clock.
  return { ...state, pending: build, freshUntil: Math.min(build.servableFrom, current.servableUntil) * 1000 };
}

/** The state at `now` (ms): the pending build is current from its second on. */
export function atTime(state: VariantState, now: number): VariantState {
  const { pending } = state;
  return pending !== undefined && pending.servableFrom * 1000 <= now ? startServing(state, pending) : state;
}

/** The state after its current build was found good for longer. */
export function withExtended(state: VariantState, current: CachedBuild): VariantState {
  return { ...state, current, freshUntil: Math.min(current.freshUntil, current.servableUntil * 1000) };
}

/** The state of a feed that is gone. */
export const withoutBuilds = ({ last }: VariantState): VariantState => ({ ...NOT_BUILT, last });

/** What the next build has to know of the feed that was served last. */
export function previousContent({ current, last }: VariantState, now: number): PreviousContent | undefined {
  if (last === undefined) return undefined;
  const { hash, lastModified, sharesInstant } = last;
  const servable =
    current?.outcome.kind === 'feed' && now <= current.freshUntil + GRACE && isServable(current, now) && hasBody(current.outcome);
  return { hash, lastModified, sharesInstant, servable };
}

/** Whether no rule in the build has expired at `now` (ms). */
export const isServable = (build: CachedBuild, now: number): boolean => secondOf(now) < build.servableUntil;

/** Whether the bytes of an outcome are in memory; a 413 needs none. */
export const hasBody = (outcome: Representation | TooLarge): boolean => outcome.kind !== 'feed' || outcome.body.identity !== undefined;

/** The bodies that the state before held and the state after does not. */
export function releasedBodies(before: VariantState, after: VariantState): Body[] {
  const kept = bodiesOf(after);
  return bodiesOf(before).filter((body) => !kept.includes(body));
}

function startServing({ last }: VariantState, build: CachedBuild): VariantState {
  const { outcome, servableUntil, freshUntil, provisional } = build;
  return {
    current: build,
    pending: undefined,
    last: outcome.kind === 'feed' ? outcome : last,
    freshUntil: provisional ? servableUntil * 1000 : Math.min(freshUntil, servableUntil * 1000),
  };
}

function bodiesOf({ current, pending }: VariantState): Body[] {
  return [current, pending].flatMap((build) => (build?.outcome.kind === 'feed' ? [build.outcome.body] : []));
}
