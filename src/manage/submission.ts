/** Signals that management sends: judged and published by the same code as those of `POST /v2/signal`. Types only. */
import type { Caller } from '../account/caller.ts';

/** A batch of signals for the workspace of a caller. */
export interface SignalBatch {
  readonly version: 1 | 2;
  readonly caller: Caller;
  /** Where access rules land, by UUID or name; undefined: the default list. */
  readonly list: string | undefined;
  /** A JSON array. */
  readonly body: Buffer;
}

/** What became of a batch that was taken, wholly or in part (spec 2.5). */
export interface TakenBatch {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** null: nothing of it is on the stream. */
  readonly batchId: string | null;
}

/** Why a batch was refused as a whole. */
export interface RefusedBatch {
  readonly status: number;
  readonly message: string;
  /** Seconds after which it may be sent again, where that is why. */
  readonly retryAfter: number | undefined;
}

/** What batches would change of feeds (SPEC D10.14): the fields of the answer to a dry run. */
export interface FeedFields {
  readonly feeds?: unknown;
  readonly feeds_left_out?: number;
  readonly feeds_reason?: string;
}

export interface Submission {
  submit(batch: SignalBatch): Promise<TakenBatch | RefusedBatch>;
  /** Judges batches of one caller and list without publishing them, and counts what all of them together would change of feeds. */
  preview(
    batches: readonly SignalBatch[],
  ): Promise<{ readonly results: readonly (TakenBatch | RefusedBatch)[]; readonly feeds: FeedFields }>;
}
