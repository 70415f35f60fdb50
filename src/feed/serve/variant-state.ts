import { type Instant, secondOf } from '../../clock.ts';
import type { ReadStamp } from '../read-stamp.ts';
import type { Body } from './body-cache.ts';
import { LONGEST_WAIT, type ServedBefore } from './last-modified.ts';
import type { Read } from './reads.ts';
import type { Representation, TooLarge } from './representation.ts';

export interface CachedBuild {
  readonly outcome: Representation | TooLarge;
  readonly at: ReadStamp;
  /** With its recorded Last-Modified. */
  readonly confirmed: Read;
  readonly geoVersion: string;
  /** ms, monotonic: no store call until then. */
  readonly freshUntil: number;
  /** Whole seconds: rules expired by then are excluded. At earlier times (clock set back) some are missing. */
  readonly asOf: number;
  /** The same for the rules read; only the store can correct it. */
  readonly completeSince: number;
  /** Whole seconds: not servable from then on, because a rule expires or the Last-Modified must be decided again. */
  readonly nextExpiry: number;
}

/** The served build of a variant and its successor (SPEC D5.15). Immutable. */
export interface VariantState {
  readonly current: CachedBuild | undefined;
  /** Replaces `current` at its Last-Modified, or at `freshUntil` regardless of the clock. */
  readonly next: CachedBuild | undefined;
  /** Even if there is none now. */
  readonly last: Representation | undefined;
  /** The last content with a published Last-Modified. */
  readonly published: Pick<Representation, 'hash' | 'lastModified' | 'sharesInstant'> | undefined;
  /** Until then `current` is served without further checks: ms, monotonic, and whole seconds of the wall clock. */
  readonly freshUntil: number;
  readonly nextExpiry: number;
}

export const NOT_BUILT: VariantState = {
  current: undefined,
  next: undefined,
  last: undefined,
  published: undefined,
  freshUntil: Number.NEGATIVE_INFINITY,
  nextExpiry: 0,
};

/** How long after `freshUntil` a build may be served until its successor begins, ms. */
const GRACE = 2_000;

export function readyOutcome(state: VariantState, { monotonic, wall }: Instant): Representation | TooLarge | undefined {
  return monotonic < state.freshUntil && wall < state.nextExpiry * 1000 ? state.current?.outcome : undefined;
}

export function withBuild(state: VariantState, build: CachedBuild, waits: boolean, now: Instant): VariantState {
  const { current } = state;
  if (current === undefined || !waits || hasBegun(build, now)) return startServing(state, build);
  // No further build before this one begins: otherwise dates would run ahead of the clock.
  const freshUntil = now.monotonic + LONGEST_WAIT * 1000;
  return { ...state, next: build, freshUntil, nextExpiry: Math.min(beginningOf(build), current.nextExpiry) };
}

export function atTime(state: VariantState, now: Instant): VariantState {
  const { next, freshUntil } = state;
  return next !== undefined && (hasBegun(next, now) || freshUntil <= now.monotonic) ? startServing(state, next) : state;
}

export function withExtended(state: VariantState, current: CachedBuild): VariantState {
  return { ...state, current, freshUntil: current.freshUntil, nextExpiry: current.nextExpiry };
}

export const withoutBuilds = ({ last, published }: VariantState): VariantState => ({ ...NOT_BUILT, last, published });

/** The next date must follow it. */
export function servedBefore({ current, published }: VariantState, now: Instant): ServedBefore | undefined {
  if (published === undefined) return undefined;
  const servable =
    current?.outcome.kind === 'document' &&
    now.monotonic <= current.freshUntil + GRACE &&
    isServable(current, now.wall) &&
    hasBody(current.outcome);
  return { ...published, servable };
}

/** Whether the build matches the instant `wall` (ms): nothing in it has expired, and nothing unexpired was excluded. */
export const isServable = ({ asOf, nextExpiry }: CachedBuild, wall: number): boolean =>
  asOf <= secondOf(wall) && secondOf(wall) < nextExpiry;

/** Also checks `completeSince`: a store read with a clock ahead suffices only while the store does not answer. */
export const isComplete = (build: CachedBuild, wall: number): boolean => isServable(build, wall) && build.completeSince <= secondOf(wall);

/** A 413 has none. */
export const hasBody = (outcome: Representation | TooLarge): boolean => outcome.kind !== 'document' || outcome.body.identity !== undefined;

export const newestBody = ({ next, last }: VariantState): Body | undefined =>
  next?.outcome.kind === 'document' ? next.outcome.body : last?.body;

export function releasedBodies(before: VariantState, after: VariantState): Body[] {
  const remaining = bodiesOf(after);
  return bodiesOf(before).filter((body) => !remaining.includes(body));
}

/** Start of a waiting build, s. Builds without Last-Modified never wait. */
const beginningOf = ({ outcome }: CachedBuild): number => (outcome.kind === 'document' ? outcome.lastModified : 0);
const hasBegun = (build: CachedBuild, now: Instant): boolean => beginningOf(build) * 1000 <= now.wall;

function startServing({ last, published }: VariantState, build: CachedBuild): VariantState {
  const { outcome, nextExpiry, freshUntil } = build;
  const state = { current: build, next: undefined, freshUntil, nextExpiry };
  if (outcome.kind !== 'document') return { ...state, last, published };
  const { hash, lastModified, sharesInstant, isPublished } = outcome;
  return { ...state, last: outcome, published: isPublished ? { hash, lastModified, sharesInstant } : published };
}

function bodiesOf({ current, next }: VariantState): Body[] {
  return [current, next].flatMap((build) => (build?.outcome.kind === 'document' ? [build.outcome.body] : []));
}

export const nearestToCap = (outcomes: readonly (Representation | TooLarge)[]): Representation | TooLarge | undefined =>
  outcomes.toSorted(({ facts: a }, { facts: b }) => b.entryCount / b.entryLimit - a.entryCount / a.entryLimit)[0];
