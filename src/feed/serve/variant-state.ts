import { type Instant, secondOf } from '../../clock.ts';
import { LONGEST_WAIT, type PreviousContent } from '../builder.ts';
import type { Body } from './body-cache.ts';
import type { Representation, TooLarge } from './representation.ts';

/** A finished build of a variant, what it was made from, and how long it may be served. */
export interface CachedBuild {
  readonly outcome: Representation | TooLarge;
  /** When the read of the snapshot behind it began, ms, monotonic. */
  readonly readAt: number;
  readonly geoVersion: string;
  /** ms, monotonic: until then it needs no look at the store. */
  readonly freshUntil: number;
  /** Whole seconds: as of when it is without the rules that have expired. Before that, after the clock was set back, it lacks some. */
  readonly asOf: number;
  /** Whole seconds: before that its predecessor is served. */
  readonly servableFrom: number;
  /** Whole seconds: from then on it must not be served, because a rule in it expires. */
  readonly servableUntil: number;
  /** Whether it is served until `servableUntil`, however old: its Last-Modified is decided again only then. */
  readonly provisional: boolean;
  /** The sequence of the read of the workspace after which its Last-Modified was last compared with the store's record. */
  readonly recordComparedAfter: number;
}

/** What is served of one variant of a feed: now, and from a coming second on (SPEC D5.15). Never changed, only replaced. */
export interface VariantState {
  readonly current: CachedBuild | undefined;
  /** The build that takes the place of `current` at its `servableFrom`. */
  readonly pending: CachedBuild | undefined;
  /** ms, monotonic: then `pending` takes its place however the clock was set. */
  readonly pendingUntil: number;
  /** The last feed that was current, also when there is none now. */
  readonly last: Representation | undefined;
  /** `current` is served without looking anywhere until one of these: ms, monotonic, and whole seconds of the wall clock. */
  readonly freshUntil: number;
  readonly servableUntil: number;
}

export const NOT_BUILT: VariantState = {
  current: undefined,
  pending: undefined,
  pendingUntil: Number.POSITIVE_INFINITY,
  last: undefined,
  freshUntil: Number.NEGATIVE_INFINITY,
  servableUntil: 0,
};

/** How long after its `freshUntil` a build may still be served until its successor begins, ms. */
const GRACE = 2_000;

/** What can be served at once, or undefined. */
export function readyOutcome(state: VariantState, { monotonic, wall }: Instant): Representation | TooLarge | undefined {
  return monotonic < state.freshUntil && wall < state.servableUntil * 1000 ? state.current?.outcome : undefined;
}

/** The state after a build: it becomes current, or waits for its second. */
export function withBuild(state: VariantState, build: CachedBuild, now: Instant): VariantState {
  const { current } = state;
  if (current === undefined || build.servableFrom * 1000 <= now.wall) return startServing(state, build, now);
  // Until the new build begins no other is made: its beginning would be later still, and beginnings would run ahead of the clock.
  const pendingUntil = now.monotonic + LONGEST_WAIT * 1000;
  const servableUntil = Math.min(build.servableFrom, current.servableUntil);
  return { ...state, pending: build, pendingUntil, freshUntil: pendingUntil, servableUntil };
}

/** The state at `now`: the pending build is current from its second on, or when it has waited for long enough. */
export function atTime(state: VariantState, now: Instant): VariantState {
  const { pending, pendingUntil } = state;
  const begins = pending !== undefined && (pending.servableFrom * 1000 <= now.wall || pendingUntil <= now.monotonic);
  return begins ? startServing(state, pending, now) : state;
}

/** The state after its current build was found good for longer. */
export function withExtended(state: VariantState, current: CachedBuild): VariantState {
  return { ...state, current, freshUntil: current.freshUntil, servableUntil: current.servableUntil };
}

/** The state of a feed that is gone. */
export const withoutBuilds = ({ last }: VariantState): VariantState => ({ ...NOT_BUILT, last });

/** What the next build has to know of the feed that was served last. */
export function previousContent({ current, last }: VariantState, now: Instant): PreviousContent | undefined {
  if (last === undefined) return undefined;
  const { hash, lastModified, sharesInstant } = last;
  const servable =
    current?.outcome.kind === 'feed' &&
    now.monotonic <= current.freshUntil + GRACE &&
    isServable(current, now.wall) &&
    hasBody(current.outcome);
  return { hash, lastModified, sharesInstant, servable };
}

/** Whether the build has the rules of the instant `wall` (ms): none has expired, and none was left out that has not. */
export const isServable = ({ asOf, servableUntil }: CachedBuild, wall: number): boolean =>
  asOf <= secondOf(wall) && secondOf(wall) < servableUntil;

/** Whether the bytes of an outcome are in memory; a 413 needs none. */
export const hasBody = (outcome: Representation | TooLarge): boolean => outcome.kind !== 'feed' || outcome.body.identity !== undefined;

/** The body that was built last; undefined when none was. */
export const newestBody = ({ pending, last }: VariantState): Body | undefined =>
  pending?.outcome.kind === 'feed' ? pending.outcome.body : last?.body;

/** The bodies that the state before held and the state after does not. */
export function releasedBodies(before: VariantState, after: VariantState): Body[] {
  const kept = bodiesOf(after);
  return bodiesOf(before).filter((body) => !kept.includes(body));
}

function startServing({ last }: VariantState, build: CachedBuild, now: Instant): VariantState {
  const { outcome, servableUntil, freshUntil, provisional } = build;
  return {
    current: build,
    pending: undefined,
    pendingUntil: Number.POSITIVE_INFINITY,
    last: outcome.kind === 'feed' ? outcome : last,
    freshUntil: provisional ? now.monotonic + LONGEST_WAIT * 1000 : freshUntil,
    servableUntil,
  };
}

function bodiesOf({ current, pending }: VariantState): Body[] {
  return [current, pending].flatMap((build) => (build?.outcome.kind === 'feed' ? [build.outcome.body] : []));
}
