/** Feed events (SPEC D10.10 to D10.12): pure functions from the previous state and an occurrence to the next state and log lines. */

import { capPercent, type FeedFacts } from '../facts.ts';
import type { GeoCost } from '../geo-cost.ts';
import { type Trimmed, trimmedText } from '../trim.ts';

export type CapState = 'within' | 'near' | 'over';

export interface FeedEvent {
  readonly kind:
    | 'near_cap'
    | 'over_cap'
    | 'under_cap'
    | 'left_out'
    | 'whole'
    | 'warned'
    | 'unwarned'
    | 'shrunk'
    | 'stale'
    | 'fresh'
    | 'will_exceed';
  readonly level: 'info' | 'warn';
  readonly text: string;
}

export interface OpenEvent {
  readonly kind: FeedEvent['kind'];
  readonly text: string;
  /** ms since 1970. */
  readonly since: number;
}

export interface SizeState {
  readonly facts: FeedFacts;
  readonly cap: CapState;
  readonly tight: OpenEvent | undefined;
  readonly leftOut: OpenEvent | undefined;
  readonly warned: OpenEvent | undefined;
  /** `from`: the earlier number, at least twice as high. */
  readonly shrunk: (OpenEvent & { readonly from: number }) | undefined;
}

/** From above 90 % to 85 %: oscillation is logged once. */
const NEAR = 0.9;
const NO_LONGER_NEAR = 0.85;
export const isFull = ({ entryCount, entryLimit }: FeedFacts): boolean => entryCount >= entryLimit * NEAR;
/** Minimum entries for a `shrunk` event, and its duration unless the entries return, ms. */
const SHRINKS_FROM = 100;
const SHRUNK_FOR = 24 * 3_600_000;

const formatted = (count: number) => count.toLocaleString('en-US');

/** `now` in ms since 1970. */
export function afterBuild(before: SizeState | undefined, facts: FeedFacts, now: number): { state: SizeState; events: FeedEvent[] } {
  const cap = capState(before?.cap, facts);
  const isSame = cap === (before?.cap ?? 'within');
  const tight = isSame && (facts.trimmed === undefined || before?.tight === undefined) ? before?.tight : TIGHT[cap]?.(facts);
  const leftOut = leftOutEvent(facts);
  const isUntrimmed = before?.leftOut !== undefined && leftOut === undefined;
  const isNewlyLeft = leftOut !== undefined && namesOf(before?.facts.trimmed?.leftOut) !== namesOf(facts.trimmed?.leftOut);
  const warned = warnedEvent(facts);
  const isNewlyWarned = warned?.text !== before?.warned?.text;
  const shrunk = shrunkFrom(before, facts, now);
  return {
    state: {
      facts,
      cap,
      tight: tight && { since: (isSame ? before?.tight?.since : undefined) ?? now, ...tight },
      leftOut: leftOut && { since: isNewlyLeft ? now : (before?.leftOut?.since ?? now), ...leftOut },
      warned: warned && { since: before?.warned?.since ?? now, ...warned },
      shrunk: shrunk && { since: now, ...shrunk },
    },
    events: [
      ...(isNewlyLeft ? [warning(leftOut)] : []),
      ...(isUntrimmed ? [{ kind: 'whole' as const, level: 'info' as const, text: 'leaves nothing out any more' }] : []),
      ...(isNewlyWarned ? [warned === undefined ? UNWARNED : warning(warned)] : []),
      ...(isSame ? [] : [capEvent(before?.cap, cap, facts)]),
      ...(shrunk === undefined || shrunk === before?.shrunk ? [] : [warning(shrunk)]),
    ],
  };
}

type EventText = Pick<FeedEvent, 'kind' | 'text'>;

const leftOutEvent = ({ entryLimit, trimmed }: FeedFacts): EventText | undefined =>
  trimmed?.leftOut && {
    kind: 'left_out',
    text: `leaves out ${trimmedText(trimmed.leftOut)}, to keep within its cap of ${formatted(entryLimit)}`,
  };

const MOST_WARNED = 3;

function warnedEvent({ warned }: FeedFacts): EventText | undefined {
  if (warned === undefined) return undefined;
  const others = warned.length > MOST_WARNED ? ` and ${formatted(warned.length - MOST_WARNED)} more` : '';
  return { kind: 'warned', text: `blocks addresses of protected networks: ${warned.slice(0, MOST_WARNED).join(', ')}${others}` };
}

const UNWARNED: FeedEvent = { kind: 'unwarned', level: 'info', text: 'blocks no address of protected networks any more' };

const namesOf = (left: Trimmed | undefined): string =>
  left === undefined
    ? ''
    : left.fit === 'lists'
      ? left.lists.map(({ name }) => name).join('\n')
      : left.fit === 'best'
        ? left.fit
        : String(left.minSources);

const warning = ({ kind, text }: EventText): FeedEvent => ({ kind, level: 'warn', text });

function capState(before: CapState | undefined, { entryCount, entryLimit }: FeedFacts): CapState {
  if (entryCount > entryLimit) return 'over';
  return entryCount > entryLimit * (before === 'near' ? NO_LONGER_NEAR : NEAR) ? 'near' : 'within';
}

const nextText = ({ trimmed }: FeedFacts) => (trimmed?.next === undefined ? '' : `; beyond it ${trimmed.next} would be left out`);

const TIGHT: Partial<Record<CapState, (facts: FeedFacts) => EventText>> = {
  near: (facts) => ({
    kind: 'near_cap',
    text: `has ${formatted(facts.entryCount)} entries, ${capPercent(facts)}% of its cap of ${formatted(facts.entryLimit)}${nextText(facts)}`,
  }),
  over: ({ entryCount, entryLimit }) => ({
    kind: 'over_cap',
    text: `is over its cap of ${formatted(entryLimit)} with ${formatted(entryCount)} entries: it is not published (413)`,
  }),
};

function capEvent(before: CapState | undefined, after: CapState, facts: FeedFacts): FeedEvent {
  const tight = TIGHT[after]?.(facts);
  if (tight !== undefined && before !== 'over') return warning(tight);
  const now = before === 'over' ? 'back under its cap' : 'no longer near its cap';
  return {
    kind: 'under_cap',
    level: 'info',
    text: `is ${now} of ${formatted(facts.entryLimit)}: it has ${formatted(facts.entryCount)} entries`,
  };
}

function shrunkFrom(
  before: SizeState | undefined,
  { entryCount: entries }: FeedFacts,
  now: number,
): (EventText & { from: number; since?: number }) | undefined {
  if (before === undefined) return undefined;
  const { shrunk, facts } = before;
  const from = facts.entryCount;
  if (from >= SHRINKS_FROM && entries * 2 <= from)
    return { kind: 'shrunk', from, text: `shrank from ${formatted(from)} to ${formatted(entries)} entries` };
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
  text: `would leave out ${trimmedText(left)}, to keep within its cap of ${formatted(limit)}`,
});

export const willExceedEvent = (before: number, after: number, limit: number, { name, networks }: GeoCost): FeedEvent => ({
  kind: 'will_exceed',
  level: 'warn',
  text: `goes over its cap of ${formatted(limit)} with ${name} (${formatted(networks)} networks): ${formatted(before)} entries before, ${formatted(after)} after`,
});
