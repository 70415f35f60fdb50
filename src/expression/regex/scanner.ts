/** Where the checker stands in a pattern, and the moves of its parts. Positions are UTF-16 units. */
export interface Scanner {
  readonly text: string;
  pos: number;
  /** Characters looked at. */
  steps: number;
  fault: string | null;
  /** The flags x, u and i as they stand here. */
  verbose: boolean;
  unicode: boolean;
  fold: boolean;
  readonly names: Set<string>;
}

/** Notes what is wrong, and at which character of the pattern (from 1). */
export function refuse(s: Scanner, at: number, text: string): null {
  s.fault = `${text}, at character ${Array.from(s.text.slice(0, at)).length + 1} of the regular expression`;
  return null;
}

export function atEnd(s: Scanner): boolean {
  return s.pos >= s.text.length;
}

/** The code point here; NaN at the end. */
export function peek(s: Scanner): number {
  return codePoint(s.text, s.pos);
}

function codePoint(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit < 0xdc00 ? text.codePointAt(at)! : unit;
}

/** Moves past the code point here; false when that was the last one. */
export function bump(s: Scanner): boolean {
  if (atEnd(s)) return false;
  s.steps++;
  s.pos += peek(s) > 0xffff ? 2 : 1;
  return s.pos < s.text.length;
}

/** The same, then past what verbose mode ignores. */
export function bumpSpace(s: Scanner): boolean {
  if (!bump(s)) return false;
  skipIgnored(s);
  return !atEnd(s);
}

/** In verbose mode: past white space and comments. */
export function skipIgnored(s: Scanner): void {
  if (!s.verbose) return;
  while (!atEnd(s)) {
    const code = peek(s);
    if (isWhiteSpace(code)) bump(s);
    else if (code === 0x23) {
      while (!atEnd(s) && peek(s) !== 0x0a) bump(s);
      bump(s);
    } else break;
  }
}

export function takeText(s: Scanner, text: string): boolean {
  s.steps++;
  if (!s.text.startsWith(text, s.pos)) return false;
  s.pos += text.length;
  return true;
}

/** The code unit behind the one here. */
export function peekNext(s: Scanner): number {
  return s.text.charCodeAt(s.pos + 1);
}

/** The same, but in verbose mode the first that is neither white space nor the `#` of a comment, as the engine looks ahead. */
export function peekNextSpace(s: Scanner): number {
  if (!s.verbose) return peekNext(s);
  let comment = false;
  for (let i = s.pos + 1; i < s.text.length; i++) {
    s.steps++;
    const code = s.text.charCodeAt(i);
    if (isWhiteSpace(code)) continue;
    if (comment || code !== 0x23) return code;
    comment = true;
  }
  return peekNext(s);
}

/** Unicode White_Space, which is what Rust means by white space. */
export function isWhiteSpace(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  return (
    code === 0x85 ||
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}
