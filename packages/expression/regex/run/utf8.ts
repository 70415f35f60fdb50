/** Ranges of characters as sequences of ranges of bytes. */
import { encodeCodePoint } from '../../bytes.ts';

/** One range per byte of the sequence. */
export type ByteRanges = readonly (readonly [first: number, last: number])[];

/** The last character of one, two and three bytes. */
const ENDS = [0x7f, 0x7ff, 0xffff];

/** UTF-8 forms of `first` to `last`, without surrogates. */
export function* utf8Ranges(first: number, last: number): Generator<ByteRanges> {
  if (first > last) return;
  if (first < 0xe000 && last > 0xd7ff) {
    yield* utf8Ranges(first, 0xd7ff);
    yield* utf8Ranges(0xe000, last);
    return;
  }
  const end = ENDS.find((each) => first <= each && last > each);
  if (end !== undefined) {
    yield* utf8Ranges(first, end);
    yield* utf8Ranges(end + 1, last);
    return;
  }
  // Splits into parts with lower bits from all 0 to all 1.
  for (let bits = 6; last > 0x7f && bits < 24; bits += 6) {
    const low = 2 ** bits - 1;
    if ((first & ~low) === (last & ~low)) break;
    if ((first & low) !== 0) {
      yield* utf8Ranges(first, first | low);
      yield* utf8Ranges((first | low) + 1, last);
      return;
    }
    if ((last & low) !== low) {
      yield* utf8Ranges(first, (last & ~low) - 1);
      yield* utf8Ranges(last & ~low, last);
      return;
    }
  }
  const [from, to] = [encodeCodePoint(first), encodeCodePoint(last)];
  yield Array.from(from, (byte, i) => [byte.charCodeAt(0), to.charCodeAt(i)] as const);
}
