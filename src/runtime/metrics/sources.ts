import type { Source, SourceState } from '../../account/source.ts';
import { alertStateOf, LOG_STATES } from '../../account/source-state.ts';
import { labelsOf, type RememberedLabels, type Sample } from './exposition.ts';

export interface MeasuredSource {
  readonly source: Source;
  readonly state: SourceState;
}

export function* statesOf(sources: readonly MeasuredSource[], now: number): Generator<Sample> {
  if (sources.length === 0) return;
  const counts = Map.groupBy(sources, ({ source, state }) => alertStateOf(source, state, now));
  for (const state of LOG_STATES) yield { labels: labelsOf({ state }), value: counts.get(state)?.length ?? 0 };
}

export function* perSource(
  sources: readonly MeasuredSource[],
  labels: RememberedLabels,
  pick: (one: MeasuredSource) => number | undefined,
): Generator<Sample> {
  for (const one of sources) {
    const { id, workspaceId, name } = one.source;
    const value = pick(one);
    if (value !== undefined) yield { labels: labels(`source ${id}`, () => labelsOf({ workspace: workspaceId, source: name })), value };
  }
}

/** Seconds since the last confirmation; undefined: never, or paused. */
export const contentAge = ({ source, state: { confirmedAt } }: MeasuredSource, now: number): number | undefined =>
  confirmedAt === null || source.isPaused ? undefined : Math.max(0, (now - confirmedAt) / 1000);
