import type { Connection, Submittable } from 'pg';

/** The signature and two words before the first row of the format. */
const HEADER = 19;

/** Takes one row: a buffer, valid only during the call, and where the row's first field begins in it. */
export type RowHandler = (row: Buffer, at: number) => void;

/**
 * Runs `COPY (…) TO STDOUT (FORMAT binary)` and hands over each row as it comes off the wire, without an object or a text a field.
 * A field is a 32-bit length (−1 for NULL) and that many bytes, most significant first.
 */
export class BinaryCopy implements Submittable {
  /** Settles when the server has sent everything, and the handler has taken it. */
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

  // What follows is called by pg's client.

  submit(connection: Connection): void {
    connection.query(this.text);
  }

  /** One message a row; the header comes with the first, the end is a row of −1 fields. */
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
