/** State of a source in a word, and expiry of its list (SPEC D23.19). */
import type { Source, SourceState } from './source.ts';

/** In order of precedence. */
export const LOG_STATES = ['paused', 'stopped', 'expired', 'held', 'stale', 'undone', 'failing', 'new', 'ok'] as const;
export type LogState = (typeof LOG_STATES)[number];

/** Its content was not confirmed: undo restores it. */
const isEmptied = ({ expired, undone }: SourceState): boolean => expired && undone === null;

/** `countedFor` if the entries must be counted. */
export const UNCOUNTED = '';

/** Older versions did not count a list that existed before its source. */
export const isCounted = ({ countedFor, confirmedAt, undone }: SourceState): boolean =>
  countedFor === undefined ? confirmedAt !== null : countedFor === (undone?.batch ?? null);

/** When the list is emptied unless the content is confirmed, ms; null: never, or its content is unknown. */
export function expiresAt({ purpose, guards, createdAt }: Aging, state: SourceState): number | null {
  const { confirmedAt, expired, undone, entries } = state;
  // A restored list without confirmation expires from its restoration on.
  const since = expired && undone !== null ? undone.at : (confirmedAt ?? (entries > 0 ? createdAt : null));
  return purpose === 'allow' || since === null ? null : since + guards.staleAfter * 1000;
}

type Aging = Pick<Source, 'purpose' | 'guards' | 'createdAt'>;

export function isExpiring(source: Aging, state: SourceState, now: number): boolean {
  const end = expiresAt(source, state);
  return end !== null && now >= end && !isEmptied(state);
}

export function stateOf(source: Aging & Pick<Source, 'isPaused'>, state: SourceState, now: number): LogState {
  const end = expiresAt(source, state);
  const holds: Readonly<Record<LogState, boolean>> = {
    paused: source.isPaused,
    stopped: state.stop !== null,
    expired: isEmptied(state),
    held: state.held !== null,
    stale: end !== null && now >= end - source.guards.staleAfter * 500,
    undone: state.undone !== null,
    failing: state.failures > 0,
    new: state.fetchedAt === null,
    ok: true,
  };
  return LOG_STATES.find((each) => holds[each])!;
}

/** They hide that the list is emptied soon, or was. */
const HIDING: readonly LogState[] = ['paused', 'stopped', 'held'];

/** How alerts and metrics call it: `expired` and `stale` also where it is paused, stopped or held (SPEC D44.8). */
export function alertStateOf(source: Aging & Pick<Source, 'isPaused'>, state: SourceState, now: number): LogState {
  const word = stateOf(source, state, now);
  const age = stateOf({ ...source, isPaused: false }, { ...state, stop: null, held: null }, now);
  return HIDING.includes(word) && (age === 'expired' || age === 'stale') ? age : word;
}
