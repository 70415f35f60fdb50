/** Strict standard Base64: with padding, unused bits zero, no white space. */
import type { ByteString } from '../../bytes.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const DIGITS = new Int8Array(256).fill(-1);
for (const [value, digit] of [...ALPHABET].entries()) DIGITS[digit.charCodeAt(0)] = value;

/** Returns empty if invalid. */
export function decodeBase64(text: ByteString): ByteString {
  if (text.length % 4 !== 0) return '';
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const digits = text.length - padding;
  const parts: string[] = [];
  let bytes = '';
  let bits = 0;
  for (let i = 0; i < digits; i++) {
    const digit = DIGITS[text.charCodeAt(i)];
    if (digit === -1) return '';
    bits = (bits << 6) | digit;
    if (i % 4 !== 3) continue;
    bytes += String.fromCharCode(bits >> 16, (bits >> 8) & 0xff, bits & 0xff);
    bits = 0;
    if (bytes.length > 4096) {
      parts.push(bytes);
      bytes = '';
    }
  }
  if (padding === 1) {
    if ((bits & 3) !== 0) return '';
    bytes += String.fromCharCode(bits >> 10, (bits >> 2) & 0xff);
  } else if (padding === 2) {
    if ((bits & 15) !== 0) return '';
    bytes += String.fromCharCode(bits >> 4);
  }
  return parts.length === 0 ? bytes : parts.join('') + bytes;
}
