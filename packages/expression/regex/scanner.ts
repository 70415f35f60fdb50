import { isWhiteSpace } from '../white-space.ts';

/** Positions are UTF-16 code units. */
export interface Scanner {
  readonly text: string;
  pos: number;
  /** Characters read: the measure of the work. */
  steps: number;
  fault: string | null;
  /** The flag x: white space and comments are ignored. */
  verbose: boolean;
  /** The flag u: Unicode characters, not bytes. */
  unicode: boolean;
  /** The flag i: letters match in both cases. */
  fold: boolean;
  /** The flags m, s and R: `^` and `$` match at lines, `.` matches line ends, and CR and CRLF are line ends too. */
  multiLine: boolean;
  dotAll: boolean;
  crlf: boolean;
  /** Group names so far. */
  readonly names: Set<string>;
}

/** Flags; they end with their group. */
export type Flags = Pick<Scanner, 'verbose' | 'unicode' | 'fold' | 'multiLine' | 'dotAll' | 'crlf'>;

export function flagsOf({ verbose, unicode, fold, multiLine, dotAll, crlf }: Scanner): Flags {
  return { verbose, unicode, fold, multiLine, dotAll, crlf };
}

/** Notes the fault and its character in the pattern, from 1. */
export function refuse(s: Scanner, at: number, text: string): null {
  s.fault = `${text}, at character ${Array.from(s.text.slice(0, at)).length + 1} of the regular expression`;
  return null;
}

export function atEnd(s: Scanner): boolean {
  return s.pos >= s.text.length;
}

/** The next code point; NaN at the end. */
export function peek(s: Scanner): number {
  return codePoint(s.text, s.pos);
}

function codePoint(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit < 0xdc00 ? text.codePointAt(at)! : unit;
}

/** Moves past a code point; whether another one follows. */
export function bump(s: Scanner): boolean {
  if (atEnd(s)) return false;
  s.steps++;
  s.pos += peek(s) > 0xffff ? 2 : 1;
  return s.pos < s.text.length;
}

/** As `bump`; also skips ignored characters in verbose mode. */
export function bumpSpace(s: Scanner): boolean {
  if (!bump(s)) return false;
  skipIgnored(s);
  return !atEnd(s);
}

/** Skips white space and comments in verbose mode. */
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

/** Whether `text` is here; moves past it. */
export function takeText(s: Scanner, text: string): boolean {
  s.steps++;
  if (!s.text.startsWith(text, s.pos)) return false;
  s.pos += text.length;
  return true;
}

/** The code unit after the current one. */
export function peekNext(s: Scanner): number {
  return s.text.charCodeAt(s.pos + 1);
}

/** As `peekNext`, but in verbose mode it skips white space and one `#`, as the engine does. */
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
