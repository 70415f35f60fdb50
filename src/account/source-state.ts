/** How a source is, in a word, and when its list is emptied (SPEC D23.19). */
import type { Source, SourceState } from './source.ts';

/** How a source is, in a word; the first of these that is so. */
export const LOG_STATES = ['paused', 'stopped', 'expired', 'held', 'stale', 'undone', 'failing', 'new', 'ok'] as const;
export type LogState = (typeof LOG_STATES)[number];

/** Whether its list is empty because its content was not confirmed: undoing that brings the list back. */
const isEmptied = ({ expired, undone }: SourceState): boolean => expired && undone === null;

/** `countedFor` of a source whose entries have to be counted. */
export const UNCOUNTED = '';

/** Whether `entries` counts what the list has; an older weir has not counted a list that was there before its source. */
export const isCounted = ({ countedFor, confirmedAt, undone }: SourceState): boolean =>
  countedFor === undefined ? confirmedAt !== null : countedFor === (undone?.batch ?? null);

/** When the list of a source is emptied unless its content is confirmed before, ms; null: never, or it is not known what it has. */
export function expiresAt({ purpose, guards, createdAt }: Aging, state: SourceState): number | null {
  const { confirmedAt, expired, undone, entries } = state;
  // A list that was brought back without a word of its content counts from then on.
  const since = expired && undone !== null ? undone.at : (confirmedAt ?? (entries > 0 ? createdAt : null));
  return purpose === 'allow' || since === null ? null : since + guards.staleAfter * 1000;
}

/** What of a source says when its list expires. */
type Aging = Pick<Source, 'purpose' | 'guards' | 'createdAt'>;

/** Whether the list of a source has to be emptied. */
export function isExpiring(source: Aging, state: SourceState, now: number): boolean {
  const end = expiresAt(source, state);
  return end !== null && now >= end && !isEmptied(state);
}

/** How a source is at `now`. */
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

/** States that hide that the list is emptied soon, or was. */
const HIDING: readonly LogState[] = ['paused', 'stopped', 'held'];

/** How alerts and metrics call it: `expired` and `stale` also where it is paused, stopped or held (SPEC D44.8). */
export function alertStateOf(source: Aging & Pick<Source, 'isPaused'>, state: SourceState, now: number): LogState {
  const word = stateOf(source, state, now);
  const age = stateOf({ ...source, isPaused: false }, { ...state, stop: null, held: null }, now);
  return HIDING.includes(word) && (age === 'expired' || age === 'stale') ? age : word;
}
