/** Tests for every operator with its right side. None can fail (D19.6). */
import type { Item, OrderingOperator, Range, Test } from '../ast.ts';
import type { ByteString } from '../bytes.ts';
import { compileMatcher } from '../regex/matcher.ts';
import { INT, IP, type Type } from '../types.ts';
import { compileSearch } from './search.ts';
import { CannotRun, type Int, toInt, type Value } from './value.ts';
import { compileWildcard } from './wildcard.ts';

/** The value is present. */
export type ValueTest = (value: Value) => boolean;

export function compileTest(test: Test, type: Type): ValueTest {
  switch (test.op) {
    case 'is true':
      return (value) => value === true;
    case 'in':
      return compileIn(test.right, type);
    case 'bitwise_and':
      return compileBits(test.right) as ValueTest;
    case 'contains': {
      const find = compileSearch(test.right);
      return (value) => find(value as ByteString, 0) !== -1;
    }
    case 'matches':
      return compileRegex(test.right);
    case 'wildcard':
    case 'strict wildcard':
      return compileWildcard(test.right, test.op === 'strict wildcard') as ValueTest;
    default: {
      const { value } = test.right;
      return compileOrder(test.op, typeof value === 'bigint' ? toInt(value) : value, type);
    }
  }
}

function compileRegex(pattern: string): ValueTest {
  const matcher = compileMatcher(pattern);
  if (typeof matcher === 'string') throw new CannotRun(matcher);
  return matcher as ValueTest;
}

/** Addresses of two families have no order. */
function compileOrder(op: OrderingOperator, right: Int | ByteString, type: Type): ValueTest {
  const ordered = ORDERS[op](right);
  if (type !== IP || op === 'eq' || op === 'ne') return ordered;
  const { length } = right as ByteString;
  return (value) => (value as ByteString).length === length && ordered(value);
}

// Byte strings compare as bytes; a number and a bigint compare exactly.
const ORDERS: Readonly<Record<OrderingOperator, (right: Int | ByteString) => ValueTest>> = {
  eq: (right) => (value) => value === right,
  ne: (right) => (value) => value !== right,
  lt: (right) => (value) => (value as Int) < (right as Int),
  le: (right) => (value) => (value as Int) <= (right as Int),
  gt: (right) => (value) => (value as Int) > (right as Int),
  ge: (right) => (value) => (value as Int) >= (right as Int),
};

function compileBits(right: bigint): (value: Int) => boolean {
  // JavaScript's operator has 32 bits.
  const small = BigInt.asIntN(32, right) === right ? Number(right) : null;
  return (value) => {
    if (small !== null && typeof value === 'number' && value === (value | 0)) return (value & small) !== 0;
    return (BigInt(value) & right) !== 0n;
  };
}

function compileIn(items: readonly Item[], type: Type): ValueTest {
  if (type === INT) return compileRanges(intRanges(items as readonly Range<bigint>[])) as ValueTest;
  if (type !== IP) {
    const set = new Set(items as readonly ByteString[]);
    return (value) => set.has(value as ByteString);
  }
  const ranges = items as readonly Range<ByteString>[];
  const v4 = compileRanges(ranges.filter(({ first }) => first.length === 4));
  const v6 = compileRanges(ranges.filter(({ first }) => first.length === 16));
  return (value) => ((value as ByteString).length === 4 ? v4 : v6)(value as ByteString);
}

function intRanges(items: readonly Range<bigint>[]): Range<Int>[] {
  return items.map(({ first, last }) => ({ first: toInt(first), last: toInt(last) }));
}

/** The ranges may overlap and have any order. */
function compileRanges<T extends Int | ByteString>(items: readonly Range<T>[]): (value: T) => boolean {
  const merged: { first: T; last: T }[] = [];
  for (const { first, last } of [...items].sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))) {
    const before = merged.at(-1);
    if (before === undefined || first > before.last) merged.push({ first, last });
    else if (last > before.last) before.last = last;
  }
  return (value) => {
    let low = 0;
    for (let high = merged.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (merged[middle].last < value) low = middle + 1;
      else high = middle;
    }
    return low < merged.length && merged[low].first <= value;
  };
}
