/** `url_decode`. Its number parser accepts a leading plus sign as a digit, like the engine's. */
import { type ByteString, encodeCodePoint } from '../../bytes.ts';

/** The option `r` decodes repeatedly until nothing changes, up to this limit. */
const MOST_ROUNDS = 10;

// No two alternatives start alike, so matching is linear.
const PLAIN = /\+|%([0-9a-fA-F+][0-9a-fA-F])/g;
const UNICODE = /\+|%([0-9a-fA-F+][0-9a-fA-F])|%[uU]([0-9a-fA-F+][0-9a-fA-F]{3})/g;
const ENCODED = /[+%]/;

/** Option letters: `u` for `%uXXXX`, `r` to repeat; others are ignored. */
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
