import { type ByteString, encodeText } from './bytes.ts';

const ESCAPE = /\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|[^u])/g;

/**
 * Parses a line of JSON with byte characters: its texts are bytes too, valid UTF-8 or not. Null unless it is an object. Escapes become
 * UTF-8 bytes; a lone surrogate becomes U+FFFD.
 */
export function parseLine(line: ByteString): Record<string, unknown> | null {
  const bytes = line.includes('\\u') ? line.replace(ESCAPE, escapeToBytes) : line;
  try {
    const json: unknown = JSON.parse(bytes);
    return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function escapeToBytes(written: string, high: string | undefined, low: string | undefined, single: string | undefined): string {
  if (high !== undefined) return encodeText(String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low!, 16)));
  if (single === undefined) return written;
  const code = Number.parseInt(single, 16);
  if (code < 0x80) return written;
  return encodeText(code >= 0xd800 && code < 0xe000 ? '\ufffd' : String.fromCharCode(code));
}
