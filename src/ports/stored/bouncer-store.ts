/** The store of bouncers: who pulls decisions, and what they were told. Types only; `storeConformance` is run by every driver. */
import type { Page, PageRequest } from './account-store.ts';

/** What a process has told the bouncers of a feed; the bytes are `decisions/build/decision-log-codec.ts`'s. */
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

/** How many bouncers are known of one workspace, and in all: in each process, and in the store. */
export const MOST_BOUNCERS = { ofWorkspace: 5_000, inAll: 20_000 };

/** Bytes of what the bouncers of all feeds of a workspace were told. */
export const MOST_TOLD = 256 * 1024 * 1024;

/** A bouncer: one client with a key, by what it calls itself and where it is. */
export interface Bouncer {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly userAgent: string;
  readonly address: string;
  /** The list or composed feed that its key is bound to; null: the workspace's feed. */
  readonly feedId: string | null;
  /** ms */
  readonly firstSeen: number;
  readonly lastPull: number;
  /** Decisions of its feed at its last pull, how many of these are networks, and what was left out of them. */
  readonly decisions: number;
  readonly networks: number;
  readonly leftOutNetworks: number;
  readonly leftOutAddresses: number;
  /** The last usage metrics that it has sent, as JSON, and when (ms). */
  readonly metrics: string | null;
  readonly metricsAt: number | null;
  /** When it pulled the stream last, ms; null: it has only looked addresses up. */
  readonly lastStream: number | null;
}

export interface BouncerReads {
  /** What the bouncers of a feed were told, oldest first: the rows after this one (0: all). */
  told(workspaceId: string, feedId: string | null, after: number): Promise<LogRow[]>;
  /** A page of the bouncers of a workspace, by key, name and address. A place is a key, an address and a name, with spaces between them. */
  bouncerPage(workspaceId: string, page: PageRequest): Promise<Page<Bouncer>>;
}

/** What came of recording: the number of the row, and the feeds of which all was forgotten for it (null: the workspace's). */
export interface RecordedLog {
  readonly seq: number;
  readonly forgotten: readonly (string | null)[];
}

export interface BouncerWrites {
  /**
   * Adds a row behind the others. Where the workspace then has more than `most` bytes (MOST_TOLD), what was told of the feeds that nobody
   * has pulled for longest is forgotten, of others than this one.
   */
  recordLog(workspaceId: string, feedId: string | null, row: NewLogRow, most?: number): Promise<RecordedLog>;
  /**
   * Notes these bouncers, also with metrics or `lastStream` null where there are older ones: those stay. Forgets those not seen since `before` (ms), and where
   * they are more than `most` (MOST_BOUNCERS), of the workspaces and keys with most of them those that were seen longest ago.
   */
  recordBouncers(bouncers: readonly Bouncer[], before: number, most?: typeof MOST_BOUNCERS): Promise<void>;
}
