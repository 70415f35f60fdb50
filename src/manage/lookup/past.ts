/** Look-ups in the archive, and differences of feeds (SPEC D61.4, D61.9). */
import type { DifferenceAsked, FeedDifference } from '../../feed/whatif/difference/difference.ts';
import type { AccessAction, Target } from '../../rule.ts';
import type { FeedJson } from './explanation.ts';

export interface PastLookUp {
  readonly workspaceId: string;
  /** An address or a network. */
  readonly target: Target;
  readonly action: AccessAction;
  /** Id or name, at that time. */
  readonly feed?: string | undefined;
  /** ms */
  readonly at: number;
  /** Rules per feed; undefined: all. */
  readonly most?: number | undefined;
}

export interface PastFeed extends FeedJson {
  readonly rules_left_out: number;
  readonly frozen_since: string | null;
}

export interface PastAnswer {
  readonly target: string;
  readonly action: AccessAction;
  readonly at: string;
  /** Versions of the geo data then. */
  readonly geo: { readonly country: string; readonly asn: string };
  readonly feeds: readonly PastFeed[];
  readonly feeds_left_out: number;
  readonly dropped: readonly never[];
}

export interface PastDifferenceAsked extends Omit<DifferenceAsked, 'replaced'> {
  readonly workspaceId: string;
}

export interface PastDifference extends FeedDifference {
  /** At one of the moments; null: not frozen. */
  readonly frozenSince: string | null;
}

/** Runs outside the main thread. Rejects with LIMITED if the queue is full, and with REFUSED if the archive does not have that moment. */
export interface PastReader {
  lookUp(asked: PastLookUp): Promise<PastAnswer>;
  difference(asked: PastDifferenceAsked): Promise<PastDifference>;
}
