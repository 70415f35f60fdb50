/** Lines of the common and the combined log format, as nginx and Apache write them. */
import type { ByteString } from '@weir/expression/bytes.ts';
import { addHeader, type Exchange, type Headers } from './exchange.ts';
import { logTime } from './time.ts';

// Unrolled, so that long texts need no stack.
const QUOTED = '"([^"\\\\]*(?:\\\\.[^"\\\\]*)*)"';
const LINE = new RegExp(`^(\\S+) \\S+ (?:\\S+|[^"[]+) \\[([^\\]]*)\\] ${QUOTED} ([0-9]{3}|-) (?:[0-9]+|-)(?: ${QUOTED} ${QUOTED})?`, 's');
const REQUEST = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (.*?)(?: (HTTP\/[0-9.]+))?$/s;
const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|(.))/gs;
const LETTERS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', v: '\v', f: '\f' };

/** Reads one line; null when it is none, or has no request in it. */
export function readCombined(line: ByteString): Exchange | null {
  const found = LINE.exec(line);
  if (found === null) return null;
  const [, client, time, requestLine, status, referer, agent] = found;
  const request = readRequestLine(unescapeBytes(requestLine));
  if (request === null) return null;
  const headers: Headers = new Map();
  if (present(referer)) addHeader(headers, 'referer', unescapeBytes(referer));
  if (present(agent)) addHeader(headers, 'user-agent', unescapeBytes(agent));
  return {
    time: logTime(time),
    client,
    ...request,
    status: status === '-' ? undefined : Number(status),
    headers,
    allHeaders: false,
    named: referer === undefined ? [] : ['referer', 'user-agent'],
  };
}

/** Reads `GET /path HTTP/1.1`. */
export function readRequestLine(text: ByteString): Pick<Exchange, 'method' | 'target' | 'protocol'> | null {
  const found = REQUEST.exec(text);
  return found === null || found[2] === '' ? null : { method: found[1], target: found[2], protocol: found[3] };
}

const present = (text: string | undefined): text is string => text !== undefined && text !== '-' && text !== '';

/** Bytes as `\xHH`, and what else Apache writes with a backslash. */
function unescapeBytes(text: ByteString): ByteString {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPE, (_, hex: string | undefined, letter: string) =>
    hex === undefined ? (LETTERS[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
