/** What the store keeps of the networks that bouncers were told (SPEC D14.6): entries of 10 bytes (IPv4) or 22 (IPv6). */
import { isV4, type NetworkKey } from './network-key.ts';

/** A network that bouncers were told until a second, or that went at one. */
export interface ToldEntry {
  readonly key: NetworkKey;
  readonly isGone: boolean;
  /** Whole seconds. */
  readonly second: number;
}

const GONE = 1;
const V6 = 2;
/** The flags before the key, the second behind it. */
const FLAGS = 1;
const SECOND = 4;
const KEY_V4 = 5;
const KEY_V6 = 17;

/** Writes entries one after the other. */
export class ToldWriter {
  #bytes = Buffer.alloc(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(key: NetworkKey, isGone: boolean, second: number): void {
    const needed = this.#length + FLAGS + key.length + SECOND;
    if (needed > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], 2 * needed);
    this.#bytes[this.#length] = (isGone ? GONE : 0) | (isV4(key) ? 0 : V6);
    this.#bytes.write(key, this.#length + FLAGS, 'latin1');
    this.#bytes.writeUInt32BE(second >>> 0, needed - SECOND);
    this.#length = needed;
  }

  /** All entries, in bytes of their own. */
  end(): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(this.#bytes.subarray(0, this.#length));
  }
}

/** The entries in the order in which they were written. */
export function* readTold(bytes: Uint8Array): Generator<ToldEntry> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < buffer.length; ) {
    const flags = buffer[at];
    const behind = at + FLAGS + (flags & V6 ? KEY_V6 : KEY_V4);
    yield { key: buffer.toString('latin1', at + FLAGS, behind), isGone: (flags & GONE) !== 0, second: buffer.readUInt32BE(behind) };
    at = behind + SECOND;
  }
}
