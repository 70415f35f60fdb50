/** What the HTTP layer counts for the metrics: plain numbers, which are read when somebody asks. Types only. */
import type { Histogram } from '../histogram.ts';
import type { Kind } from '../rule.ts';

/** The limit of requests of a group of addresses. */
export type RequestLimit = `${string}_requests`;

/** The limits that are answered with 429, or at which a connection is closed. */
export type LimitName =
  | RequestLimit
  | 'entries'
  | 'body_bytes'
  | 'failed_authentications'
  | 'key_look_ups'
  | 'connections'
  | 'connections_per_address';

/** What became of an entry. `refused`: its whole batch was, with 400. `not_published`: the stream did not take it. */
export type EntryOutcome = 'accepted' | 'failed' | 'refused' | 'not_published' | 'dry_run';

/** The kind of an entry; `unknown` where it names none, or was not looked at. */
export type EntryKind = Kind | 'unknown';

/** How many wrong keys came from one source: an IPv4 address, an IPv6 /64, or everybody who did not fit in. */
export interface Failures {
  readonly source: string;
  readonly count: number;
}

/** What has happened since the start of the process, and what is open now. */
export interface HttpCounts {
  /** How long requests took, seconds, by route and status. Status 0: the client went away before there was an answer. */
  readonly requests: Map<string, Map<number, Histogram>>;
  readonly entries: ReadonlyMap<EntryKind, Record<EntryOutcome, number>>;
  /** Accepted entries for access rules, by the UUID of the list where they land. */
  readonly listEntries: Map<string, number>;
  /** Packets and requests that bouncers told to have dropped (SPEC D31.4), by the UUID of the list. */
  readonly listHits: Map<string, number>;
  readonly limited: Record<LimitName, number>;
  /** Wrong keys. */
  failedAuthentications: number;
  /** Request bodies in memory now, and the bytes that are held for them. */
  bodies: number;
  bodyBytes: number;
  /** Connections that are open now. */
  connections: number;
}
