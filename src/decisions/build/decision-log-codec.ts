/**
 * Entries of 10 bytes (IPv4) or 22 (IPv6), 4 more with a name's number (SPEC D14.6, D31.4). A name precedes the first entry that uses it.
 */
import { type DecisionKey, decisionKey, isV4, nameOf, networkKey } from './network-key.ts';

/** A network published until a second, or deleted at a second. */
export interface LogEntry {
  readonly key: DecisionKey;
  readonly isDeleted: boolean;
  /** Whole seconds. */
  readonly second: number;
}

const DELETED = 1;
const V6 = 2;
const NAMED = 4;
/** Marks a name instead of a network: two bytes of length, then the text. */
const NAME = 8;
/** Bytes of the flags before the key, and of the second and name number after it. */
const FLAGS = 1;
const SECOND = 4;
const NUMBER = 4;
const LENGTH = 2;
const KEY_V4 = 5;
const KEY_V6 = 17;

export class LogWriter {
  #bytes = Buffer.alloc(1024);
  #length = 0;
  /** Numbers of the names written so far. */
  readonly #names = new Map<string, number>();

  get length(): number {
    return this.#length;
  }

  add(key: DecisionKey, isDeleted: boolean, second: number): void {
    const name = nameOf(key);
    const number = name === '' ? undefined : this.#numberOf(name);
    const network = networkKey(key);
    const behind = this.#length + FLAGS + network.length;
    this.#reserve(FLAGS + network.length + SECOND + NUMBER);
    this.#bytes[this.#length] = (isDeleted ? DELETED : 0) | (isV4(key) ? 0 : V6) | (number === undefined ? 0 : NAMED);
    this.#bytes.write(network, this.#length + FLAGS, 'latin1');
    this.#length = this.#bytes.writeUInt32BE(second >>> 0, behind);
    if (number !== undefined) this.#length = this.#bytes.writeUInt32BE(number, this.#length);
  }

  /** A copy of all entries. */
  end(): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(this.#bytes.subarray(0, this.#length));
  }

  #numberOf(name: string): number {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const text = Buffer.from(name);
    this.#reserve(FLAGS + LENGTH + text.length);
    this.#bytes[this.#length] = NAME;
    this.#length = this.#bytes.writeUInt16BE(text.length, this.#length + FLAGS);
    this.#length += text.copy(this.#bytes, this.#length);
    const number = this.#names.size;
    this.#names.set(name, number);
    return number;
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], 2 * needed);
  }
}

/** In write order. */
export function* readLog(bytes: Uint8Array): Generator<LogEntry> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const names: string[] = [];
  for (let at = 0; at < buffer.length; ) {
    const flags = buffer[at];
    if (flags & NAME) {
      const text = at + FLAGS + LENGTH;
      at = text + buffer.readUInt16BE(at + FLAGS);
      names.push(buffer.toString('utf8', text, at));
      continue;
    }
    const behind = at + FLAGS + (flags & V6 ? KEY_V6 : KEY_V4);
    const network = buffer.toString('latin1', at + FLAGS, behind);
    const isNamed = (flags & NAMED) !== 0;
    const name = isNamed ? names[buffer.readUInt32BE(behind + SECOND)]! : '';
    yield { key: decisionKey(network, name), isDeleted: (flags & DELETED) !== 0, second: buffer.readUInt32BE(behind) };
    at = behind + SECOND + (isNamed ? NUMBER : 0);
  }
}
