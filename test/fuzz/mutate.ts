/** Texts made from texts: characters and words changed, repeated, moved, and two texts crossed. */
import type { Random } from '../support/random.ts';

/** Where most targets change what they do: ends of the numbers, signs of every notation, characters of two, three and four bytes. */
const SIGNS = [...'0123456789abcdefxABF.:/-+*?$^|&!=<>(){}[]"\'\\#,;~ \t\n\r', '\0', '\x7f', 'é', '\u2028', '日', '😀', '\ud800'];
const NUMBERS = ['0', '1', '31', '32', '33', '127', '128', '255', '256', '4294967295', '9223372036854775807', '9223372036854775808', '00'];

const MOST = 4096;

/** A child of `text`: one to eight changes, with the target's own words and another text of the corpus at hand. */
export function mutate(random: Random, text: string, words: readonly string[], other: string): string {
  let made = text;
  for (let changes = 1 << random.below(4); changes > 0; changes--) made = change(random, made, words, other);
  return made.slice(0, MOST);
}

function change(random: Random, text: string, words: readonly string[], other: string): string {
  const at = random.below(text.length + 1);
  const end = Math.min(text.length, at + random.below(1 << random.below(7)));
  const put = (middle: string, until = at) => text.slice(0, at) + middle + text.slice(until);
  switch (random.below(11)) {
    case 0:
      return put('', end);
    case 1:
      return put(random.pick(SIGNS), at + 1);
    case 2:
      return put(random.pick(SIGNS));
    case 3:
      return put(random.pick(words));
    case 4:
      return put(random.pick(words), end);
    case 5:
      return put(text.slice(at, end).repeat(1 << random.below(6)), end);
    case 6: {
      const to = random.below(text.length + 1);
      return put(text.slice(Math.min(at, to), Math.max(at, to)));
    }
    case 7: {
      const numbers = [...text.matchAll(/[0-9]+/g)];
      if (numbers.length === 0) return put(random.pick(NUMBERS));
      const { 0: digits, index } = random.pick(numbers);
      const next = random.below(2) === 0 ? random.pick(NUMBERS) : String(BigInt(digits) + BigInt(random.pick([-1, 1, 8, -8])));
      return text.slice(0, index) + next + text.slice(index + digits.length);
    }
    case 8: {
      const from = random.below(other.length + 1);
      return put(other.slice(from, from + random.below(1 << random.below(8))));
    }
    case 9:
      return put(other.slice(random.below(other.length + 1)), text.length);
    default:
      return put(String.fromCharCode(random.below(random.pick([128, 256, 0x10000]))), at + 1);
  }
}
