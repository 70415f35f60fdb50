/** Changes of a source's settings and their effect on its state; moves of sources (SPEC D23.4, D23.7). */
import { GUARD_NAMES, newState, SOURCE_GUARDS, type Source, type SourceReading, type SourceSettings, type SourceState } from './source.ts';

const flat = ({ paths, condition, format, collection, column, skip, signers }: SourceReading) => ({
  ...{ format, paths, where: condition, collection, column, skip, signers },
});

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

export type SourcePatch = Partial<SourceSettings>;

/** Whether the change invalidates the known content. */
export const invalidatesContent = ({ url, purpose, reading, guards, credential }: SourcePatch): boolean =>
  [url, purpose, reading, guards, credential].some((each) => each !== undefined);

/** For `weir export` and `weir import`; without its secret. */
export type SavedSource = SourceSettings & Pick<Source, 'id' | 'listId' | 'isPaused'> & Pick<SourceState, 'confirmedAt'>;

/**
 * State after such a change: fetch again, forget the content. `isElsewhere`: the address or secret changed, so earlier refusals do not
 * count.
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
  signedAt: isElsewhere ? null : state.signedAt,
  equalSeq: state.equalSeq,
  expired: state.expired,
  askedAt: isElsewhere ? null : state.askedAt,
  until: isElsewhere ? null : state.until,
});

/** Fetches as soon as host and server permit, after any kind of stop. */
export const resumed = (state: SourceState, now: number): SourceState => ({
  ...state,
  nextAt: now,
  failures: 0,
  fault: null,
  stop: null,
  waits: null,
});
