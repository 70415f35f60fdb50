/** The syntax tree of a regular expression, at most `MAX_HEIGHT` levels deep. */

export type Tree =
  | { readonly kind: 'empty' }
  | { readonly kind: 'byte'; readonly byte: number }
  /** One byte of the set, or with `unicode` one character in UTF-8. */
  | { readonly kind: 'set'; readonly set: SetTree; readonly unicode: boolean }
  | { readonly kind: 'assertion'; readonly assertion: Assertion }
  | { readonly kind: 'sequence'; readonly items: readonly Tree[] }
  | { readonly kind: 'alternation'; readonly items: readonly Tree[] }
  /** `max` can be Infinity. Greediness is irrelevant. */
  | { readonly kind: 'repeat'; readonly item: Tree; readonly min: number; readonly max: number };

/** A condition between two bytes, or at an end. Lines end at LF; with `crlf` also at CR and CRLF. */
export type Assertion =
  | 'start'
  | 'end'
  | 'line start'
  | 'line end'
  | 'crlf start'
  | 'crlf end'
  | WordAssertion
  | `unicode ${WordAssertion}`;
export type WordAssertion = 'word boundary' | 'not word boundary' | 'word start' | 'word end' | 'word start half' | 'word end half';

/** A set of bytes or characters in source form. `fold` includes the other case of letters, before negation. */
export type SetTree =
  | { readonly kind: 'range'; readonly first: number; readonly last: number }
  | { readonly kind: 'perl'; readonly name: 'd' | 's' | 'w'; readonly negated: boolean }
  | { readonly kind: 'ascii'; readonly name: string; readonly negated: boolean; readonly fold: boolean }
  | { readonly kind: 'property'; readonly name: string; readonly negated: boolean; readonly fold: boolean }
  | { readonly kind: 'union'; readonly items: readonly SetTree[] }
  | { readonly kind: 'operation'; readonly op: SetOperator; readonly left: SetTree; readonly right: SetTree; readonly fold: boolean }
  | { readonly kind: 'class'; readonly of: SetTree; readonly negated: boolean; readonly fold: boolean };
export type SetOperator = '&&' | '--' | '~~';

export const EMPTY_TREE: Tree = { kind: 'empty' };

/** A sequence of bytes. */
export function bytesTree(bytes: string): Tree {
  const items = Array.from(bytes, (byte): Tree => ({ kind: 'byte', byte: byte.charCodeAt(0) }));
  return items.length === 1 ? items[0] : { kind: 'sequence', items };
}

export const range = (first: number, last = first): SetTree => ({ kind: 'range', first, last });
