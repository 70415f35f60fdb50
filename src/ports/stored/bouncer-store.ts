import type { Page, PageRequest } from './account-store.ts';

/** Format: `decisions/build/decision-log-codec.ts`. */
export interface LogRow {
  readonly seq: number;
  readonly bytes: Uint8Array;
}

export interface NewLogRow {
  readonly bytes: Uint8Array;
  /** Replaces all rows up to `through`. */
  readonly isComplete: boolean;
  readonly through: number;
  /** ms */
  readonly at: number;
}

export const MOST_BOUNCERS = { ofWorkspace: 5_000, inAll: 20_000 };

/** Bytes per workspace. */
export const MOST_LOG_BYTES = 256 * 1024 * 1024;

/** Identified by key, User-Agent and address. */
export interface Bouncer {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly userAgent: string;
  readonly address: string;
  /** Of its key; null: the workspace's. */
  readonly feedId: string | null;
  /** ms */
  readonly firstSeen: number;
  readonly lastPull: number;
  /** At its last poll, with networks among them, and those left out. */
  readonly decisions: number;
  readonly networks: number;
  readonly leftOutNetworks: number;
  readonly leftOutAddresses: number;
  /** JSON, and when (ms). */
  readonly metrics: string | null;
  readonly metricsAt: number | null;
  /** null: none. */
  readonly enforced: Enforced | null;
  /** Its last report of other networks than its feed, ms; null: none. */
  readonly differedAt: number | null;
  /** ms; null: it only does lookups. */
  readonly lastStream: number | null;
  /** Latest consecutive refused polls: status, start (ms), number; null: the last poll succeeded (SPEC D45.3). */
  readonly refusal: { readonly status: number; readonly since: number; readonly count: number } | null;
}

/** What a bouncer has read back from its firewall (SPEC D50.6). */
export interface Enforced {
  /** ms */
  readonly at: number;
  /** Networks. */
  readonly count: number;
  /** Of the version that it names; `unknown`: this process has not sent that lately. */
  readonly verdict: 'same' | 'different' | 'unknown';
}

export interface BouncerReads {
  /** After this row (0: all), oldest first. */
  logRecords(workspaceId: string, feedId: string | null, after: number): Promise<LogRow[]>;
  /** A place is `key address name`, and so the order. */
  bouncerPage(workspaceId: string, page: PageRequest): Promise<Page<Bouncer>>;
}

/** Feeds whose log was dropped for it; null: the workspace's. */
export interface RecordedLog {
  readonly seq: number;
  readonly forgotten: readonly (string | null)[];
}

export interface BouncerWrites {
  /** Above `most` bytes per workspace (default MOST_LOG_BYTES) drops the logs of other feeds, least recently polled first. */
  recordLog(workspaceId: string, feedId: string | null, row: NewLogRow, most?: number): Promise<RecordedLog>;
  /** Stores these bouncers; null `metrics`, `enforced`, `differedAt` or `lastStream` leave stored values unchanged. */
  recordBouncers(bouncers: readonly Bouncer[]): Promise<void>;
  /**
   * Deletes bouncers not seen since `before` (ms). Above `most` (default MOST_BOUNCERS) it deletes the least recently seen ones of the
   * workspaces and keys with the most.
   */
  forgetBouncers(before: number, most?: typeof MOST_BOUNCERS): Promise<void>;
}
