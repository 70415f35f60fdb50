/**
 * Scans a JSON array before parsing: validity as UTF-8 JSON, and each entry's position, size and depth. Accepts pieces of any size. Linear
 * time; memory of one bit per open level.
 */
import {
  BYTE_ORDER_MARK,
  bytesOfUnit,
  hexDigit,
  MAY_END,
  NOT_UTF8,
  NOWHERE,
  numberStep,
  Place,
  SIMPLE_ESCAPES,
  State,
  TOO_SHORT,
  unexpected,
  WORDS,
} from './tokens.ts';

export interface EntrySpan {
  /** Byte offset, inclusive. */
  readonly start: number;
  /** Byte offset, exclusive. */
  readonly end: number;
  /** Bytes of JSON without white space; an escape such as `\u00e9` counts as its character. */
  readonly size: number;
  /** Levels of objects and arrays: 0 for a scalar, 1 for a flat object. */
  readonly depth: number;
  readonly isObject: boolean;
}

/** Scans one text. A class, because V8 compiles its methods once for all scanners (closures: once each). */
export class EntryScanner {
  readonly #maxEntries: number;
  #state: number = State.start;
  #fault: string | undefined;
  #before = 0;
  #isArray = false;
  #count = 0;
  /** Open levels, with one bit each: is it an object? */
  #depth = 0;
  #inObject = false;
  #levels = new Uint8Array(8);
  /** Start of the open entry (-1: none), its ignored bytes, its depth. */
  #start = -1;
  #uncounted = 0;
  #deepest = 0;
  #isObject = false;
  #isKey = false;
  /** Progress within a word, escape or number. */
  #at = 0;
  #word: readonly number[] = [];
  #codeUnit = 0;
  /** Missing bytes of a character, and the range of the next one. */
  #continuations = 0;
  #lowest = 0;
  #highest = 0;

  /** Entries beyond `maxEntries` are only counted. */
  constructor(maxEntries = Number.POSITIVE_INFINITY) {
    this.#maxEntries = maxEntries;
  }

  /** Why the text is not UTF-8 JSON, as `must be …`. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** Any other value is itself the only entry. */
  get isArray(): boolean {
    return this.#isArray;
  }

  get count(): number {
    return this.#count;
  }

  get open(): { readonly start: number; readonly size: number } | undefined {
    return this.#start < 0 ? undefined : { start: this.#start, size: this.#before - this.#start - this.#uncounted };
  }

  /** Scans the next piece. Returns the entries ending in it; none after a fault. */
  push(piece: Uint8Array): EntrySpan[] {
    const spans: EntrySpan[] = [];
    this.#take(piece, spans);
    this.#before += piece.length;
    return spans;
  }

  /** Finishes the scan. Returns a final entry without delimiter: a bare number. */
  end(): EntrySpan[] {
    const spans: EntrySpan[] = [];
    if (this.#state === State.number && this.#depth === 0 && MAY_END[this.#at]) this.#endValue(this.#before, spans);
    if (this.#state !== State.end) this.#fault ??= this.#state === State.continuation ? NOT_UTF8 : TOO_SHORT;
    return spans;
  }

  #openLevel(object: boolean): void {
    if (this.#depth >> 3 === this.#levels.length) {
      const more = new Uint8Array(this.#levels.length * 2);
      more.set(this.#levels);
      this.#levels = more;
    }
    const bit = 1 << (this.#depth & 7);
    this.#levels[this.#depth >> 3] = object ? this.#levels[this.#depth >> 3]! | bit : this.#levels[this.#depth >> 3]! & ~bit;
    this.#inObject = object;
    this.#depth += 1;
    if (this.#depth > this.#deepest) this.#deepest = this.#depth;
    this.#state = object ? State.firstKey : State.firstValue;
  }

  #closeLevel(offset: number, spans: EntrySpan[]): void {
    this.#depth -= 1;
    this.#inObject = this.#depth > 0 && ((this.#levels[(this.#depth - 1) >> 3]! >> ((this.#depth - 1) & 7)) & 1) === 1;
    this.#endValue(offset + 1, spans);
  }

  #endValue(end: number, spans: EntrySpan[]): void {
    this.#state = this.#depth === 0 ? State.end : State.afterValue;
    if (this.#start < 0 || this.#depth !== (this.#isArray ? 1 : 0)) return;
    if (this.#count < this.#maxEntries)
      spans.push({
        start: this.#start,
        end,
        size: end - this.#start - this.#uncounted,
        depth: this.#deepest - this.#depth,
        isObject: this.#isObject,
      });
    this.#count += 1;
    this.#start = -1;
  }

  /** False: no value begins with this byte. */
  #beginValue(byte: number, offset: number): boolean {
    if (this.#state === State.start && byte === 0x5b /* [ */) {
      this.#isArray = true;
      this.#openLevel(false);
      return true;
    }
    if (this.#start < 0) {
      this.#start = offset;
      this.#uncounted = 0;
      this.#deepest = this.#depth;
      this.#isObject = byte === 0x7b /* { */;
    }
    if (byte === 0x22 /* " */) {
      this.#state = State.string;
      this.#isKey = false;
    } else if (byte === 0x7b /* { */) this.#openLevel(true);
    else if (byte === 0x5b /* [ */) this.#openLevel(false);
    else if (byte === 0x2d /* - */ || (byte >= 0x30 && byte <= 0x39)) {
      this.#state = State.number;
      this.#at = byte === 0x2d ? Place.minus : byte === 0x30 ? Place.zero : Place.integer;
    } else {
      const known = WORDS.get(byte);
      if (known === undefined) return false;
      this.#state = State.word;
      this.#word = known;
      this.#at = 1;
    }
    return true;
  }

  /** Starts a non-ASCII character; false: invalid byte. */
  #beginCharacter(byte: number): boolean {
    if (byte < 0xc2 || byte > 0xf4) return false;
    this.#state = State.continuation;
    this.#continuations = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    this.#lowest = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80;
    this.#highest = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf;
    return true;
  }

  /** Scans a byte outside of plain string text; false: invalid byte. */
  #step(byte: number, offset: number, spans: EntrySpan[]): boolean {
    if (this.#state === State.number) {
      const next = numberStep(byte, this.#at);
      if (next !== NOWHERE) {
        this.#at = next;
        return true;
      }
      if (!MAY_END[this.#at]) return false;
      this.#endValue(offset, spans);
    }
    const blank = byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
    switch (this.#state) {
      case State.start:
        if (byte === BYTE_ORDER_MARK[0] && offset === 0) {
          this.#state = State.byteOrderMark;
          this.#at = 1;
          return true;
        }
        return blank || this.#beginValue(byte, offset);
      case State.byteOrderMark:
        if (byte !== BYTE_ORDER_MARK[this.#at]) return false;
        this.#at += 1;
        if (this.#at === BYTE_ORDER_MARK.length) this.#state = State.start;
        return true;
      case State.word:
        if (byte !== this.#word[this.#at]) return false;
        this.#at += 1;
        if (this.#at === this.#word.length) this.#endValue(offset + 1, spans);
        return true;
      case State.continuation:
        if (byte < this.#lowest || byte > this.#highest) return false;
        this.#lowest = 0x80;
        this.#highest = 0xbf;
        this.#continuations -= 1;
        if (this.#continuations === 0) this.#state = State.string;
        return true;
      case State.escape:
        this.#at = 0;
        this.#codeUnit = 0;
        this.#state = byte === 0x75 /* u */ ? State.hex : State.string;
        return this.#state === State.hex || SIMPLE_ESCAPES.has(byte);
      case State.hex: {
        const digit = hexDigit(byte);
        if (digit < 0) return false;
        this.#codeUnit = this.#codeUnit * 16 + digit;
        this.#at += 1;
        if (this.#at === 4) {
          this.#uncounted += 6 - bytesOfUnit(this.#codeUnit);
          this.#state = State.string;
        }
        return true;
      }
    }
    if (blank) {
      this.#uncounted += 1;
      return true;
    }
    switch (this.#state) {
      case State.firstValue:
        if (byte === 0x5d /* ] */) {
          this.#closeLevel(offset, spans);
          return true;
        }
        return this.#beginValue(byte, offset);
      case State.value:
        return this.#beginValue(byte, offset);
      case State.afterValue:
        if (byte === 0x2c /* , */) this.#state = this.#inObject ? State.key : State.value;
        else if (byte === (this.#inObject ? 0x7d /* } */ : 0x5d) /* ] */) this.#closeLevel(offset, spans);
        else return false;
        return true;
      case State.firstKey:
      case State.key:
        if (byte === 0x22 /* " */) {
          this.#isKey = true;
          this.#state = State.string;
          return true;
        }
        if (byte !== 0x7d /* } */ || this.#state === State.key) return false;
        this.#closeLevel(offset, spans);
        return true;
      case State.colon:
        this.#state = State.value;
        return byte === 0x3a /* : */;
      default:
        return false;
    }
  }

  /** A separate function ending with its loop: V8 optimizes a running loop, but deoptimizes at unexecuted code behind it. */
  #take(piece: Uint8Array, spans: EntrySpan[]): void {
    for (let i = 0; this.#fault === undefined && i < piece.length; i += 1) {
      let byte = piece[i]!;
      if (this.#state === State.string) {
        while (byte !== 0x22 /* " */ && byte !== 0x5c /* \ */ && byte >= 0x20 && byte < 0x80) {
          i += 1;
          if (i === piece.length) return;
          byte = piece[i]!;
        }
        if (byte === 0x5c) this.#state = State.escape;
        else if (byte >= 0x80) {
          if (!this.#beginCharacter(byte)) this.#fault = NOT_UTF8;
        } else if (byte < 0x20) this.#fault = unexpected(byte, this.#before + i);
        else if (this.#isKey) this.#state = State.colon;
        else this.#endValue(this.#before + i + 1, spans);
      } else if (!this.#step(byte, this.#before + i, spans)) {
        this.#fault = this.#state === State.continuation ? NOT_UTF8 : unexpected(byte, this.#before + i);
      }
    }
  }
}
