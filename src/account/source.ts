/** A source: a list with an origin, which alone says what the list has (SPEC D23). What is set of one, and how it is. */
import type { Form } from '../source/readers/form.ts';

/** Whether its list blocks, or is never blocked (ranges of providers and partners). */
export const SOURCE_PURPOSES = ['block', 'allow'] as const;
export type SourcePurpose = (typeof SOURCE_PURPOSES)[number];

/** How its content is read, as texts that were checked (`source/readers/`). */
export interface SourceReading {
  /** null: found out. */
  readonly format: Form | 'taxii' | 'misp-feed' | null;
  readonly paths: readonly string[];
  /** `name=value` */
  readonly condition: string | null;
  /** Of a TAXII server. */
  readonly collection: string | null;
  /** The name or number of the column that has the targets; null: found out. */
  readonly column: string | null;
  /** Lines at the beginning that are not read. */
  readonly skip: number;
}

/** What is fetched as several answers: a collection of TAXII, or a feed of MISP. */
export const collectionOf = ({ format, collection }: SourceReading) =>
  format === 'taxii' || format === 'misp-feed' ? { form: format, collection: collection ?? undefined } : undefined;

/** A reading that finds everything out. */
export const PLAIN_READING: SourceReading = { format: null, paths: [], condition: null, collection: null, column: null, skip: 0 };

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
  readonly hasEnds?: boolean;
  /** Of the source that it was read for. */
  readonly revision: number;
  /** Undos of its list up to this number were there when it was compared. */
  readonly equalSeq?: number;
}

/** An undo in the list of a source, since which the list is not what its origin has. */
export interface Undone {
  readonly batch: string;
  /** Its number on the stream. */
  readonly seq: number;
  readonly at: number;
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
  /** Whether entries of it end by themselves. */
  readonly hasEnds?: boolean;
  /** Of its list. */
  readonly entries: number;
  /** The undo that stood when they were counted; another text: they are counted again. */
  readonly countedFor?: string | null;
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
  /** What was undone of its refreshes since the list was made equal to a content, in part or whole; null: they stand. */
  readonly undone: Undone | null;
  /** Undos of its list up to this number no longer count. */
  readonly equalSeq: number;
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
  countedFor: null,
  failures: 0,
  fault: null,
  stop: null,
  held: null,
  discarded: null,
  applying: null,
  replacement: null,
  undone: null,
  equalSeq: 0,
  expired: false,
  cursor: null,
  askedAt: null,
  until: null,
  waits: null,
});
