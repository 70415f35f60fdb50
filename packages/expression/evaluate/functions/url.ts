/** `url_decode`. Its number parser takes a plus sign for a digit in front, as the engine's does. */
import { type ByteString, encodeCodePoint } from '../../bytes.ts';

/** With the option `r` it decodes again while that changes something, at most so often. */
const MOST_ROUNDS = 10;

// No two alternatives can begin alike, so matching is linear.
const PLAIN = /\+|%([0-9a-fA-F+][0-9a-fA-F])/g;
const UNICODE = /\+|%([0-9a-fA-F+][0-9a-fA-F])|%[uU]([0-9a-fA-F+][0-9a-fA-F]{3})/g;
const ENCODED = /[+%]/;

/** Options are letters: `u` for `%uXXXX`, `r` to repeat; others mean nothing. */
export function compileUrlDecode(options: ByteString): (value: ByteString) => ByteString {
  const expression = options.includes('u') ? UNICODE : PLAIN;
  const decode = (value: ByteString) => (ENCODED.test(value) ? value.replace(expression, decodeOne) : value);
  if (!options.includes('r')) return decode;
  return (value) => {
    let decoded = value;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const before = decoded;
      decoded = decode(before);
      if (decoded === before) break;
    }
    return decoded;
  };
}

function decodeOne(text: string, pair: string | undefined, four: string | number | undefined): ByteString {
  if (text === '+') return ' ';
  if (pair !== undefined) return String.fromCharCode(Number.parseInt(pair, 16));
  const code = Number.parseInt(four as string, 16);
  return code >= 0xd800 && code < 0xe000 ? text : encodeCodePoint(code);
}
