/** Its origin alone determines the rules of its list (SPEC D23). */
import type { Form } from '../source/readers/form.ts';

/** allow: never-block rules, such as ranges of providers and partners. */
export const SOURCE_PURPOSES = ['block', 'allow'] as const;
export type SourcePurpose = (typeof SOURCE_PURPOSES)[number];

/** How content is read; validated texts (`source/readers/`). */
export interface SourceReading {
  /** null: detected. */
  readonly format: Form | 'taxii' | 'misp-feed' | null;
  readonly paths: readonly string[];
  /** `name=value` */
  readonly condition: string | null;
  readonly collection: string | null;
  /** Name or number of the target column; null: detected. */
  readonly column: string | null;
  /** Lines to skip at the start. */
  readonly skip: number;
  /** Keys (`readSigner`), one of which must have signed the content. Empty: no signature is required (SPEC D63.8). */
  readonly signers: readonly string[];
}

/** Fetched in several responses: a TAXII collection or a MISP feed. */
export const collectionOf = ({ format, collection }: SourceReading) =>
  format === 'taxii' || format === 'misp-feed' ? { form: format, collection: collection ?? undefined } : undefined;

export const PLAIN_READING: SourceReading = {
  ...{ format: null, paths: [], condition: null, collection: null, column: null, skip: 0 },
  signers: [],
};

/** Limits that put a refresh on hold (SPEC D23.10 and following). */
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
  /** Name in JSON; with dashes, the command line option. */
  readonly field: string;
  readonly help: string;
  readonly fallback: T;
}

/** An integer range; `value`: placeholder in help texts. */
export interface NumberGuard extends Guard<number> {
  readonly value: string;
  readonly least: number;
  readonly most: number;
}

type GuardRow<K extends keyof SourceGuards> = SourceGuards[K] extends number ? NumberGuard : Guard<boolean>;

const DAY_SECONDS = 86_400;

/** A new guard needs a row here, a member above, and its check. */
export const SOURCE_GUARDS: { readonly [K in keyof SourceGuards]: GuardRow<K> } = {
  changePercent: {
    field: 'change_percent',
    value: 'percent',
    least: 1,
    most: 1_000_000,
    fallback: 50,
    help: 'maximum of entries added or removed in one refresh, %',
  },
  refusedPercent: {
    field: 'refused_percent',
    value: 'percent',
    least: 0,
    most: 100,
    fallback: 10,
    help: 'maximum of entries refused by guard rails, %; they are omitted',
  },
  faultsPercent: {
    field: 'faults_percent',
    value: 'percent',
    least: 0,
    most: 100,
    fallback: 0,
    help: 'maximum of unreadable lines, %; they are omitted',
  },
  minPrefixV4: {
    field: 'min_prefix_v4',
    value: 'bits',
    least: 0,
    most: 32,
    fallback: 8,
    help: 'shortest prefix of an IPv4 network',
  },
  minPrefixV6: {
    field: 'min_prefix_v6',
    value: 'bits',
    least: 0,
    most: 128,
    fallback: 16,
    help: 'shortest prefix of an IPv6 network',
  },
  maxEntries: { field: 'max_entries', value: 'count', least: 1, most: 4_000_000, fallback: 500_000, help: 'maximum number of entries' },
  mayBeEmpty: { field: 'may_be_empty', fallback: false, help: 'it can become empty' },
  staleAfter: {
    field: 'stale_after',
    value: 'duration',
    least: 3600,
    most: 366 * DAY_SECONDS,
    fallback: 7 * DAY_SECONDS,
    help: "when a blocking source's list is emptied because its content was not confirmed",
  },
};

export const GUARD_NAMES = Object.keys(SOURCE_GUARDS) as readonly (keyof SourceGuards)[];

export const DEFAULT_GUARDS = Object.fromEntries(
  GUARD_NAMES.map((name) => [name, SOURCE_GUARDS[name].fallback]),
) as unknown as SourceGuards;

/** Refresh interval, seconds. */
export const EVERY = { least: 300, most: 30 * DAY_SECONDS, fallback: DAY_SECONDS };

/** How a secret is sent. The secret itself is never returned. */
export const AUTH_KINDS = ['basic', 'bearer', 'header'] as const;
export type Credential = { readonly kind: 'basic' | 'bearer' } | { readonly kind: 'header'; readonly name: string };

export interface SourceSettings {
  readonly url: string;
  readonly purpose: SourcePurpose;
  /** Seconds. */
  readonly every: number;
  readonly reading: SourceReading;
  readonly guards: SourceGuards;
  readonly credential: Credential | null;
  /** Lists and feeds that this one partly copies; its list value counts only what it adds to them. */
  readonly copies: readonly string[];
  readonly catalogue: string | null;
}

export interface Source extends SourceSettings {
  readonly id: string;
  readonly workspaceId: string;
  readonly listId: string;
  readonly name: string;
  readonly isPaused: boolean;
  /** Changes with the settings, and when paused or resumed. A state of another revision is not written. */
  readonly revision: number;
  /** ms since 1970, as all instants here. */
  readonly createdAt: number;
}

/** A refresh on hold; its content is in a replacement. */
export interface RefreshOnHold {
  readonly replacement: string;
  readonly since: number;
  readonly reason: string;
  readonly digest: string;
  readonly difference: Readonly<Record<string, unknown>> | null;
}

/** Content being applied, perhaps interrupted by the end of a process. */
export interface Applying {
  readonly replacement: string;
  readonly at: number;
  /** null: empties the list, because its content was not confirmed. */
  readonly digest: string | null;
  readonly isAccepted: boolean;
  readonly hasBroad: boolean;
  readonly hasEnds?: boolean;
  /** Of the source's settings. */
  readonly revision: number;
  /** Last undo that the comparison included. */
  readonly equalSeq?: number;
}

/** Since this undo the list differs from its origin. */
export interface Undone {
  readonly batch: string;
  readonly seq: number;
  readonly at: number;
}

/** Changes of the settings reset it. */
export interface SourceState {
  readonly nextAt: number;
  /** Last valid response, unchanged ones included. */
  readonly fetchedAt: number | null;
  /** When the content was last known to match the origin. */
  readonly confirmedAt: number | null;
  readonly changedAt: number | null;
  /** SHA-256 of the applied content. */
  readonly digest: string | null;
  /** SHA-256 of the last complete response and its validators, with any outcome. */
  readonly seen: string | null;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Date of the newest signed content, s since 1970; null: none. */
  readonly signedAt: number | null;
  /** Whether the applied content ends with a line feed: without one, it may be truncated. */
  readonly endsWithLineFeed: boolean;
  /** Whether it had countries or ASNs that were accepted. */
  readonly hasBroad: boolean;
  readonly hasEnds?: boolean;
  readonly entries: number;
  /** The undo current when `entries` was counted; another value: count again. */
  readonly countedFor?: string | null;
  readonly failures: number;
  readonly fault: string | null;
  /** No fetches until resumed: the origin refused it, or its secret is missing. */
  readonly stop: 'refused' | 'secret' | null;
  readonly held: RefreshOnHold | null;
  /** SHA-256 of a content that a person discarded. */
  readonly discarded: string | null;
  readonly applying: Applying | null;
  readonly replacement: string | null;
  /** Undone refreshes since the list last matched a content; null: none. */
  readonly undone: Undone | null;
  /** Last undo that no longer counts. */
  readonly equalSeq: number;
  /** The list was emptied because its content was not confirmed in time. */
  readonly expired: boolean;
  /** Position in a TAXII collection. */
  readonly cursor: string | null;
  /** Last download, failed ones included. */
  readonly askedAt: number | null;
  /** From the server's `Retry-After`. */
  readonly until: number | null;
  /** What delays a due source, and until when; null: unknown. */
  readonly waits: { readonly for: string; readonly until: number | null } | null;
}

export const newState = (now: number): SourceState => ({
  nextAt: now,
  fetchedAt: null,
  confirmedAt: null,
  changedAt: null,
  digest: null,
  seen: null,
  etag: null,
  lastModified: null,
  signedAt: null,
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
