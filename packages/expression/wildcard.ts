/** Wildcard patterns: `*` matches any bytes; `\*` and `\\` are a literal star and backslash. */
import type { ByteString } from './bytes.ts';

/** Null if valid. */
export function checkWildcard(pattern: ByteString): string | null {
  let star = false;
  for (let i = 0; i < pattern.length; i++) {
    const symbol = pattern[i];
    if (symbol === '\\') {
      i++;
      if (i === pattern.length) return 'the wildcard ends inside an escape: a backslash is written \\\\';
      if (pattern[i] !== '*' && pattern[i] !== '\\') return 'a backslash in a wildcard is allowed only before * or \\';
    } else if (symbol === '*' && star) {
      return 'a wildcard cannot hold two stars in a row';
    }
    star = symbol === '*';
  }
  return null;
}
