/** Feed events (SPEC D10.10 to D10.12): pure functions from the previous state and an occurrence to the next state and log lines. */

import type { GeoCost } from '../geo-cost.ts';
import { type Trimmed, type TrimResult, trimmedText } from '../trim.ts';

export type CapState = 'within' | 'near' | 'over';

export interface FeedEvent {
  readonly kind: 'near_cap' | 'over_cap' | 'under_cap' | 'left_out' | 'whole' | 'shrunk' | 'stale' | 'fresh' | 'will_exceed';
  readonly level: 'info' | 'warn';
  readonly text: string;
}

export interface OpenEvent {
  readonly kind: FeedEvent['kind'];
  readonly text: string;
  /** ms since 1970. */
  readonly since: number;
}

export interface FeedSize {
  readonly entries: number;
  readonly limit: number;
  /** The current and next trim; undefined if the feed has no trimmable lists. */
  readonly fitted?: TrimResult | undefined;
}

export interface SizeState extends FeedSize {
  readonly cap: CapState;
  readonly tight: OpenEvent | undefined;
  readonly leftOut: OpenEvent | undefined;
  /** Lost at least half of its entries; `from`: the earlier number. */
  readonly shrunk: (OpenEvent & { readonly from: number }) | undefined;
}

/** Near its cap above 90 %, until at most 85 %: oscillation is logged once. */
const NEAR = 0.9;
const NO_LONGER_NEAR = 0.85;
export const isFull = ({ entries, limit }: FeedSize): boolean => entries >= limit * NEAR;
/** Minimum entries for a `shrunk` event, and its duration unless the entries return, ms. */
const SHRINKS_FROM = 100;
const SHRUNK_FOR = 24 * 3_600_000;

const shown = (count: number) => count.toLocaleString('en-US');

/** The state and log lines after a build; `now` in ms since 1970. */
export function afterBuild(before: SizeState | undefined, size: FeedSize, now: number): { state: SizeState; events: FeedEvent[] } {
  const cap = capState(before?.cap, size);
  const isSame = cap === (before?.cap ?? 'within');
  const told = TIGHT[cap]?.(size);
  const tight = isSame && (size.fitted === undefined || before?.tight === undefined) ? before?.tight : told;
  const leftOut = leftOutEvent(size);
  const isWholeAgain = before?.leftOut !== undefined && leftOut === undefined;
  const isNewlyLeft = leftOut !== undefined && namesOf(before?.fitted?.leftOut) !== namesOf(size.fitted?.leftOut);
  const shrunk = shrunkFrom(before, size, now);
  return {
    state: {
      ...size,
      cap,
      tight: tight && { since: (isSame ? before?.tight?.since : undefined) ?? now, ...tight },
      leftOut: leftOut && { since: isNewlyLeft ? now : (before?.leftOut?.since ?? now), ...leftOut },
      shrunk: shrunk && { since: now, ...shrunk },
    },
    events: [
      ...(isNewlyLeft ? [warning(leftOut)] : []),
      ...(isWholeAgain ? [{ kind: 'whole' as const, level: 'info' as const, text: 'leaves nothing out any more' }] : []),
      ...(isSame ? [] : [capEvent(before?.cap, cap, size)]),
      ...(shrunk === undefined || shrunk === before?.shrunk ? [] : [warning(shrunk)]),
    ],
  };
}

type Told = Pick<FeedEvent, 'kind' | 'text'>;

/** The feed is trimmed (SPEC D29.6). */
const leftOutEvent = ({ limit, fitted }: FeedSize): Told | undefined =>
  fitted?.leftOut && { kind: 'left_out', text: `leaves out ${trimmedText(fitted.leftOut)}, to keep within its cap of ${shown(limit)}` };

const namesOf = (left: Trimmed | undefined): string =>
  left === undefined ? '' : left.fit === 'sources' ? String(left.minSources) : left.lists.map(({ name }) => name).join('\n');

const warning = ({ kind, text }: Told): FeedEvent => ({ kind, level: 'warn', text });

function capState(before: CapState | undefined, { entries, limit }: FeedSize): CapState {
  if (entries > limit) return 'over';
  return entries > limit * (before === 'near' ? NO_LONGER_NEAR : NEAR) ? 'near' : 'within';
}

const nextText = (fitted: TrimResult | undefined) => (fitted?.next === undefined ? '' : `; beyond it ${fitted.next} would be left out`);

const TIGHT: Partial<Record<CapState, (size: FeedSize) => Told>> = {
  near: ({ entries, limit, fitted }) => ({
    kind: 'near_cap',
    text: `has ${shown(entries)} entries, ${Math.floor((entries / limit) * 100)}% of its cap of ${shown(limit)}${nextText(fitted)}`,
  }),
  over: ({ entries, limit }) => ({
    kind: 'over_cap',
    text: `is over its cap of ${shown(limit)} with ${shown(entries)} entries: it is not published (413)`,
  }),
};

function capEvent(before: CapState | undefined, after: CapState, size: FeedSize): FeedEvent {
  const tight = TIGHT[after]?.(size);
  if (tight !== undefined && before !== 'over') return warning(tight);
  const now = before === 'over' ? 'back under its cap' : 'no longer near its cap';
  return { kind: 'under_cap', level: 'info', text: `is ${now} of ${shown(size.limit)}: it has ${shown(size.entries)} entries` };
}

function shrunkFrom(
  before: SizeState | undefined,
  { entries }: FeedSize,
  now: number,
): (Told & { from: number; since?: number }) | undefined {
  if (before === undefined) return undefined;
  if (before.entries >= SHRINKS_FROM && entries * 2 <= before.entries)
    return { kind: 'shrunk', from: before.entries, text: `shrank from ${shown(before.entries)} to ${shown(entries)} entries` };
  const { shrunk } = before;
  return shrunk !== undefined && entries * 2 <= shrunk.from && now < shrunk.since + SHRUNK_FOR ? shrunk : undefined;
}

export const staleEvent = (since: number): FeedEvent => ({
  kind: 'stale',
  level: 'warn',
  text: `is served from memory as of ${new Date(since * 1000).toISOString()}: the store does not answer`,
});

export const FRESH: FeedEvent = { kind: 'fresh', level: 'info', text: 'is served from the store again' };

export const willLeaveOutEvent = (limit: number, left: Trimmed): FeedEvent => ({
  kind: 'will_exceed',
  level: 'warn',
  text: `would leave out ${trimmedText(left)}, to keep within its cap of ${shown(limit)}`,
});

export const willExceedEvent = (before: number, after: number, limit: number, { name, networks }: GeoCost): FeedEvent => ({
  kind: 'will_exceed',
  level: 'warn',
  text: `goes over its cap of ${shown(limit)} with ${name} (${shown(networks)} networks): ${shown(before)} entries before, ${shown(after)} after`,
});
