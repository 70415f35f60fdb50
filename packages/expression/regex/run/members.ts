/** Expands a set to its members. */
import type { SetTree } from '../tree.ts';
import { type CodeSet, codeSet, complement, intersection, union } from './code-set.ts';
import { foldAscii, foldUnicode } from './fold.ts';
import { propertySet, runsOf } from './property.ts';

/** A property unknown to the platform. */
export class UnknownProperty extends Error {}

const MOST_BYTE = 0xff;
const MOST_CODE = 0x10ffff;

const code = (text: string): CodeSet =>
  codeSet(Array.from({ length: text.length / 2 }, (_, i) => [text.charCodeAt(2 * i), text.charCodeAt(2 * i + 1)]));
const ASCII: Readonly<Record<string, CodeSet>> = {
  alnum: code('09AZaz'),
  alpha: code('AZaz'),
  ascii: [0, 0x7f],
  blank: code('\t\t  '),
  cntrl: [0, 0x1f, 0x7f, 0x7f],
  digit: code('09'),
  graph: code('!~'),
  lower: code('az'),
  print: code(' ~'),
  punct: code('!/:@[`{~'),
  space: code('\t\r  '),
  upper: code('AZ'),
  word: code('09AZ__az'),
  xdigit: code('09AFaf'),
};
const PERL = {
  d: { bytes: ASCII.digit, characters: /\p{Nd}+/gu },
  s: { bytes: ASCII.space, characters: /\p{White_Space}+/gu },
  w: { bytes: ASCII.word, characters: /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]+/gu },
} as const;

/** Bytes of a set, or characters with `unicode`. Throws `UnknownProperty`. */
export function membersOf(set: SetTree, unicode: boolean): CodeSet {
  const most = unicode ? MOST_CODE : MOST_BYTE;
  const fold = unicode ? foldUnicode : foldAscii;
  const negate = (members: CodeSet, negated: boolean) => (negated ? complement(members, most) : members);
  const folded = (members: CodeSet, wanted: boolean) => (wanted ? fold(members) : members);
  const read = (part: SetTree): CodeSet => {
    switch (part.kind) {
      case 'range':
        return [part.first, part.last];
      case 'perl':
        return negate(unicode ? runsOf(PERL[part.name].characters) : PERL[part.name].bytes, part.negated);
      case 'ascii':
        return negate(folded(ASCII[part.name], part.fold), part.negated);
      case 'property': {
        const found = propertySet(part.name);
        if (found === undefined) throw new UnknownProperty(part.name);
        return negate(folded(found.set, part.fold), part.negated !== found.negated);
      }
      case 'union':
        return union(...part.items.map(read));
      case 'operation':
        return operate(part.op, folded(read(part.left), part.fold), folded(read(part.right), part.fold), most);
      case 'class':
        return negate(folded(read(part.of), part.fold), part.negated);
    }
  };
  return read(set);
}

function operate(op: '&&' | '--' | '~~', left: CodeSet, right: CodeSet, most: number): CodeSet {
  if (op === '&&') return intersection(left, right);
  const without = (a: CodeSet, b: CodeSet) => intersection(a, complement(b, most));
  return op === '--' ? without(left, right) : union(without(left, right), without(right, left));
}
