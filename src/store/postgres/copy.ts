import type { Connection, Submittable } from 'pg';

/** Signature and two words of the format. */
const HEADER = 19;

/** The buffer is valid only during the call; `at` is the offset of the first field. */
export type RowHandler = (row: Buffer, at: number) => void;

/**
 * Runs `COPY (…) TO STDOUT (FORMAT binary)` without an object or text per field. A field is a 32-bit big-endian length (−1 for NULL) and
 * its bytes.
 */
export class BinaryCopy implements Submittable {
  readonly done: Promise<void>;
  private readonly text: string;
  private readonly onRow: RowHandler;
  private readonly settle: PromiseWithResolvers<void> = Promise.withResolvers();
  private started = false;
  private failure: { readonly error: unknown } | undefined;

  constructor(text: string, onRow: RowHandler) {
    this.text = text;
    this.onRow = onRow;
    this.done = this.settle.promise;
  }

  // The interface of pg's client.

  submit(connection: Connection): void {
    connection.query(this.text);
  }

  /** One message per row; the first includes the header, the end is a row of −1 fields. */
  handleCopyData({ chunk }: { chunk: Buffer }): void {
    const at = this.started ? 0 : HEADER;
    this.started = true;
    if (this.failure !== undefined || at >= chunk.length || chunk.readInt16BE(at) === -1) return;
    try {
      this.onRow(chunk, at + 2);
    } catch (error) {
      this.failure = { error };
    }
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    if (this.failure === undefined) this.settle.resolve();
    else this.settle.reject(this.failure.error);
  }

  handleError(error: Error): void {
    this.settle.reject(error);
  }
}
