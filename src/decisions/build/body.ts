/** Bodies of many decisions, made piece by piece: the feed thread builds other tenants' feeds in between. */

/** Decisions of one piece. */
const PIECE = 8_192;

/** Text that is encoded as it grows. */
export class Body {
  readonly #pieces: Uint8Array[] = [];
  readonly #encoder = new TextEncoder();
  #texts: string[] = [];
  #isFirst = true;
  /** Values that were added. */
  count = 0;

  /** Adds text as it is: no value of an array. */
  raw(text: string): void {
    this.#encode();
    this.#pieces.push(this.#encoder.encode(text));
    this.#isFirst = true;
  }

  /** Adds a value of an array, behind a comma where it is not the first. */
  add(text: string): void {
    this.#texts.push(text);
    this.count += 1;
  }

  /** Whether a piece is complete. */
  get isFull(): boolean {
    return this.#texts.length >= PIECE;
  }

  /** Encodes what there is, and resolves when the thread has done what waited. */
  async flush(): Promise<void> {
    this.#encode();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }

  end(): Uint8Array<ArrayBuffer> {
    this.#encode();
    const bytes = new Uint8Array(this.#pieces.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const piece of this.#pieces.splice(0)) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }

  #encode(): void {
    if (this.#texts.length === 0) return;
    this.#pieces.push(this.#encoder.encode(`${this.#isFirst ? '' : ','}${this.#texts.join()}`));
    this.#isFirst = false;
    this.#texts = [];
  }
}
