/** Common and combined log format of nginx and Apache. */
import type { ByteString } from '@weir/expression/bytes.ts';
import { addHeader, type Exchange, type Headers } from './exchange.ts';
import { logTime } from './time.ts';

// Unrolled: long texts need no stack.
const QUOTED = '"([^"\\\\]*(?:\\\\.[^"\\\\]*)*)"';
const LINE = new RegExp(`^(\\S+) \\S+ (?:\\S+|[^"[]+) \\[([^\\]]*)\\] ${QUOTED} ([0-9]{3}|-) (?:[0-9]+|-)(?: ${QUOTED} ${QUOTED})?`, 's');
const REQUEST = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (.*?)(?: (HTTP\/[0-9.]+))?$/s;
const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|(.))/gs;
const LETTERS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', v: '\v', f: '\f' };

/** Returns null if the line has another format or no request. */
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

/** Decodes `\xHH` and Apache's other backslash escapes. */
function unescapeBytes(text: ByteString): ByteString {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPE, (_, hex: string | undefined, letter: string) =>
    hex === undefined ? (LETTERS[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
