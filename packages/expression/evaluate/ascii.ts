/** Lower and upper case of ASCII letters only. */
import type { ByteString } from '../bytes.ts';

const ASCII = /^[\0-\x7f]*$/;
const UPPER = /[A-Z]+/g;
const LOWER = /[a-z]+/g;

export function lowerCase(value: ByteString): ByteString {
  return ASCII.test(value) ? value.toLowerCase() : value.replace(UPPER, (letters) => letters.toLowerCase());
}

export function upperCase(value: ByteString): ByteString {
  return ASCII.test(value) ? value.toUpperCase() : value.replace(LOWER, (letters) => letters.toUpperCase());
}
