/** The stream: a durable log of accepted signals (spec 6). Types only; `streamConformance` is run by every driver. */

/** One message to append: `key` is the workspace id, the order per key is kept (spec 6). */
export interface Message {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: string;
}

/** One message as read back. `offset` counts per partition; `timestamp` is ms since 1970. */
export interface StreamRecord extends Message {
  readonly offset: number;
  readonly timestamp: number;
}

/** A batch that is gathered message by message and appended as one. */
export interface Draft {
  /** Messages gathered so far. */
  readonly length: number;
  /** Adds a message at the end. A driver may hand what it has gathered to another thread, so that this one need not hold it. */
  push(message: Message): void;
  /** Appends the batch as `Stream.publish` does. The draft cannot be used again. */
  publish(): Promise<void>;
  /** Forgets a batch that is not to be published; after `publish` it does nothing. */
  discard(): void;
}

/** A durable, partitioned log of messages. */
export interface Stream {
  /** Names this very log: another id under the same settings means that the log was replaced. Rejects when unreachable. */
  id(): Promise<string>;
  /** Appends in order; resolves only when every message is durable. Rejects when not, and the caller may append again. */
  publish(messages: readonly Message[]): Promise<void>;
  /** An empty batch, which `publish` or `discard` has to end. */
  draft(): Draft;
  /** Offsets of one partition: `start` is the oldest kept, `end` the one the next message gets. */
  bounds(partition: number): Promise<{ start: number; end: number }>;
  /** Number of partitions. */
  partitions(): Promise<number>;
  /** Joins the group of consumers. */
  join(): Promise<StreamReader>;
  /**
   * Deletes messages older than `before` (ms), and the oldest of more than `most` bytes, never at or above `landed`; at most `limit`. Returns how
   * many, 1 at least while there is more to do. A no-op where the engine expires by itself.
   */
  trim(partition: number, before: number, landed: number, limit: number, most?: number): Promise<number>;
  /** Rejects with a readable reason when the stream does not answer. */
  ping(): Promise<void>;
  /** Finds out, as far as the engine can without leaving a message, whether one could be appended; rejects with a readable reason. */
  probe(): Promise<void>;
  close(): Promise<void>;
}

/** One member of the group of consumers. */
export interface StreamReader {
  /** The partitions that this member owns now; empty while a rebalance runs. Two members may believe they own the same one for a while: the store's fence decides. Throws when the membership is lost for good: close this reader and join again. */
  owned(): readonly number[];
  /** Up to `max` records from `offset` on; waits up to `waitMs` for the first one, then answers []. */
  read(partition: number, offset: number, max: number, waitMs: number): Promise<StreamRecord[]>;
  close(): Promise<void>;
}
