/** What of a source needs attention (SPEC D23.23). */
import { expiresAt, type LogState, stateOf } from '../../account/source.ts';
import { isoTime } from '../../clock.ts';
import type { SourceRecord } from '../../ports/stored/source-store.ts';

/** So many failures in a row are told. */
const MANY = 3;

type Text = (record: SourceRecord) => string | undefined;

/** What is told of each state; undefined: nothing. */
const TEXTS: Partial<Readonly<Record<LogState, Text>>> = {
  stopped: ({ state }) => `is stopped: ${state.fault ?? 'its secret is missing'} (weir source resume)`,
  expired: ({ state }) => `has an empty list: its content was confirmed last at ${isoTime(state.confirmedAt)}`,
  held: ({ state }) => `holds a refresh back: ${state.held!.reason} (weir source show)`,
  stale: ({ source, state }) =>
    `has content that was confirmed last at ${isoTime(state.confirmedAt)}: its list is emptied at ${isoTime(expiresAt(source, state))}`,
  failing: ({ state }) => (state.failures < MANY ? undefined : `has failed ${state.failures} times in a row: ${state.fault}`),
};

/** What needs attention of a source of a workspace, `text` behind its name in a sentence; undefined: nothing. `now`: ms. */
export function sourceAlertOf(record: SourceRecord, workspace: string, now: number) {
  const { source, state } = record;
  const word = stateOf(source, state, now);
  const text = TEXTS[word]?.(record);
  return text === undefined ? undefined : { id: source.id, name: source.name, workspace, state: word, text };
}

/** A source that somebody has to look at. */
export type SourceAlert = NonNullable<ReturnType<typeof sourceAlertOf>>;
