/** One character, with a code from 0 to 255, for each byte. ASCII text is its own byte string. */
export type ByteString = string;

/** UTF-8. */
export function encodeCodePoint(code: number): ByteString {
  if (code < 0x80) return String.fromCharCode(code);
  if (code < 0x800) return String.fromCharCode(0xc0 | (code >> 6), 0x80 | (code & 0x3f));
  if (code < 0x10000) return String.fromCharCode(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
  return String.fromCharCode(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 0x3f), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
}

/** UTF-8. */
export function encodeText(text: string): ByteString {
  if (isAscii(text)) return text;
  let bytes = '';
  for (const character of text) bytes += encodeCodePoint(character.codePointAt(0)!);
  return bytes;
}

/** In UTF-8. */
export function byteLength(text: string, from: number, to: number): number {
  let length = to - from;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) continue;
    // A surrogate pair is two characters of a string and four bytes of UTF-8.
    length += code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 1 : 2;
  }
  return length;
}

/** Null if the bytes are not valid UTF-8. */
export function decodeText(bytes: ByteString): string | null {
  if (isAscii(bytes)) return bytes;
  let text = '';
  for (let i = 0; i < bytes.length; ) {
    const lead = bytes.charCodeAt(i);
    const size = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (size === 0 || i + size > bytes.length) return null;
    let code = size === 1 ? lead : lead & (0xff >> (size + 1));
    for (let k = 1; k < size; k++) {
      const next = bytes.charCodeAt(i + k);
      if ((next & 0xc0) !== 0x80) return null;
      code = (code << 6) | (next & 0x3f);
    }
    const overlong = (size === 3 && code < 0x800) || (size === 4 && code < 0x10000);
    if (overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return null;
    text += String.fromCodePoint(code);
    i += size;
  }
  return text;
}

export function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}
