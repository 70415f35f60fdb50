/** Changes of what is set of a source, what they do to how it is, and how a source is moved (SPEC D23.4, D23.7). */
import { GUARD_NAMES, newState, SOURCE_GUARDS, type Source, type SourceReading, type SourceSettings, type SourceState } from './source.ts';

const flat = ({ paths, condition, format, collection, column, skip }: SourceReading) => ({
  ...{ format, paths, where: condition, collection, column, skip },
});

/** What can be edited of a source, as JSON has it. */
export const sourceSettingsJson = ({ url, purpose, every, reading, guards, credential, copies, catalogue }: SourceSettings) => ({
  url,
  purpose,
  every,
  ...flat(reading),
  ...Object.fromEntries(GUARD_NAMES.map((name) => [SOURCE_GUARDS[name].field, guards[name]])),
  auth: credential?.kind ?? null,
  auth_header: credential?.kind === 'header' ? credential.name : null,
  copies,
  catalogue,
});

/** A change of what is set of a source; what it does not name stays as it is. */
export type SourcePatch = Partial<SourceSettings>;

/** Whether a change makes what is known of the content worthless. */
export const isReadAnew = ({ url, purpose, reading, guards, credential }: SourcePatch): boolean =>
  [url, purpose, reading, guards, credential].some((each) => each !== undefined);

/** A source as a store holds it, for `weir export` and `weir import`: without its secret. */
export type SavedSource = SourceSettings & Pick<Source, 'id' | 'listId' | 'isPaused'> & Pick<SourceState, 'confirmedAt'>;

/**
 * The state of a source that is read in another way from now on: it is fetched anew, and what was known of its content counts no more.
 * `isElsewhere`: its address or its secret is another; what refused the one before may not refuse this one.
 */
export const afresh = (state: SourceState, now: number, isElsewhere: boolean): SourceState => ({
  ...newState(now),
  fetchedAt: state.fetchedAt,
  confirmedAt: state.confirmedAt,
  changedAt: state.changedAt,
  entries: state.entries,
  countedFor: state.countedFor ?? null,
  hasBroad: !isElsewhere && state.hasBroad,
  stop: isElsewhere ? null : state.stop,
  applying: state.applying,
  replacement: state.replacement,
  undone: state.undone,
  equalSeq: state.equalSeq,
  expired: state.expired,
  askedAt: isElsewhere ? null : state.askedAt,
  until: isElsewhere ? null : state.until,
});

/** The state of one that is resumed: it is fetched as soon as its host and its server allow it, whatever stopped it. */
export const resumed = (state: SourceState, now: number): SourceState => ({
  ...state,
  nextAt: now,
  failures: 0,
  fault: null,
  stop: null,
  waits: null,
});
