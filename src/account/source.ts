/** A source: a list with an origin, which alone says what the list has (SPEC D23). What is set of one, how it is, and the one word for that. */
import type { Form } from '../source/readers/form.ts';
import type { Author } from './caller.ts';

/** Whether its list blocks, or is never blocked (ranges of providers and partners). */
export const SOURCE_PURPOSES = ['block', 'allow'] as const;
export type SourcePurpose = (typeof SOURCE_PURPOSES)[number];

/** How its content is read, as texts that were checked (`source/readers/`). */
export interface SourceReading {
  /** null: found out. */
  readonly format: Form | 'taxii' | null;
  readonly paths: readonly string[];
  /** `name=value` */
  readonly condition: string | null;
  /** Of a TAXII server. */
  readonly collection: string | null;
}

/** What holds a refresh back (SPEC D23.10 and following). */
export interface SourceGuards {
  readonly changePercent: number;
  readonly refusedPercent: number;
  readonly faultsPercent: number;
  readonly minPrefixV4: number;
  readonly minPrefixV6: number;
  readonly maxEntries: number;
  readonly mayBeEmpty: boolean;
  /** Seconds. */
  readonly staleAfter: number;
}

interface Guard<T> {
  /** Its name in JSON; with dashes, its option on the command line. */
  readonly field: string;
  readonly help: string;
  readonly fallback: T;
}

/** A whole number within bounds; `value` is what help calls it. */
export interface NumberGuard extends Guard<number> {
  readonly value: string;
  readonly least: number;
  readonly most: number;
}

type GuardRow<K extends keyof SourceGuards> = SourceGuards[K] extends number ? NumberGuard : Guard<boolean>;

const DAY_SECONDS = 86_400;

/** All about each guard. A new one needs its row here, its member above, and what judges it. */
export const SOURCE_GUARDS: { readonly [K in keyof SourceGuards]: GuardRow<K> } = {
  changePercent: {
    field: 'change_percent',
    value: 'percent',
    least: 1,
    most: 1_000_000,
    fallback: 50,
    help: 'most of its entries that may be added or removed in one refresh, %',
  },
  refusedPercent: {
    field: 'refused_percent',
    value: 'percent',
    least: 0,
    most: 100,
    fallback: 10,
    help: 'most of its entries that guard rails may refuse, %; they are left out',
  },
  faultsPercent: {
    field: 'faults_percent',
    value: 'percent',
    least: 0,
    most: 100,
    fallback: 0,
    help: 'most of its lines that may be unreadable, %; they are left out',
  },
  minPrefixV4: {
    field: 'min_prefix_v4',
    value: 'bits',
    least: 0,
    most: 32,
    fallback: 8,
    help: 'shortest prefix of an IPv4 network that it may bring',
  },
  minPrefixV6: {
    field: 'min_prefix_v6',
    value: 'bits',
    least: 0,
    most: 128,
    fallback: 16,
    help: 'the same of an IPv6 network',
  },
  maxEntries: { field: 'max_entries', value: 'count', least: 1, most: 4_000_000, fallback: 500_000, help: 'most entries that it may have' },
  mayBeEmpty: { field: 'may_be_empty', fallback: false, help: 'it may become empty' },
  staleAfter: {
    field: 'stale_after',
    value: 'duration',
    least: 3600,
    most: 366 * DAY_SECONDS,
    fallback: 7 * DAY_SECONDS,
    help: 'when the list of a source that blocks is emptied because its content was not confirmed',
  },
};

export const GUARD_NAMES = Object.keys(SOURCE_GUARDS) as readonly (keyof SourceGuards)[];

export const DEFAULT_GUARDS = Object.fromEntries(
  GUARD_NAMES.map((name) => [name, SOURCE_GUARDS[name].fallback]),
) as unknown as SourceGuards;

/** How often a source is fetched, seconds. */
export const EVERY = { least: 300, most: 30 * DAY_SECONDS, fallback: DAY_SECONDS };

/** What is told of a secret: as what it is sent, never what it is. */
export const AUTH_KINDS = ['basic', 'bearer', 'header'] as const;
export type Credential = { readonly kind: 'basic' | 'bearer' } | { readonly kind: 'header'; readonly name: string };

/** What is set of a source. */
export interface SourceSettings {
  readonly url: string;
  readonly purpose: SourcePurpose;
  /** Seconds. */
  readonly every: number;
  readonly reading: SourceReading;
  readonly guards: SourceGuards;
  readonly credential: Credential | null;
  /** Names of lists and feeds that it copies in part: what it adds to them is its worth. */
  readonly copies: readonly string[];
  /** The row of the catalogue that it was made from. */
  readonly catalogue: string | null;
}

export interface Source extends SourceSettings {
  readonly id: string;
  readonly workspaceId: string;
  readonly listId: string;
  /** That of its list. */
  readonly name: string;
  readonly isPaused: boolean;
  /** Moves when it is set, paused or resumed: a state that belongs to another revision is not written. */
  readonly revision: number;
  /** ms since 1970, as all instants here. */
  readonly createdAt: number;
}

/** A refresh that a guard has held back: its content waits in a replacement. */
export interface RefreshOnHold {
  readonly replacement: string;
  readonly since: number;
  readonly reason: string;
  /** SHA-256 of the content. */
  readonly digest: string;
  readonly difference: Readonly<Record<string, unknown>> | null;
}

/** A content that is being applied, or was when a process ended. */
export interface Applying {
  readonly replacement: string;
  /** When it was fetched. */
  readonly at: number;
  /** null: the list is emptied, because its content was not confirmed. */
  readonly digest: string | null;
  /** Whether somebody has accepted it. */
  readonly isAccepted: boolean;
  readonly hasBroad: boolean;
  /** Of the source that it was read for. */
  readonly revision: number;
}

/** How a source is. Written by whoever refreshes it, and set back where it is set. */
export interface SourceState {
  /** When it is fetched next. */
  readonly nextAt: number;
  /** The last answer that was good, also one that said that nothing has changed. */
  readonly fetchedAt: number | null;
  /** When its content was last known to be what its origin has. */
  readonly confirmedAt: number | null;
  readonly changedAt: number | null;
  /** SHA-256 of the content that was applied. */
  readonly digest: string | null;
  /** SHA-256 of the last whole answer, whatever became of it, with what its server said of it. */
  readonly seen: string | null;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Whether the content that was applied ends with a whole line: one that does not is cut. */
  readonly endsWithLineFeed: boolean;
  /** Whether it had countries or ASNs, and was taken. */
  readonly hasBroad: boolean;
  readonly entries: number;
  /** In a row. */
  readonly failures: number;
  /** What the last failure was, a sentence. */
  readonly fault: string | null;
  /** Nothing is fetched any more until it is resumed: its origin has refused it, or its secret is missing. */
  readonly stop: 'refused' | 'secret' | null;
  readonly held: RefreshOnHold | null;
  /** SHA-256 of a content that somebody does not want. */
  readonly discarded: string | null;
  readonly applying: Applying | null;
  /** The last replacement that was applied. */
  readonly replacement: string | null;
  /** The batch that undid it; null: it stands. */
  readonly undone: string | null;
  /** Its list was emptied because its content was not confirmed for too long. */
  readonly expired: boolean;
  /** Where a TAXII collection goes on. */
  readonly cursor: string | null;
  /** The instant of its last download, also one that failed. */
  readonly askedAt: number | null;
  /** The end of its server's `Retry-After`. */
  readonly until: number | null;
  /** What keeps a source that is due from being fetched, and until when; null: unknown. */
  readonly waits: { readonly for: string; readonly until: number | null } | null;
}

/** A source that was never fetched, to be fetched at once. */
export const newState = (now: number): SourceState => ({
  nextAt: now,
  fetchedAt: null,
  confirmedAt: null,
  changedAt: null,
  digest: null,
  seen: null,
  etag: null,
  lastModified: null,
  endsWithLineFeed: false,
  hasBroad: false,
  entries: 0,
  failures: 0,
  fault: null,
  stop: null,
  held: null,
  discarded: null,
  applying: null,
  replacement: null,
  undone: null,
  expired: false,
  cursor: null,
  askedAt: null,
  until: null,
  waits: null,
});

/** What somebody wants of a source, until it is done. */
export interface SourceAsk {
  readonly what: 'refresh' | 'accept' | 'discard';
  readonly at: number;
  readonly by: Author;
  /** The replacement that is accepted or discarded. */
  readonly replacement?: string;
}

/** One refresh, as it is told afterwards. */
export interface SourceRun {
  readonly at: number;
  readonly outcome: 'applied' | 'unchanged' | 'held' | 'failed' | 'stopped' | 'expired' | 'discarded';
  readonly ms: number;
  readonly bytes: number;
  readonly entries: number;
  readonly added: number;
  readonly removed: number;
  readonly refused: number;
  readonly faults: number;
  readonly replacement: string | null;
  readonly text: string;
}

/** Runs of a source that are kept. */
export const RUNS_KEPT = 20;

/** How a source is, in a word; the first of these that is so. */
export const LOG_STATES = ['paused', 'stopped', 'expired', 'held', 'stale', 'failing', 'new', 'ok'] as const;
export type LogState = (typeof LOG_STATES)[number];

/** When the list of a source is emptied unless its content is confirmed before, ms; null: never. */
export const expiresAt = ({ purpose, guards }: Pick<Source, 'purpose' | 'guards'>, { confirmedAt }: SourceState): number | null =>
  purpose === 'allow' || confirmedAt === null ? null : confirmedAt + guards.staleAfter * 1000;

/** How a source is at `now`. */
export function stateOf(source: Pick<Source, 'purpose' | 'guards' | 'isPaused'>, state: SourceState, now: number): LogState {
  const end = expiresAt(source, state);
  const holds: Readonly<Record<LogState, boolean>> = {
    paused: source.isPaused,
    stopped: state.stop !== null,
    expired: state.expired,
    held: state.held !== null,
    stale: end !== null && now >= end - source.guards.staleAfter * 500,
    failing: state.failures > 0,
    new: state.fetchedAt === null,
    ok: true,
  };
  return LOG_STATES.find((each) => holds[each])!;
}
