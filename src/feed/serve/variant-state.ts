import { type Instant, secondOf } from '../../clock.ts';
import type { ReadStamp } from '../read-stamp.ts';
import type { Body } from './body-cache.ts';
import { LONGEST_WAIT, type ServedBefore } from './last-modified.ts';
import type { Read } from './reads.ts';
import type { Representation, TooLarge } from './representation.ts';

/** A finished build of a variant, what it was made from, and how long it may be served. */
export interface CachedBuild {
  readonly outcome: Representation | TooLarge;
  /** When the rules behind it were read. */
  readonly at: ReadStamp;
  /** The latest read by which it was found to be current, and its Last-Modified to be the recorded one. */
  readonly confirmed: Read;
  readonly geoVersion: string;
  /** ms, monotonic: until then it needs no look at the store. */
  readonly freshUntil: number;
  /** Whole seconds: as of when it is without the rules that have expired. Before that, after the clock was set back, it lacks some. */
  readonly asOf: number;
  /** The same of what its rules were read from, which the store alone can mend. */
  readonly completeSince: number;
  /** Whole seconds: from then on it must not be served, because a rule in it expires or its Last-Modified is to be decided again. */
  readonly nextExpiry: number;
}

/** What is served of one variant of a document: now, and from a coming second on (SPEC D5.15). Never changed, only replaced. */
export interface VariantState {
  readonly current: CachedBuild | undefined;
  /** The build that takes the place of `current` at the second of its Last-Modified, or at `freshUntil` however the clock was set. */
  readonly next: CachedBuild | undefined;
  /** The last document that was current, also when there is none now. */
  readonly last: Representation | undefined;
  /** The last content whose Last-Modified was told. */
  readonly told: Pick<Representation, 'hash' | 'lastModified' | 'sharesInstant'> | undefined;
  /** `current` is served without looking anywhere until one of these: ms, monotonic, and whole seconds of the wall clock. */
  readonly freshUntil: number;
  readonly nextExpiry: number;
}

export const NOT_BUILT: VariantState = {
  current: undefined,
  next: undefined,
  last: undefined,
  told: undefined,
  freshUntil: Number.NEGATIVE_INFINITY,
  nextExpiry: 0,
};

/** How long after its `freshUntil` a build may still be served until its successor begins, ms. */
const GRACE = 2_000;

/** What can be served at once, or undefined. */
export function readyOutcome(state: VariantState, { monotonic, wall }: Instant): Representation | TooLarge | undefined {
  return monotonic < state.freshUntil && wall < state.nextExpiry * 1000 ? state.current?.outcome : undefined;
}

/** The state after a build: it becomes current, or waits for the second of its Last-Modified. */
export function withBuild(state: VariantState, build: CachedBuild, waits: boolean, now: Instant): VariantState {
  const { current } = state;
  if (current === undefined || !waits || hasBegun(build, now)) return startServing(state, build);
  // Until the new build begins no other is made: its beginning would be later still, and beginnings would run ahead of the clock.
  const freshUntil = now.monotonic + LONGEST_WAIT * 1000;
  return { ...state, next: build, freshUntil, nextExpiry: Math.min(beginningOf(build), current.nextExpiry) };
}

/** The state at `now`: the build that waits is current from its second on, or when it has waited for long enough. */
export function atTime(state: VariantState, now: Instant): VariantState {
  const { next, freshUntil } = state;
  return next !== undefined && (hasBegun(next, now) || freshUntil <= now.monotonic) ? startServing(state, next) : state;
}

/** The state after its current build was found good for longer. */
export function withExtended(state: VariantState, current: CachedBuild): VariantState {
  return { ...state, current, freshUntil: current.freshUntil, nextExpiry: current.nextExpiry };
}

/** The state of a document that is gone. */
export const withoutBuilds = ({ last, told }: VariantState): VariantState => ({ ...NOT_BUILT, last, told });

/** What the date of the next build follows: that of the document which was told last. */
export function servedBefore({ current, told }: VariantState, now: Instant): ServedBefore | undefined {
  if (told === undefined) return undefined;
  const servable =
    current?.outcome.kind === 'document' &&
    now.monotonic <= current.freshUntil + GRACE &&
    isServable(current, now.wall) &&
    hasBody(current.outcome);
  return { ...told, servable };
}

/** Whether the build has the rules of the instant `wall` (ms): none has expired, and none was left out that has not. */
export const isServable = ({ asOf, nextExpiry }: CachedBuild, wall: number): boolean =>
  asOf <= secondOf(wall) && secondOf(wall) < nextExpiry;

/** The same of a build that is not good enough while the store answers where the store itself was asked by a clock that was ahead. */
export const isComplete = (build: CachedBuild, wall: number): boolean => isServable(build, wall) && build.completeSince <= secondOf(wall);

/** Whether the bytes of an outcome are in memory; a 413 needs none. */
export const hasBody = (outcome: Representation | TooLarge): boolean => outcome.kind !== 'document' || outcome.body.identity !== undefined;

/** The body that was built last; undefined when none was. */
export const newestBody = ({ next, last }: VariantState): Body | undefined =>
  next?.outcome.kind === 'document' ? next.outcome.body : last?.body;

/** The bodies that the state before held and the state after does not. */
export function releasedBodies(before: VariantState, after: VariantState): Body[] {
  const kept = bodiesOf(after);
  return bodiesOf(before).filter((body) => !kept.includes(body));
}

/** The second at which a build that waits begins. Only what has a Last-Modified waits. */
const beginningOf = ({ outcome }: CachedBuild): number => (outcome.kind === 'document' ? outcome.lastModified : 0);
const hasBegun = (build: CachedBuild, now: Instant): boolean => beginningOf(build) * 1000 <= now.wall;

function startServing({ last, told }: VariantState, build: CachedBuild): VariantState {
  const { outcome, nextExpiry, freshUntil } = build;
  const state = { current: build, next: undefined, freshUntil, nextExpiry };
  if (outcome.kind !== 'document') return { ...state, last, told };
  const { hash, lastModified, sharesInstant, isPublished } = outcome;
  return { ...state, last: outcome, told: isPublished ? { hash, lastModified, sharesInstant } : told };
}

function bodiesOf({ current, next }: VariantState): Body[] {
  return [current, next].flatMap((build) => (build?.outcome.kind === 'document' ? [build.outcome.body] : []));
}

/** Of outcomes the one that has least room left. */
export const nearestToCap = (outcomes: readonly (Representation | TooLarge)[]): Representation | TooLarge | undefined =>
  outcomes.toSorted((a, b) => b.entryCount / b.entryLimit - a.entryCount / a.entryLimit)[0];
