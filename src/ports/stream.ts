/** The stream: a durable log of accepted signals (spec 6). */

/** `key` is the workspace id; the order per key is preserved (spec 6). */
export interface Message {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: string;
}

/** `offset` counts per partition; `timestamp` in ms. */
export interface StreamRecord extends Message {
  readonly offset: number;
  readonly timestamp: number;
}

export interface Draft {
  readonly length: number;
  /** A driver may move collected messages to another thread to free memory. */
  push(message: Message): void;
  /** Appends the batch like `Stream.publish`. Ends the draft. */
  publish(): Promise<void>;
  /** Drops the batch; no effect after `publish`. */
  discard(): void;
}

export interface Stream {
  /** Identifies this log: another id means that the log was replaced. Rejects when unreachable. */
  id(): Promise<string>;
  /** Appends in order; resolves when every message is durable. After a rejection the caller may append again. */
  publish(messages: readonly Message[]): Promise<void>;
  draft(): Draft;
  /** `start` is the oldest offset, `end` the next one. */
  bounds(partition: number): Promise<{ start: number; end: number }>;
  partitions(): Promise<number>;
  join(): Promise<StreamReader>;
  /**
   * Deletes up to `limit` messages below `landed`: those older than `before` (ms), and the oldest ones above `most` bytes. Returns how
   * many, at least 1 while more remain. No effect if the engine expires messages itself.
   */
  trim(partition: number, before: number, landed: number, limit: number, most?: number): Promise<number>;
  /** Rejects with a readable reason if the stream does not answer. */
  ping(): Promise<void>;
  /** Checks as far as possible, without leaving a message, that appending works; rejects with a readable reason. */
  probe(): Promise<void>;
  close(): Promise<void>;
}

export interface StreamReader {
  /**
   * The partitions of this member; empty during a rebalance. Two members may own the same one for a while: the store's fence decides.
   * Throws when the membership is lost: close this reader and join again.
   */
  owned(): readonly number[];
  /** Up to `max` records from `offset`; waits up to `waitMs` for the first, else returns []. */
  read(partition: number, offset: number, max: number, waitMs: number): Promise<StreamRecord[]>;
  close(): Promise<void>;
}
