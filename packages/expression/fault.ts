/** Positions as in the enforcement engine: lines and bytes, from 1. */
import { byteLength } from './bytes.ts';

export interface ParseError {
  readonly line: number;
  /** In bytes of UTF-8, from 1. */
  readonly column: number;
  /** On that line, at least 1. */
  readonly length: number;
  /** One line, without the position. */
  readonly text: string;
}

/** On the characters `[start, end)`, cut to its first line. */
export function locate(text: string, start: number, end: number, message: string): ParseError {
  let line = 1;
  let lineStart = 0;
  for (let i = text.indexOf('\n'); i !== -1 && i < start; i = text.indexOf('\n', i + 1)) {
    line++;
    lineStart = i + 1;
  }
  const lineEnd = endOfLine(text, start);
  return {
    line,
    column: byteLength(text, lineStart, start) + 1,
    length: Math.max(1, byteLength(text, start, Math.min(end, lineEnd))),
    text: message,
  };
}

/** `(line:column) text`. */
export function faultLine(e: ParseError): string {
  return `(${e.line}:${e.column}) ${e.text}`;
}

const WINDOW = 100;

/** With carets under the span, both indented; a long line is cut around it. */
export function faultExcerpt(text: string, e: ParseError): string {
  let lineStart = 0;
  for (let line = 1; line < e.line; line++) lineStart = text.indexOf('\n', lineStart) + 1;
  const source = text.slice(lineStart, endOfLine(text, lineStart));
  const at = characterAt(source, e.column - 1);
  const end = Math.max(at + 1, characterAt(source, e.column - 1 + e.length));
  const from = Math.max(0, Math.min(at - WINDOW / 2, source.length - WINDOW));
  const excerpt = source.slice(from, from + WINDOW);
  const before = from > 0 ? '…' : '';
  const after = from + WINDOW < source.length ? '…' : '';
  const indent = ' '.repeat(before.length + width(source, from, at));
  const carets = '^'.repeat(Math.max(1, width(source, at, Math.min(end, from + WINDOW))));
  return `  ${before}${excerpt.replace(/[\p{Cc}\p{Cf}]/gu, ' ')}${after}\n  ${indent}${carets}`;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

function characterAt(line: string, bytes: number): number {
  let i = 0;
  for (let passed = 0; i < line.length && passed < bytes; i++) passed += byteLength(line, i, i + 1);
  return i;
}

/** Code points. */
function width(text: string, from: number, to: number): number {
  return Array.from(text.slice(from, Math.max(from, to))).length;
}
