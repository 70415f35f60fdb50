import type { Page, PageRequest } from './account-store.ts';

/** Decisions that a process sent to the bouncers of a feed. Format: `decisions/build/decision-log-codec.ts`. */
export interface LogRow {
  readonly seq: number;
  readonly bytes: Uint8Array;
}

export interface NewLogRow {
  readonly bytes: Uint8Array;
  /** Whether it replaces all rows up to `through`. */
  readonly isComplete: boolean;
  readonly through: number;
  /** ms */
  readonly at: number;
}

/** Limits for each process and for the store. */
export const MOST_BOUNCERS = { ofWorkspace: 5_000, inAll: 20_000 };

/** Limit of the decision logs of a workspace, bytes. */
export const MOST_LOG_BYTES = 256 * 1024 * 1024;

/** A client with a key, identified by its User-Agent and address. */
export interface Bouncer {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly userAgent: string;
  readonly address: string;
  /** The list or composed feed of its key; null: the workspace's feed. */
  readonly feedId: string | null;
  /** ms */
  readonly firstSeen: number;
  readonly lastPull: number;
  /** At its last poll: decisions of its feed, networks among them, networks left out. */
  readonly decisions: number;
  readonly networks: number;
  readonly leftOutNetworks: number;
  readonly leftOutAddresses: number;
  /** Last usage metrics that it sent (JSON), and when (ms). */
  readonly metrics: string | null;
  readonly metricsAt: number | null;
  /** Its last report of what its firewall has; null: none. */
  readonly enforced: Enforced | null;
  /** When a report last said that the firewall has other networks than its feed, ms; null: none has. */
  readonly differedAt: number | null;
  /** Last poll of the stream, ms; null: it only does lookups. */
  readonly lastStream: number | null;
  /** Status of its latest consecutive refused polls, since when (ms), and how many; null: the last poll succeeded (SPEC D45.3). */
  readonly refusal: { readonly status: number; readonly since: number; readonly count: number } | null;
}

/** What a bouncer has read back from its firewall (SPEC D50.6). */
export interface Enforced {
  /** ms */
  readonly at: number;
  /** Networks. */
  readonly count: number;
  /** Whether they are those of the version that it names; `unknown`: this process has not sent that version lately. */
  readonly verdict: 'same' | 'different' | 'unknown';
}

export interface BouncerReads {
  /** The decision log of a feed after this row (0: all), oldest first. */
  logRecords(workspaceId: string, feedId: string | null, after: number): Promise<LogRow[]>;
  /** Sorted by key, name and address. A place is `key address name`. */
  bouncerPage(workspaceId: string, page: PageRequest): Promise<Page<Bouncer>>;
}

/** The number of the new row, and the feeds whose log was dropped for it (null: the workspace's). */
export interface RecordedLog {
  readonly seq: number;
  readonly forgotten: readonly (string | null)[];
}

export interface BouncerWrites {
  /** Appends a row. Above `most` bytes per workspace (default MOST_TOLD) it drops the logs of other feeds, least recently polled first. */
  recordLog(workspaceId: string, feedId: string | null, row: NewLogRow, most?: number): Promise<RecordedLog>;
  /** Stores these bouncers; null `metrics`, `enforced`, `differedAt` or `lastStream` leave stored values unchanged. */
  recordBouncers(bouncers: readonly Bouncer[]): Promise<void>;
  /**
   * Deletes bouncers not seen since `before` (ms). Above `most` (default MOST_BOUNCERS) it deletes the least recently seen ones of the
   * workspaces and keys with the most.
   */
  forgetBouncers(before: number, most?: typeof MOST_BOUNCERS): Promise<void>;
}
