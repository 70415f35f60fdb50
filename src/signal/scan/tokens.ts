/** States and transitions of the JSON scanner (RFC 8259). */

export const State = {
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

/** The state within a number: after the minus, a leading zero, digits, the point etc. */
export const Place = { minus: 0, zero: 1, integer: 2, point: 3, fraction: 4, e: 5, sign: 6, exponent: 7 } as const;
export const NOWHERE = -1;
const AFTER_DIGIT = [2, NOWHERE, 2, 4, 4, 7, 7, 7];
const AFTER_POINT = [NOWHERE, 3, 3, NOWHERE, NOWHERE, NOWHERE, NOWHERE, NOWHERE];
const AFTER_E = [NOWHERE, 5, 5, NOWHERE, 5, NOWHERE, NOWHERE, NOWHERE];
const AFTER_SIGN = [NOWHERE, NOWHERE, NOWHERE, NOWHERE, NOWHERE, 6, NOWHERE, NOWHERE];
export const MAY_END = [false, true, true, false, true, false, false, true];

export const bytesOf = (text: string): readonly number[] => [...text].map((character) => character.charCodeAt(0));
export const WORDS = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), bytesOf(word)]));
export const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
export const SIMPLE_ESCAPES = new Set(bytesOf('"\\/bfnrt'));

export const NOT_UTF8 = 'must be JSON in UTF-8';
export const TOO_SHORT = 'must be valid JSON: it ends too early';

export function numberStep(byte: number, place: number): number {
  if (byte === 0x30 && place === Place.minus) return Place.zero;
  if (byte >= 0x30 && byte <= 0x39) return AFTER_DIGIT[place]!;
  if (byte === 0x2e /* . */) return AFTER_POINT[place]!;
  if (byte === 0x65 /* e */ || byte === 0x45 /* E */) return AFTER_E[place]!;
  return byte === 0x2b /* + */ || byte === 0x2d /* - */ ? AFTER_SIGN[place]! : NOWHERE;
}

/** -1: invalid. */
export function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** JSON bytes of a UTF-16 code unit: half a surrogate pair counts half its character; control characters stay escaped. */
export function bytesOfUnit(unit: number): number {
  if (unit < 0x80) return unit < 0x20 ? 6 : 1;
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
}

export function unexpected(byte: number, offset: number): string {
  const found = byte > 0x20 && byte < 0x7f ? `character ${String.fromCharCode(byte)}` : `byte 0x${byte.toString(16).padStart(2, '0')}`;
  return `must be valid JSON: unexpected ${found} at byte ${offset}`;
}
