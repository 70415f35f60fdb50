import type { Histogram } from '../histogram.ts';
import type { Kind } from '../rule.ts';

export type RequestLimit = `${string}_requests`;

export type LimitName =
  | RequestLimit
  | 'entries'
  | 'body_bytes'
  | 'failed_authentications'
  | 'key_look_ups'
  | 'connections'
  | 'connections_per_address';

/** `refused`: the whole batch got a 400. `not_published`: the stream failed. */
export type EntryOutcome = 'accepted' | 'failed' | 'refused' | 'not_published' | 'dry_run';

/** `unknown`: the entry names no kind, or was not read. */
export type EntryKind = Kind | 'unknown';

/** By an IPv4 address, an IPv6 /64, or the overflow group. */
export interface Failures {
  readonly source: string;
  readonly count: number;
}

export interface HttpCounts {
  /** Seconds by route and status. Status 0: the client disconnected before the response. */
  readonly requests: Map<string, Map<number, Histogram>>;
  readonly entries: ReadonlyMap<EntryKind, Record<EntryOutcome, number>>;
  /** By list UUID. */
  readonly listEntries: Map<string, number>;
  /** Reported by bouncers (SPEC D31.4), by list UUID. */
  readonly listHits: Map<string, number>;
  readonly limited: Record<LimitName, number>;
  failedAuthentications: number;
  /** In memory, and the bytes reserved for them. */
  bodies: number;
  bodyBytes: number;
  connections: number;
}
