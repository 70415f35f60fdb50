/** Matches the complete value, with `*` for any bytes, in linear time. */
import type { ByteString } from '../bytes.ts';
import { lowerCase } from './ascii.ts';
import { compileSearch } from './search.ts';

/** `pattern` must be valid. */
export function compileWildcard(pattern: ByteString, strict: boolean): (value: ByteString) => boolean {
  const literals = splitPattern(strict ? pattern : lowerCase(pattern));
  const match = compileLiterals(literals);
  return strict ? match : (value) => match(lowerCase(value));
}

/** Texts between the stars, without escapes. */
function splitPattern(pattern: ByteString): ByteString[] {
  const literals = [''];
  for (let i = 0; i < pattern.length; i++) {
    if (pattern[i] === '*') literals.push('');
    else literals[literals.length - 1] += pattern[i] === '\\' ? pattern[++i] : pattern[i];
  }
  return literals;
}

function compileLiterals(literals: readonly ByteString[]): (value: ByteString) => boolean {
  if (literals.length === 1) {
    const [only] = literals;
    return (value) => value === only;
  }
  const first = literals[0];
  const last = literals[literals.length - 1];
  const middle = literals
    .slice(1, -1)
    .filter((literal) => literal !== '')
    .map((literal) => ({ find: compileSearch(literal), length: literal.length }));
  return (value) => {
    if (!value.startsWith(first) || !value.endsWith(last)) return false;
    let at = first.length;
    for (const { find, length } of middle) {
      const found = find(value, at);
      if (found === -1) return false;
      at = found + length;
    }
    return at + last.length <= value.length;
  };
}
