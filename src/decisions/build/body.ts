/** Builds large JSON bodies in chunks, so the feed thread can serve others in between. */

const PIECE = 8_192;

export class Body {
  readonly #pieces: Uint8Array[] = [];
  readonly #encoder = new TextEncoder();
  #texts: string[] = [];
  #isFirst = true;
  count = 0;

  /** Appends text verbatim, outside of any array. */
  raw(text: string): void {
    this.#encode();
    this.#pieces.push(this.#encoder.encode(text));
    this.#isFirst = true;
  }

  /** Appends to the array, with a comma if it is not the first. */
  add(text: string): void {
    this.#texts.push(text);
    this.count += 1;
  }

  get isFull(): boolean {
    return this.#texts.length >= PIECE;
  }

  /** Encodes the pending values, then yields to other work. */
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
