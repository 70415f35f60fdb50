/** The stream: a durable log of accepted signals (spec 6). */

/** `key`: workspace id; the order per key is preserved. */
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
  /** May move collected messages to another thread to free memory. */
  push(message: Message): void;
  /** Like `Stream.publish`. Ends the draft. */
  publish(): Promise<void>;
  /** No effect after `publish`. */
  discard(): void;
}

export interface Stream {
  /** Another id: the log was replaced. Rejects when unreachable. */
  id(): Promise<string>;
  /** Resolves when every message is durable. After a rejection the caller may append again. */
  publish(messages: readonly Message[]): Promise<void>;
  draft(): Draft;
  /** `start` is the oldest offset, `end` the next one. */
  bounds(partition: number): Promise<{ start: number; end: number }>;
  partitions(): Promise<number>;
  join(): Promise<StreamReader>;
  /**
   * Up to `limit` messages below `landed`: those older than `before` (ms), and the oldest above `most` bytes. Returns how many, at least 1
   * while more remain. No effect if the engine expires messages itself.
   */
  trim(partition: number, before: number, landed: number, limit: number, most?: number): Promise<number>;
  /** Rejects with a readable reason. */
  ping(): Promise<void>;
  /** Whether appending works, as far as possible without leaving a message; rejects with a readable reason. */
  probe(): Promise<void>;
  close(): Promise<void>;
}

export interface StreamReader {
  /**
   * Empty during a rebalance. Two members may own one for a while: the store's fence decides. Throws when the membership is lost: close
   * this reader and join again.
   */
  owned(): readonly number[];
  /** Up to `max` records from `offset`; waits up to `waitMs` for the first, else returns []. */
  read(partition: number, offset: number, max: number, waitMs: number): Promise<StreamRecord[]>;
  close(): Promise<void>;
}
