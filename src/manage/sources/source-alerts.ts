/** SPEC D23.23. */
import { alertStateOf, expiresAt, type LogState, stateOf } from '../../account/source-state.ts';
import { isoTime } from '../../clock.ts';
import type { SourceRecord } from '../../ports/stored/source-store.ts';

/** Consecutive. */
const MANY = 3;

type Text = (record: SourceRecord) => string | undefined;

const confirmed = ({ state: { confirmedAt } }: SourceRecord) =>
  confirmedAt === null ? 'was never confirmed' : `was last confirmed at ${isoTime(confirmedAt)}`;
const failing: Text = ({ state }) => (state.failures < MANY ? undefined : `has failed ${state.failures} times in a row: ${state.fault}`);

const TEXTS: Partial<Readonly<Record<LogState, Text>>> = {
  paused: () => 'is paused',
  stopped: ({ state }) => `is stopped: ${state.fault ?? 'its secret is missing'} (weir source resume)`,
  expired: (record) => `has an empty list: its content ${confirmed(record)}`,
  held: ({ state }) => `has a refresh on hold: ${state.held!.reason} (weir source show)`,
  stale: (record) => `has content that ${confirmed(record)}: its list expires at ${isoTime(expiresAt(record.source, record.state))}`,
  undone: failing,
  failing,
};

/** `text` follows the name in a sentence. `now`: ms. */
export function sourceAlertOf(record: SourceRecord, workspace: string, now: number) {
  const { source, state } = record;
  const word = stateOf(source, state, now);
  const age = alertStateOf(source, state, now);
  const isHidden = age !== word;
  if (word === 'paused' && !isHidden) return undefined;
  const also: LogState[] = isHidden ? [age] : word === 'expired' && state.held !== null ? ['held'] : [];
  const texts = [word, ...also].flatMap((each) => TEXTS[each]?.(record) ?? []);
  if (texts.length === 0) return undefined;
  return { id: source.id, name: source.name, workspace, state: age, text: texts.join('; it ') };
}

export type SourceAlert = NonNullable<ReturnType<typeof sourceAlertOf>>;
