import { BOOL, BOOL_ARRAY, type Type } from './types.ts';

export function mismatch(expected: Type, actual: Type): string {
  if (expected === BOOL && actual === BOOL_ARRAY)
    return 'a comparison under [*] gives an array of truth values: put it into any(…) or all(…)';
  if (expected === BOOL_ARRAY && actual === BOOL) return 'a single truth value cannot be joined with an array of them';
  return `expected ${expected.text}, and this is ${actual.text}`;
}
