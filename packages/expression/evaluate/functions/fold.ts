/** Simple case folding of Unicode. */

const DOTLESS_I = 0x131;

/** A common code point for all case variants. */
export function foldCodePoint(code: number): number {
  if (code < 0x80) return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
  if (code === DOTLESS_I) return code;
  const upper = single(String.fromCodePoint(code).toUpperCase(), code);
  return single(String.fromCodePoint(upper).toLowerCase(), upper);
}

/** The code point of a one-character text. */
function single(text: string, otherwise: number): number {
  const code = text.codePointAt(0)!;
  return text.length === (code > 0xffff ? 2 : 1) ? code : otherwise;
}
