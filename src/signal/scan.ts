/**
 * Judges the bytes of a JSON array before anything is built from them: whether they are JSON in UTF-8, where each entry begins and
 * ends, and how large and how deep it is. The bytes may come in pieces of any size; the time is linear in their number. A scanner
 * keeps one bit for each level that is open, and nothing else of what it has seen.
 */

/** Where an entry stands and what it would cost to parse. */
export interface EntrySpan {
  /** Bytes of the text before the entry. */
  readonly start: number;
  /** Bytes of the text up to the end of the entry. */
  readonly end: number;
  /** Bytes of its JSON, without white space between tokens; an escape such as `\u00e9` counts as the character it stands for. */
  readonly size: number;
  /** Levels of objects and arrays: 0 for a scalar, 1 for a flat object. */
  readonly depth: number;
  readonly isObject: boolean;
}

export interface EntryScanner {
  /** Takes the next piece of the text. Returns the entries that end in it; none once there is a fault. */
  push(piece: Uint8Array): EntrySpan[];
  /** Takes note that the text ends here; then `fault` is known. Returns an entry that only the end of the text ends: a bare number. */
  end(): EntrySpan[];
  /** Why the text is not JSON in UTF-8, as `must be …`; undefined while there is nothing wrong with it. */
  readonly fault: string | undefined;
  /** Whether the text is an array. Any other value is the only entry itself. */
  readonly isArray: boolean;
  /** Entries that have ended. */
  readonly count: number;
  /** The entry that has begun but not ended: where it begins, and its size so far. */
  readonly open: { readonly start: number; readonly size: number } | undefined;
}

/** What the next byte may be. */
const State = {
  start: 0,
  byteOrderMark: 1,
  value: 2,
  firstValue: 3,
  afterValue: 4,
  key: 5,
  firstKey: 6,
  colon: 7,
  string: 8,
  continuation: 9,
  escape: 10,
  hex: 11,
  word: 12,
  number: 13,
  end: 14,
} as const;

/** Where in a number the next byte stands: behind the minus, a leading zero, digits, the point and so on. */
const Place = { minus: 0, zero: 1, integer: 2, point: 3, fraction: 4, e: 5, sign: 6, exponent: 7 } as const;
const NOWHERE = -1;
/** Where each kind of byte leads from each place in a number. */
const AFTER_DIGIT = [2, NOWHERE, 2, 4, 4, 7, 7, 7];
const AFTER_POINT = [NOWHERE, 3, 3, NOWHERE, NOWHERE, NOWHERE, NOWHERE, NOWHERE];
const AFTER_E = [NOWHERE, 5, 5, NOWHERE, 5, NOWHERE, NOWHERE, NOWHERE];
const AFTER_SIGN = [NOWHERE, NOWHERE, NOWHERE, NOWHERE, NOWHERE, 6, NOWHERE, NOWHERE];
const MAY_END = [false, true, true, false, true, false, false, true];

const bytesOf = (text: string): readonly number[] => [...text].map((character) => character.charCodeAt(0));
const WORDS = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), bytesOf(word)]));
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const SIMPLE_ESCAPES = new Set(bytesOf('"\\/bfnrt'));

const NOT_UTF8 = 'must be JSON in UTF-8';
const TOO_SHORT = 'must be valid JSON: it ends too early';

/** A scanner at the beginning of a text. Entries behind the first `maxEntries` are counted, but not returned. */
export function createEntryScanner(maxEntries = Number.POSITIVE_INFINITY): EntryScanner {
  let state: number = State.start;
  let fault: string | undefined;
  /** Bytes of the pieces before this one. */
  let before = 0;
  let isArray = false;
  let count = 0;
  /** Levels that are open, and one bit for each that says whether it is an object. */
  let depth = 0;
  let inObject = false;
  let levels = new Uint8Array(8);
  /** Where the open entry begins, -1 when none is open; the bytes of it that do not count; its deepest level. */
  let start = -1;
  let uncounted = 0;
  let deepest = 0;
  let isObject = false;
  let isKey = false;
  /** Progress within a word, an escape or a number. */
  let at = 0;
  let word: readonly number[] = [];
  let codeUnit = 0;
  /** Bytes of a character that are still to come, and the range of the next one. */
  let continuations = 0;
  let lowest = 0;
  let highest = 0;

  function openLevel(object: boolean): void {
    if (depth >> 3 === levels.length) {
      const more = new Uint8Array(levels.length * 2);
      more.set(levels);
      levels = more;
    }
    const bit = 1 << (depth & 7);
    levels[depth >> 3] = object ? levels[depth >> 3]! | bit : levels[depth >> 3]! & ~bit;
    inObject = object;
    depth += 1;
    if (depth > deepest) deepest = depth;
    state = object ? State.firstKey : State.firstValue;
  }

  function closeLevel(offset: number, spans: EntrySpan[]): void {
    depth -= 1;
    inObject = depth > 0 && ((levels[(depth - 1) >> 3]! >> ((depth - 1) & 7)) & 1) === 1;
    endValue(offset + 1, spans);
  }

  /** The level on which entries stand. */
  const ground = () => (isArray ? 1 : 0);

  function endValue(end: number, spans: EntrySpan[]): void {
    state = depth === 0 ? State.end : State.afterValue;
    if (start < 0 || depth !== ground()) return;
    if (count < maxEntries) spans.push({ start, end, size: end - start - uncounted, depth: deepest - depth, isObject });
    count += 1;
    start = -1;
  }

  /** A byte with which a value begins; false when it is none. */
  function beginValue(byte: number, offset: number): boolean {
    if (state === State.start && byte === 0x5b /* [ */) {
      isArray = true;
      openLevel(false);
      return true;
    }
    if (start < 0) {
      start = offset;
      uncounted = 0;
      deepest = depth;
      isObject = byte === 0x7b /* { */;
    }
    if (byte === 0x22 /* " */) {
      state = State.string;
      isKey = false;
    } else if (byte === 0x7b /* { */) openLevel(true);
    else if (byte === 0x5b /* [ */) openLevel(false);
    else if (byte === 0x2d /* - */ || (byte >= 0x30 && byte <= 0x39)) {
      state = State.number;
      at = byte === 0x2d ? Place.minus : byte === 0x30 ? Place.zero : Place.integer;
    } else {
      const known = WORDS.get(byte);
      if (known === undefined) return false;
      state = State.word;
      word = known;
      at = 1;
    }
    return true;
  }

  /** The first byte of a character beyond ASCII; false when no character begins with it. */
  function beginCharacter(byte: number): boolean {
    if (byte < 0xc2 || byte > 0xf4) return false;
    state = State.continuation;
    continuations = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    lowest = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80;
    highest = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf;
    return true;
  }

  /** Takes one byte outside of plain text in strings; false when it does not fit. */
  function step(byte: number, offset: number, spans: EntrySpan[]): boolean {
    if (state === State.number) {
      const next = numberStep(byte, at);
      if (next !== NOWHERE) {
        at = next;
        return true;
      }
      if (!MAY_END[at]) return false;
      endValue(offset, spans);
    }
    const blank = byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
    switch (state) {
      case State.start:
        if (byte === BYTE_ORDER_MARK[0] && offset === 0) {
          state = State.byteOrderMark;
          at = 1;
          return true;
        }
        return blank || beginValue(byte, offset);
      case State.byteOrderMark:
        if (byte !== BYTE_ORDER_MARK[at]) return false;
        at += 1;
        if (at === BYTE_ORDER_MARK.length) state = State.start;
        return true;
      case State.word:
        if (byte !== word[at]) return false;
        at += 1;
        if (at === word.length) endValue(offset + 1, spans);
        return true;
      case State.continuation:
        if (byte < lowest || byte > highest) return false;
        lowest = 0x80;
        highest = 0xbf;
        continuations -= 1;
        if (continuations === 0) state = State.string;
        return true;
      case State.escape:
        at = 0;
        codeUnit = 0;
        state = byte === 0x75 /* u */ ? State.hex : State.string;
        return state === State.hex || SIMPLE_ESCAPES.has(byte);
      case State.hex: {
        const digit = hexDigit(byte);
        if (digit < 0) return false;
        codeUnit = codeUnit * 16 + digit;
        at += 1;
        if (at === 4) {
          uncounted += 6 - bytesOfUnit(codeUnit);
          state = State.string;
        }
        return true;
      }
    }
    if (blank) {
      uncounted += 1;
      return true;
    }
    switch (state) {
      case State.firstValue:
        if (byte === 0x5d /* ] */) {
          closeLevel(offset, spans);
          return true;
        }
        return beginValue(byte, offset);
      case State.value:
        return beginValue(byte, offset);
      case State.afterValue:
        if (byte === 0x2c /* , */) state = inObject ? State.key : State.value;
        else if (byte === (inObject ? 0x7d /* } */ : 0x5d) /* ] */) closeLevel(offset, spans);
        else return false;
        return true;
      case State.firstKey:
      case State.key:
        if (byte === 0x22 /* " */) {
          isKey = true;
          state = State.string;
          return true;
        }
        if (byte !== 0x7d /* } */ || state === State.key) return false;
        closeLevel(offset, spans);
        return true;
      case State.colon:
        state = State.value;
        return byte === 0x3a /* : */;
      default:
        return false;
    }
  }

  return {
    push(piece) {
      const spans: EntrySpan[] = [];
      for (let i = 0; fault === undefined && i < piece.length; i += 1) {
        let byte = piece[i]!;
        if (state === State.string) {
          while (byte !== 0x22 /* " */ && byte !== 0x5c /* \ */ && byte >= 0x20 && byte < 0x80) {
            i += 1;
            if (i === piece.length) break;
            byte = piece[i]!;
          }
          if (i === piece.length) break;
          if (byte === 0x5c) state = State.escape;
          else if (byte >= 0x80) {
            if (!beginCharacter(byte)) fault = NOT_UTF8;
          } else if (byte < 0x20) fault = unexpected(byte, before + i);
          else if (isKey) state = State.colon;
          else endValue(before + i + 1, spans);
        } else if (!step(byte, before + i, spans)) {
          fault = state === State.continuation ? NOT_UTF8 : unexpected(byte, before + i);
        }
      }
      before += piece.length;
      return spans;
    },
    end() {
      const spans: EntrySpan[] = [];
      if (state === State.number && depth === 0 && MAY_END[at]) endValue(before, spans);
      if (state !== State.end) fault ??= state === State.continuation ? NOT_UTF8 : TOO_SHORT;
      return spans;
    },
    get fault() {
      return fault;
    },
    get isArray() {
      return isArray;
    },
    get count() {
      return count;
    },
    get open() {
      return start < 0 ? undefined : { start, size: before - start - uncounted };
    },
  };
}

/** Where a byte leads from a place in a number. */
function numberStep(byte: number, place: number): number {
  if (byte === 0x30 && place === Place.minus) return Place.zero;
  if (byte >= 0x30 && byte <= 0x39) return AFTER_DIGIT[place]!;
  if (byte === 0x2e /* . */) return AFTER_POINT[place]!;
  if (byte === 0x65 /* e */ || byte === 0x45 /* E */) return AFTER_E[place]!;
  return byte === 0x2b /* + */ || byte === 0x2d /* - */ ? AFTER_SIGN[place]! : NOWHERE;
}

/** The value of a hexadecimal digit, or -1. */
function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** Bytes of a UTF-16 code unit in JSON; half of a pair is half of its character, a control character stays escaped. */
function bytesOfUnit(unit: number): number {
  if (unit < 0x80) return unit < 0x20 ? 6 : 1;
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
}

function unexpected(byte: number, offset: number): string {
  const shown = byte > 0x20 && byte < 0x7f ? `character ${String.fromCharCode(byte)}` : `byte 0x${byte.toString(16).padStart(2, '0')}`;
  return `must be valid JSON: unexpected ${shown} at byte ${offset}`;
}
