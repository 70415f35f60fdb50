/** What of a source needs attention (SPEC D23.23). */
import { alertStateOf, expiresAt, type LogState, stateOf } from '../../account/source-state.ts';
import { isoTime } from '../../clock.ts';
import type { SourceRecord } from '../../ports/stored/source-store.ts';

/** So many failures in a row are told. */
const MANY = 3;

type Text = (record: SourceRecord) => string | undefined;

const confirmed = ({ state: { confirmedAt } }: SourceRecord) =>
  confirmedAt === null ? 'was never confirmed' : `was confirmed last at ${isoTime(confirmedAt)}`;
const failing: Text = ({ state }) => (state.failures < MANY ? undefined : `has failed ${state.failures} times in a row: ${state.fault}`);

/** What is told of each state; undefined: nothing. */
const TEXTS: Partial<Readonly<Record<LogState, Text>>> = {
  paused: () => 'is paused',
  stopped: ({ state }) => `is stopped: ${state.fault ?? 'its secret is missing'} (weir source resume)`,
  expired: (record) => `has an empty list: its content ${confirmed(record)}`,
  held: ({ state }) => `holds a refresh back: ${state.held!.reason} (weir source show)`,
  stale: (record) => `has content that ${confirmed(record)}: its list is emptied at ${isoTime(expiresAt(record.source, record.state))}`,
  undone: failing,
  failing,
};

/** What needs attention of a source of a workspace, `text` behind its name in a sentence; undefined: nothing. `now`: ms. */
export function sourceAlertOf(record: SourceRecord, workspace: string, now: number) {
  const { source, state } = record;
  const word = stateOf(source, state, now);
  const age = alertStateOf(source, state, now);
  const isHidden = age !== word;
  // Somebody has paused it, which is no news by itself.
  if (word === 'paused' && !isHidden) return undefined;
  const also: LogState[] = isHidden ? [age] : word === 'expired' && state.held !== null ? ['held'] : [];
  const told = [word, ...also].flatMap((each) => TEXTS[each]?.(record) ?? []);
  if (told.length === 0) return undefined;
  return { id: source.id, name: source.name, workspace, state: age, text: told.join('; it ') };
}

/** A source that somebody has to look at. */
export type SourceAlert = NonNullable<ReturnType<typeof sourceAlertOf>>;
